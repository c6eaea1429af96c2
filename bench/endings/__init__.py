"""The endings: a module for each workflow, three for what they share. Importing them tells `bench.truth` of each."""

from bench.endings import files, judged, ralph, seals, ultragoal, ultraplan, ultrawork, verify

__all__ = ["files", "judged", "ralph", "seals", "ultragoal", "ultraplan", "ultrawork", "verify"]
