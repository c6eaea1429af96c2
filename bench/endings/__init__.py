"""The endings, a module for each workflow and one for what all share; each registers with `bench.truth`."""

from bench.endings import ralph, seals, ultragoal, ultraplan, ultrawork, verify

__all__ = ["ralph", "seals", "ultragoal", "ultraplan", "ultrawork", "verify"]
