"""Call a student's functions with inputs whose right answer is known, for the run record."""
