"""Goal verification: checks first, then questions whose answers code can check; a verdict nobody can write."""
