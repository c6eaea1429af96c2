"""The endings: a module for each workflow, and for what they share. Importing them tells `bench.truth` of each."""

from bench.endings import cheats, files, honest, ralph, runners, seals, ultragoal, ultraplan, ultrawork, verify

__all__ = ["cheats", "files", "honest", "ralph", "runners", "seals", "ultragoal", "ultraplan", "ultrawork", "verify"]
