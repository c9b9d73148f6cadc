"""The kernel: what everyone has to trust when a certificate is checked.

It searches for nothing.  It settles again every sign and every bound that a certificate lists, and derives again which
of them there have to be.  Beside these files a check trusts `mechanism/structure.py` and `laws.py`, the tracing that
makes a program of a function, and the probabilities of `reading/exact`, which each check compares with quadrature.
"""
