"""The endings, one module for each workflow and one for what all of them share; importing them registers each with `bench.truth`."""

from bench.endings import ralph, seals, ultragoal, ultraplan, ultrawork, verify

__all__ = ["ralph", "seals", "ultragoal", "ultraplan", "ultrawork", "verify"]
