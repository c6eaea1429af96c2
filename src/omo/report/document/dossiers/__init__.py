"""One module for each kind of work: what stands behind its items, read with that workflow's own readers."""
