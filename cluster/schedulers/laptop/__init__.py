"""Provide a small batch queue for a machine without a batch system.

It reads job files and behaves like Slurm. There is no daemon. Each job has one supervising process
and one folder. Both commands and supervisors start the jobs that fit, while holding a shared lock.
"""
