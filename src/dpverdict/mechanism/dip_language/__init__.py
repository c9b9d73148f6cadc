"""DiPC's language: `.dip` files, parsed, run over a noise source, and explored into programs."""
