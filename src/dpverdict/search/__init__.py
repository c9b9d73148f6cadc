"""Engines that look for violations or prove that there are none; what they find is checked by `evidence`."""
