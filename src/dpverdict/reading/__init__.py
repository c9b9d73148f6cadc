"""The readings of a program: each answers one kind of question about it."""
