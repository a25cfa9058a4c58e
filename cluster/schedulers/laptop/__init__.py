"""A small batch queue for a machine without one: it reads job files and behaves like Slurm.

Nothing runs when no job runs. Each job has one supervising process and one folder; the commands
and the supervisors start what fits, under one lock.
"""
