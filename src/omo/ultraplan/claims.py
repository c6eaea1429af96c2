"""Which commit is which step's: by its subject, by what it changed, and by its place in the order, in that sequence.

1. In step order, each step takes the first commit after the one before it that has its subject and all its paths.
2. What is left tries any place (a rebase reorders), moving others where each still finds a commit of its own.
3. One commit may serve several steps where it has the paths of each, and a line of its own in the message for each:
   a squash. One line is never enough for two steps, or a step left out would hide behind its neighbour.
4. Then some of the paths will do (the rest may come in a later commit), then the subject alone, then a commit that
   was reverted. The audit says of those what is wrong with them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from omo.evidence import patterns
from omo.ultraplan.document import Manifest, Step
from omo.ultraplan.history import Change, Commit, undone

SEARCH_SECONDS = 60.0
MOST_LINES = 500

# Commits about another commit quote its subject, and are nobody's step unless a pattern speaks of them.
_ABOUT_OTHERS = ('Revert "', 'Reapply "', "fixup! ", "squash! ", "amend! ")


@dataclass(frozen=True)
class Claim:
    """`at` is the commit's place among all of them; `undone_at` that of the commit which reverted it."""

    commit: Commit
    at: int
    is_out_of_order: bool = False
    shared_with: tuple[int, ...] = ()
    undone_at: int | None = None


@dataclass(frozen=True)
class Wish:
    """A path the step's commit is to have: left there, or deleted where `is_absent`."""

    glob: str
    is_absent: bool = False

    def is_met_by(self, changes: Sequence[Change]) -> bool:
        return any(one.is_deletion == self.is_absent and one.is_about(self.glob) for one in changes)


@dataclass(frozen=True)
class Claims:
    """By step number. `unclear` are steps whose pattern could not be tried, with the reason."""

    by_step: dict[int, Claim] = field(default_factory=dict)
    unclear: dict[int, str] = field(default_factory=dict)


def wishes(manifest: Manifest) -> list[Wish]:
    """What the commit must touch. A step without expected or absent paths is held to the files it checks."""
    named = [Wish(path) for path in manifest.expected_paths] + [Wish(path, True) for path in manifest.absent_paths]
    looked_at = [*(one.path for one in manifest.must_contain), *manifest.bash_syntax_check]
    return named or [Wish(path) for path in dict.fromkeys(looked_at)]


def claim(steps: Sequence[Step], commits: Sequence[Commit]) -> Claims:
    """The claims of those steps that expect a commit."""
    claiming = _Claiming(commits)
    for step in steps:
        if step.manifest is not None and step.manifest.expects_commit:
            claiming.add(step.number, step.manifest)
    claiming.in_order()
    claiming.anywhere()
    claiming.squashed()
    claiming.rest()
    return claiming.result()


class _Claiming:
    def __init__(self, commits: Sequence[Commit]) -> None:
        self._commits = commits
        self._undone = undone(commits)
        self._budget = patterns.Budget(SEARCH_SECONDS)
        self._manifests: dict[int, Manifest] = {}
        self._named: dict[int, list[int]] = {}  # by step: places of commits with its subject
        self._whole: dict[int, list[int]] = {}  # by step: those of them with all its paths, none reverted
        self._places: dict[int, int] = {}
        self._shared: dict[int, tuple[int, ...]] = {}
        self._unclear: dict[int, str] = {}

    def add(self, number: int, manifest: Manifest) -> None:
        if problem := patterns.defect(manifest.commit_message_pattern):
            self._unclear[number] = f"its commit_message_pattern cannot be used: {problem}"
            return
        try:
            named = [at for at, one in enumerate(self._commits) if self._says(manifest, one.subject)]
        except (patterns.TooSlow, patterns.Spent):
            self._unclear[number] = "its commit_message_pattern takes too long; write it without nested repeats"
            return
        self._manifests[number] = manifest
        self._named[number] = named
        self._whole[number] = [at for at in named if self._is_live(at) and self._has(manifest, at, all)]

    def in_order(self) -> None:
        after = -1
        for number, places in self._whole.items():
            free = [at for at in places if at > after and at not in self._holders()]
            if free:
                after = self._places[number] = free[0]

    def anywhere(self) -> None:
        for number in self._open():
            self._place(number, set())

    def _place(self, number: int, tried: set[int]) -> bool:
        """An augmenting path: who stands in the way moves on, if it can."""
        holders = self._holders()
        for at in sorted(self._whole[number], key=lambda at: (at in holders, at)):
            if at in tried:
                continue
            tried.add(at)
            if at not in holders or self._place(holders[at], tried):
                self._places[number] = at
                return True
        return False

    def squashed(self) -> None:
        for at, commit in enumerate(self._commits):
            if self._is_live(at) and self._open():
                together = self._sharers(at, commit)
                if len(together) > 1:
                    self._places.update(dict.fromkeys(together, at))
                    self._shared.update({one: tuple(other for other in together if other != one) for one in together})

    def _sharers(self, at: int, commit: Commit) -> list[int]:
        """The steps this commit is for: who holds it and who could, each with a line of the message to itself."""
        lines = list(_lines(commit))
        together = []
        for number, manifest in self._manifests.items():
            holds = self._places.get(number, at) == at
            if holds and self._has(manifest, at, all):
                line = next((line for line in lines if self._says_or_gives_up(number, manifest, line)), None)
                if line is not None:
                    lines.remove(line)
                    together.append(number)
        return together

    def _says_or_gives_up(self, number: int, manifest: Manifest, line: str) -> bool:
        try:
            return self._says(manifest, line)
        except (patterns.TooSlow, patterns.Spent):
            self._unclear[number] = "its commit_message_pattern takes too long; write it without nested repeats"
            return False

    def rest(self) -> None:
        tiers: tuple[Callable[[int, int], bool], ...] = (
            lambda number, at: self._is_live(at) and self._has(self._manifests[number], at, any),
            lambda number, at: self._is_live(at),
            lambda number, at: self._has(self._manifests[number], at, any),
        )
        for fits in tiers:
            for number in self._open():
                holders = self._holders()
                free = [at for at in self._named[number] if at not in holders and fits(number, at)]
                if free:
                    self._places[number] = self._nearest(number, free)

    def _nearest(self, number: int, free: Sequence[int]) -> int:
        """The first after the steps before it, else the first."""
        before = max((at for other, at in self._places.items() if other < number), default=-1)
        return next((at for at in free if at > before), free[0])

    def result(self) -> Claims:
        kept = _longest_in_order(
            [(number, self._places[number]) for number in self._manifests if number in self._places]
        )
        found = {
            number: Claim(
                self._commits[at], at, number not in kept, self._shared.get(number, ()), self._undone.get(self._sha(at))
            )
            for number, at in self._places.items()
        }
        unclear = {number: why for number, why in self._unclear.items() if number not in found}
        return Claims(found, unclear)

    def _open(self) -> list[int]:
        return [number for number in self._manifests if number not in self._places]

    def _holders(self) -> dict[int, int]:
        return {at: number for number, at in self._places.items()}

    def _sha(self, at: int) -> str:
        return self._commits[at].sha

    def _is_live(self, at: int) -> bool:
        return self._sha(at) not in self._undone

    def _has(self, manifest: Manifest, at: int, how: Callable[[Iterator[bool]], bool]) -> bool:
        changes = self._commits[at].changes
        wanted = wishes(manifest)
        return how(one.is_met_by(changes) for one in wanted) if wanted else bool(changes)

    def _says(self, manifest: Manifest, line: str) -> bool:
        pattern = manifest.commit_message_pattern
        if any(line.startswith(start) and start.rstrip(' "!') not in pattern for start in _ABOUT_OTHERS):
            return False
        return self._budget.found(pattern, line)


def _lines(commit: Commit) -> Iterator[str]:
    """The subject, and the lines of the body as squashes list them: indented, or as points of a list."""
    yield commit.subject
    for line in commit.body.splitlines()[:MOST_LINES]:
        if text := line.strip().removeprefix("* ").removeprefix("- ").strip():
            yield text


def _longest_in_order(placed: Sequence[tuple[int, int]]) -> set[int]:
    """The most steps whose commits follow one another; the others are the ones that moved."""
    tails: list[int] = []
    chains: list[list[int]] = []
    for number, at in placed:
        length = bisect_right(tails, at)
        chain = [*(chains[length - 1] if length else []), number]
        tails[length:] = [at, *tails[length + 1 :]]
        chains[length:] = [chain, *chains[length + 1 :]]
    return set(chains[-1]) if chains else set()
