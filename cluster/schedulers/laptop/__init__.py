"""Provide a small batch queue for a machine without a batch system.

It reads job files and behaves like Slurm. There is no daemon. Each job has one supervising process
and one folder. The commands and the supervisors start the jobs that fit, under one lock.
"""
