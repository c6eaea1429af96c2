"""The jobs: a module for each workflow. Importing them tells `bench.ceremony` of each."""

from bench.jobs import ultragoal, ultraplan

__all__ = ["ultragoal", "ultraplan"]
