"""Which commit is which step's: by its subject, by what it changed, and by its place in the order.

1. In step order, each step takes a commit that has its subject and all its paths: the first after those of the steps
   before it, else any, for a rebase reorders.
2. One commit may serve several steps where it has the paths of each, and a line of its own in the message for each:
   a squash. One line is never enough for two steps, or a step left out would hide behind its neighbour.
3. Then some of the paths will do (the rest may come in a later commit), then the subject alone, then a commit that
   was reverted. The audit says of those what is wrong with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from omo.proof import patterns
from omo.workflows.ultraplan.history import Commit, PathChange, undone
from omo.workflows.ultraplan.models import Manifest, Step

SEARCH_SECONDS = 60.0
MOST_LINES = 500
TOO_SLOW = "its commit_message_pattern takes too long; write it without nested repeats"

# How well a commit with the step's subject carries it out: with all its paths, some of them, none, or undone since.
ALL, SOME, NONE, UNDONE, NO = 4, 3, 2, 1, 0

# Commits about another commit quote its subject, and are nobody's step unless a pattern speaks of them.
_ABOUT_OTHERS = ('Revert "', 'Reapply "', "fixup! ", "squash! ", "amend! ")


@dataclass(frozen=True)
class CommitClaim:
    """`index` is the commit's among all of them; `undone_at` that of the commit which reverted it."""

    commit: Commit
    index: int
    shared_with: tuple[int, ...] = ()
    undone_at: int | None = None


@dataclass(frozen=True)
class Wish:
    """A path the step's commit is to have: left there, or deleted where `is_absent`."""

    glob: str
    is_absent: bool = False

    def is_met_by(self, changes: Sequence[PathChange]) -> bool:
        return any(change.is_deletion == self.is_absent and change.is_about([self.glob]) for change in changes)


def wishes(manifest: Manifest) -> list[Wish]:
    """What the commit must touch. A step without expected or absent paths is held to the files it checks."""
    named = [Wish(path) for path in manifest.expected_paths]
    named += [Wish(path, True) for path in manifest.absent_paths]
    if not named:
        checked = [content.path for content in manifest.must_contain]
        named = [Wish(path) for path in dict.fromkeys([*checked, *manifest.bash_syntax_check])]
    return named


def claim(steps: Sequence[Step], commits: Sequence[Commit]) -> tuple[dict[int, CommitClaim], dict[int, str]]:
    """By step number, for those that expect a commit: its claim, or why its pattern could not be tried."""
    claiming = _Claiming(commits)
    for step in steps:
        if step.manifest.expects_commit:
            claiming.add(step.number, step.manifest)
    for least in (ALL, SOME, NONE, UNDONE):
        for number in claiming.open:
            claiming.take(number, least)
        if least == ALL:
            for index in range(len(commits)):
                claiming.share(index)
    return claiming.result()


class _Claiming:
    """Steps are known by their number, commits by their index."""

    def __init__(self, commits: Sequence[Commit]) -> None:
        self._commits = commits
        self._undone = undone(commits)
        self._budget = patterns.SearchTime(SEARCH_SECONDS)
        self._manifests: dict[int, Manifest] = {}
        self._named: dict[int, list[int]] = {}  # by step: commits with its subject
        self._claimed: dict[int, int] = {}
        self._shared: dict[int, tuple[int, ...]] = {}
        self._unclear: dict[int, str] = {}

    def add(self, number: int, manifest: Manifest) -> None:
        if problem := patterns.defect(manifest.commit_message_pattern):
            self._unclear[number] = f"its commit_message_pattern cannot be used: {problem}"
            return
        self._manifests[number] = manifest
        self._named[number] = []
        for index, commit in enumerate(self._commits):
            if self._matches(number, commit.subject):
                self._named[number].append(index)

    @property
    def open(self) -> list[int]:
        return [number for number in self._named if number not in self._claimed]

    def take(self, number: int, least: int) -> None:
        """A free commit with the step's subject that carries it out at least so well."""
        free = []
        for index in self._named[number]:
            if index not in self._claimed.values() and self._rank(number, index) >= least:
                free.append(index)
        if free:
            earlier = [index for other, index in self._claimed.items() if other < number]
            # test_a_step_prefers_a_commit_after_that_of_the_step_before in tests/ultraplan/test_audit.py.
            following = [index for index in free if index > max(earlier, default=-1)]
            self._claimed[number] = (following or free)[0]

    def share(self, index: int) -> None:
        """A squash is for who holds it and who could, each with a line of the message to itself."""
        commit = self._commits[index]
        if not self.open or commit.sha in self._undone:
            return
        lines = [commit.subject]
        for line in commit.body.splitlines()[:MOST_LINES]:  # as squashes list them: indented, or as points of a list
            lines.append(line.strip().removeprefix("* ").removeprefix("- ").strip())
        together = []
        for number in self._named:
            if self._claimed.get(number, index) != index or self._rank(number, index) < ALL:
                continue
            for line in lines:
                if line and self._matches(number, line):
                    lines.remove(line)
                    together.append(number)
                    break
        if len(together) > 1:
            for number in together:
                self._claimed[number] = index
                self._shared[number] = tuple(other for other in together if other != number)

    def result(self) -> tuple[dict[int, CommitClaim], dict[int, str]]:
        claims = {}
        for number, index in self._claimed.items():
            commit = self._commits[index]
            claims[number] = CommitClaim(commit, index, self._shared.get(number, ()), self._undone.get(commit.sha))
            self._unclear.pop(number, None)
        return claims, self._unclear

    def _rank(self, number: int, index: int) -> int:
        commit = self._commits[index]
        met = [wish.is_met_by(commit.changes) for wish in wishes(self._manifests[number])] or [bool(commit.changes)]
        if commit.sha in self._undone:
            return UNDONE if any(met) else NO
        if all(met):
            return ALL
        return SOME if any(met) else NONE

    def _matches(self, number: int, line: str) -> bool:
        if number in self._unclear:
            return False
        pattern = self._manifests[number].commit_message_pattern
        for start in _ABOUT_OTHERS:
            # "a revert that quotes it" of test_what_becomes_of_each_step in tests/ultraplan/test_audit.py.
            if line.startswith(start) and start.rstrip(' "!') not in pattern:
                return False
        try:
            return self._budget.found(pattern, line)
        except patterns.TooSlow:
            self._unclear[number] = TOO_SLOW
            return False
