"""From runs to statements that are wrong with at most a stated probability."""
