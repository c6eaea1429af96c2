"""Plans as executable contracts: manifests, sessions, preflight, audit, recovery."""
