"""Showing results: renders what it is given and computes no result of its own."""
