"""How work runs: seeds, jobs, executors, the record of finished blocks.  This room knows nothing of privacy."""
