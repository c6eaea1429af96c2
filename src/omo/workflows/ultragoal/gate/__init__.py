"""The quality gate: what must be shown before a goal may be called complete."""
