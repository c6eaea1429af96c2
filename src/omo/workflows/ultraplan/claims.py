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
from contextlib import suppress
from dataclasses import dataclass

from omo.proof import patterns
from omo.workflows.ultraplan.history import Commit, PathChange, undone
from omo.workflows.ultraplan.models import Manifest, Step

SEARCH_SECONDS = 60.0
MOST_LINES = 500
TOO_SLOW = "its commit_message_pattern takes too long; write it without nested repeats"

# How well a commit with the step's subject carries it out: with all its paths, some of them, none, or undone since.
ALL, SOME, NONE, UNDONE = 4, 3, 2, 1

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
            claiming.add(step)
    for least in (ALL, SOME, NONE, UNDONE):
        claiming.take(least)
        if least == ALL:
            claiming.share_squashes()
    return claiming.claims, claiming.unclear


class _Claiming:
    """Gives each step its commit."""

    def __init__(self, commits: Sequence[Commit]) -> None:
        self.commits = commits
        self.undone_at = undone(commits)
        self.budget = patterns.SearchTime(SEARCH_SECONDS)
        self.manifests: dict[int, Manifest] = {}
        self.fits: dict[int, dict[int, int]] = {}  # by step: how well each commit with its subject carries it out
        self.claims: dict[int, CommitClaim] = {}
        self.unclear: dict[int, str] = {}

    def add(self, step: Step) -> None:
        """Note which commits have the step's subject."""
        if problem := patterns.defect(step.manifest.commit_message_pattern):
            self.unclear[step.number] = f"its commit_message_pattern cannot be used: {problem}"
            return
        fits = {}
        try:
            for index, commit in enumerate(self.commits):
                if self._matches(step.manifest, commit.subject):
                    fits[index] = self._fit(step.manifest, commit)
        except patterns.TooSlow:
            self.unclear[step.number] = TOO_SLOW
            return
        self.fits[step.number], self.manifests[step.number] = fits, step.manifest

    def take(self, least: int) -> None:
        """Give those without a commit the first free one that carries them out at least so well."""
        for number, fit in self.fits.items():
            taken = {own.index for own in self.claims.values()}
            free = [index for index, rank in fit.items() if rank >= least and index not in taken]
            if free and number not in self.claims:
                earlier = [own.index for other, own in self.claims.items() if other < number]
                # test_a_step_prefers_a_commit_after_that_of_the_step_before in tests/ultraplan/test_audit.py.
                following = [index for index in free if index > max(earlier, default=-1)]
                index = (following or free)[0]
                commit = self.commits[index]
                self.claims[number] = CommitClaim(commit, index, undone_at=self.undone_at.get(commit.sha))

    def share_squashes(self) -> None:
        """A squash is for who holds it and who could, each with a line of the message to itself."""
        for index, commit in enumerate(self.commits):
            if commit.sha in self.undone_at or len(self.claims) == len(self.manifests):
                continue
            lines = [commit.subject]  # and those of its body, indented or as points of a list
            for line in commit.body.splitlines()[:MOST_LINES]:
                lines.append(line.strip().removeprefix("* ").removeprefix("- ").strip())
            together = []
            for number, manifest in self.manifests.items():
                is_elsewhere = number in self.claims and self.claims[number].index != index
                if is_elsewhere or self._fit(manifest, commit) < ALL:
                    continue
                with suppress(patterns.TooSlow):
                    line = next((line for line in lines if line and self._matches(manifest, line)), "")
                    if line:
                        lines.remove(line)
                        together.append(number)
            if len(together) > 1:
                for number in together:
                    others = tuple(other for other in together if other != number)
                    self.claims[number] = CommitClaim(commit, index, others)

    def _fit(self, manifest: Manifest, commit: Commit) -> int:
        if commit.sha in self.undone_at:
            return UNDONE
        met = [wish.is_met_by(commit.changes) for wish in wishes(manifest)] or [bool(commit.changes)]
        if all(met):
            return ALL
        return SOME if any(met) else NONE

    def _matches(self, manifest: Manifest, line: str) -> bool:
        """Raises TooSlow."""
        pattern = manifest.commit_message_pattern
        for start in _ABOUT_OTHERS:
            # "a revert that quotes it" of test_what_becomes_of_each_step in tests/ultraplan/test_audit.py.
            if line.startswith(start) and start.rstrip(' "!') not in pattern:
                return False
        return self.budget.found(pattern, line)
