"""The endings, one module for each workflow; importing them registers each with `bench.truth`."""

from bench.endings import ralph, ultragoal, ultraplan, ultrawork, verify

__all__ = ["ralph", "ultragoal", "ultraplan", "ultrawork", "verify"]
