"""Ultrawork: decisions as pure functions over a session's row. Standard library only: hooks import it."""
