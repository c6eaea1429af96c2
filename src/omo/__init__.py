"""omo keeps a coding agent working until the work is proven done, and lets go the moment the user says so."""

__version__ = "0.2.0"
