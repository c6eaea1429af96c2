"""The endings: a module for each workflow, one for what all share. Importing them tells `bench.truth` of each."""

from bench.endings import ralph, seals, ultragoal, ultraplan, ultrawork, verify

__all__ = ["ralph", "seals", "ultragoal", "ultraplan", "ultrawork", "verify"]
