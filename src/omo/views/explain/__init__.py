"""Which rule decides, what it read, what would change it. Asks what the hooks ask, and writes nothing."""
