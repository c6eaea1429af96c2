"""The endings: a module for each workflow, and some for what they share. Importing them tells `bench.truth` of each."""

from bench.endings import (
    bound,
    cheats,
    files,
    honest,
    judged,
    layouts,
    looked_past,
    ralph,
    runners,
    seals,
    started,
    surroundings,
    ultragoal,
    ultraplan,
    ultrawork,
    verify,
)

__all__ = [
    "bound",
    "cheats",
    "files",
    "honest",
    "judged",
    "layouts",
    "looked_past",
    "ralph",
    "runners",
    "seals",
    "started",
    "surroundings",
    "ultragoal",
    "ultraplan",
    "ultrawork",
    "verify",
]
