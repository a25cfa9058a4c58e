"""Feedback on an answer in a notebook and in `lessons submit`, before grading."""
