"""`omo doctor`: what could keep omo from working here, looked at one thing at a time. `checks.CHECKS` is the list."""
