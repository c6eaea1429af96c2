"""A to-do list: a sixth workflow, which is data and a reader for its file."""
