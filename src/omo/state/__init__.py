"""The only code that opens our state for writing."""
