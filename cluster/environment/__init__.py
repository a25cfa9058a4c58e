"""Set up the course's Python environment, using only the standard library.

This code runs before .venv exists.
"""
