"""What a notebook and `lessons submit` can say of an answer, before a grader sees it."""
