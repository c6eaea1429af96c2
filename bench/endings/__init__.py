"""The endings: a module for each workflow, two for what they share. Importing them tells `bench.truth` of each."""

from bench.endings import cheats, files, honest, ralph, seals, ultragoal, ultraplan, ultrawork, verify

__all__ = ["cheats", "files", "honest", "ralph", "seals", "ultragoal", "ultraplan", "ultrawork", "verify"]
