"""The tables of the papers, computed again: one file for each paper."""
