"""Judging claims by whatever is strongest: an exact decision where there can be one, else search and runs."""
