"""Give feedback on an answer before grading, in a notebook and in `lessons submit`."""
