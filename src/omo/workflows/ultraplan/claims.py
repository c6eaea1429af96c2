"""Which commit is which step's: by its subject, by what it changed, and by its place in the order, in that sequence.

1. In step order, each step takes a commit that has its subject and all its paths: the first after those of the steps
   before it, else any (a rebase reorders), moving others where each still finds a commit of its own.
2. One commit may serve several steps where it has the paths of each, and a line of its own in the message for each:
   a squash. One line is never enough for two steps, or a step left out would hide behind its neighbour.
3. Then some of the paths will do (the rest may come in a later commit), then the subject alone, then a commit that
   was reverted. The audit says of those what is wrong with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from omo.proof import patterns
from omo.workflows.ultraplan.history import Change, Commit, undone
from omo.workflows.ultraplan.models import Manifest, Step

SEARCH_SECONDS = 60.0
MOST_LINES = 500
TOO_SLOW = "its commit_message_pattern takes too long; write it without nested repeats"

# Commits about another commit quote its subject, and are nobody's step unless a pattern speaks of them.
_ABOUT_OTHERS = ('Revert "', 'Reapply "', "fixup! ", "squash! ", "amend! ")


@dataclass(frozen=True)
class Claim:
    """`index` is the commit's among all of them; `undone_at` that of the commit which reverted it."""

    commit: Commit
    index: int
    is_out_of_order: bool = False
    shared_with: tuple[int, ...] = ()
    undone_at: int | None = None


@dataclass(frozen=True)
class Wish:
    """A path the step's commit is to have: left there, or deleted where `is_absent`."""

    glob: str
    is_absent: bool = False

    def is_met_by(self, changes: Sequence[Change]) -> bool:
        return any(change.is_deletion == self.is_absent and change.is_about([self.glob]) for change in changes)


@dataclass(frozen=True)
class Claims:
    """By step number. `unclear` are steps whose pattern could not be tried, with the reason."""

    by_step: dict[int, Claim] = field(default_factory=dict)
    unclear: dict[int, str] = field(default_factory=dict)


def wishes(manifest: Manifest) -> list[Wish]:
    """What the commit must touch. A step without expected or absent paths is held to the files it checks."""
    named = [Wish(path) for path in manifest.expected_paths]
    named += [Wish(path, True) for path in manifest.absent_paths]
    if not named:
        checked = [content.path for content in manifest.must_contain]
        named = [Wish(path) for path in dict.fromkeys([*checked, *manifest.bash_syntax_check])]
    return named


def claim(steps: Sequence[Step], commits: Sequence[Commit]) -> Claims:
    """The claims of those steps that expect a commit."""
    claiming = _Claiming(commits)
    for step in steps:
        if step.manifest is not None and step.manifest.expects_commit:
            claiming.add(step.number, step.manifest)
    for number in claiming.open:
        claiming.place(number, set())
    claiming.share_squashes()
    for is_live, has_paths in ((True, True), (True, False), (False, True)):
        for number in claiming.open:
            claiming.take_free(number, is_live, has_paths)
    return claiming.result()


class _Claiming:
    """Steps are known by their number, commits by their index."""

    def __init__(self, commits: Sequence[Commit]) -> None:
        self._commits = commits
        self._undone = undone(commits)
        self._live = {index for index, commit in enumerate(commits) if commit.sha not in self._undone}
        self._budget = patterns.Budget(SEARCH_SECONDS)
        self._manifests: dict[int, Manifest] = {}
        self._named: dict[int, list[int]] = {}  # by step: commits with its subject
        self._claimed: dict[int, int] = {}
        self._shared: dict[int, tuple[int, ...]] = {}
        self._unclear: dict[int, str] = {}

    def add(self, number: int, manifest: Manifest) -> None:
        if problem := patterns.defect(manifest.commit_message_pattern):
            self._unclear[number] = f"its commit_message_pattern cannot be used: {problem}"
            return
        try:
            named = [index for index, commit in enumerate(self._commits) if self._matches(manifest, commit.subject)]
        except (patterns.TooSlow, patterns.Spent):
            self._unclear[number] = TOO_SLOW
            return
        self._manifests[number] = manifest
        self._named[number] = named

    @property
    def open(self) -> list[int]:
        return [number for number in self._manifests if number not in self._claimed]

    def place(self, number: int, tried: set[int]) -> bool:
        """An augmenting path: who stands in the way moves on, if it can."""
        holders = self._holders()
        after = self._last_before(number)
        whole = [index for index in self._named[number] if index in self._live and self._has(number, index, all)]
        for index in sorted(whole, key=lambda index: (index in holders, index < after, index)):
            if index in tried:
                continue
            tried.add(index)
            if index not in holders or self.place(holders[index], tried):
                self._claimed[number] = index
                return True
        return False

    def share_squashes(self) -> None:
        for index in sorted(self._live):
            if not self.open:
                return
            together = self._sharers(index)
            if len(together) > 1:
                for number in together:
                    self._claimed[number] = index
                    self._shared[number] = tuple(other for other in together if other != number)

    def _sharers(self, index: int) -> list[int]:
        """The steps a commit is for: who holds it and who could, each with a line of the message to itself."""
        lines = list(_lines(self._commits[index]))
        together = []
        for number, manifest in self._manifests.items():
            if self._claimed.get(number, index) != index or not self._has(number, index, all):
                continue
            for line in lines:
                try:
                    is_own = self._matches(manifest, line)
                except (patterns.TooSlow, patterns.Spent):
                    self._unclear[number] = TOO_SLOW
                    break
                if is_own:
                    lines.remove(line)
                    together.append(number)
                    break
        return together

    def take_free(self, number: int, is_live: bool, has_paths: bool) -> None:
        """A commit with the step's subject: the first after the steps before it, else the first."""
        holders = self._holders()
        free = []
        for index in self._named[number]:
            if index in holders or (is_live and index not in self._live):
                continue
            if not has_paths or self._has(number, index, any):
                free.append(index)
        if free:
            after = self._last_before(number)
            self._claimed[number] = next((index for index in free if index > after), free[0])

    def result(self) -> Claims:
        claims = {}
        for number, index in self._claimed.items():
            commit = self._commits[index]
            overtaken = any(other > number and before < index for other, before in self._claimed.items())
            shared = self._shared.get(number, ())
            claims[number] = Claim(commit, index, overtaken, shared, self._undone.get(commit.sha))
        unclear = {number: why for number, why in self._unclear.items() if number not in claims}
        return Claims(claims, unclear)

    def _last_before(self, number: int) -> int:
        """The last commit that a step before this one has."""
        return max((index for other, index in self._claimed.items() if other < number), default=-1)

    def _holders(self) -> dict[int, int]:
        return {index: number for number, index in self._claimed.items()}

    def _has(self, number: int, index: int, how_many: Callable[[Iterable[bool]], bool]) -> bool:
        """Whether a commit has `all` or `any` of the paths; where none are named, whether it changes something."""
        changes = self._commits[index].changes
        wanted = wishes(self._manifests[number])
        if not wanted:
            return bool(changes)
        return how_many(wish.is_met_by(changes) for wish in wanted)

    def _matches(self, manifest: Manifest, line: str) -> bool:
        pattern = manifest.commit_message_pattern
        for start in _ABOUT_OTHERS:
            if line.startswith(start) and start.rstrip(' "!') not in pattern:
                return False
        return self._budget.found(pattern, line)


def _lines(commit: Commit) -> Iterator[str]:
    """The subject, and the lines of the body as squashes list them: indented, or as points of a list."""
    yield commit.subject
    for line in commit.body.splitlines()[:MOST_LINES]:
        if text := line.strip().removeprefix("* ").removeprefix("- ").strip():
            yield text
