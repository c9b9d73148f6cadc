"""The exact reading: probabilities as exact functions of ε, and which sign a difference of them has for all ε."""
