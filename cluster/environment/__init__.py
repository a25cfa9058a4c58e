"""Set-up of the course's Python environment. Standard library only: it runs before .venv exists."""
