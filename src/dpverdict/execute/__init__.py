"""How work runs: seeds, sources of noise and, later, executors.  This room knows nothing of privacy."""
