"""Set up the course's environment, with the standard library alone, before .venv exists."""
