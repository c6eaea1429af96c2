"""What was changed that must not be: outside the fence, inside what is never touched, or forbidden by a step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from omo.evidence import globs
from omo.shown import clip
from omo.ultraplan.document import Document, Fence
from omo.ultraplan.history import Change, Commit

# Evidence is about the work and no part of it; so is our state.
APART = (globs.OWN, ".sisyphus/evidence")


def is_apart(path: str) -> bool:
    return any(path == place or path.startswith(place + "/") for place in APART)


def fence_of(document: Document) -> Fence:
    """A plan's sessions may touch different places: what one of them may, the plan may; what none may, it never may."""
    own = document.fence or Fence()
    parts = [group.fence for group in document.groups if group.fence is not None]
    touch = dict.fromkeys([*own.touch, *(glob for one in parts for glob in one.touch)])
    common = [glob for glob in parts[0].never if all(glob in one.never for one in parts)] if parts else []
    return Fence(tuple(touch), tuple(dict.fromkeys([*own.never, *common])))


@dataclass(frozen=True)
class Trail:
    """Every change since the base: those of each commit, even where a later one took them back, and what `changed`
    has from the base to the files as they are. `not_counted` are documents that ask for the work."""

    commits: Sequence[Commit]
    changed: Sequence[str]
    not_counted: Collection[str] = field(default_factory=frozenset)

    def forbidden(self, document: Document) -> dict[int, list[str]]:
        """By step, what its `forbidden_paths` name."""
        found = {}
        for step in document.steps:
            if step.manifest is not None and step.manifest.forbidden_paths:
                hits = self._hits(step.manifest.forbidden_paths)
                if hits:
                    found[step.number] = [f"{line} (forbidden by step {step.number})" for line in hits]
        return found

    def violations(self, fence: Fence) -> list[str]:
        """Outside of touch is told where it is left changed: a slip that was taken back does no harm. What is never
        to be touched is told whatever became of it."""
        never = [f"{line} (never to be touched)" for line in self._hits(fence.never)]
        if not fence.touch:
            return never
        left = [one for one in self._now() if not is_apart(one.path)]
        outside = [one.path for one in left if not any(one.is_about(glob) for glob in fence.touch)]
        return never + [f"{clip(path, 300)}: {self._by(path)} (outside the scope)" for path in outside]

    def not_committed(self, document: Document, fence: Fence) -> list[str]:
        """The paths that are changed against the scope, where all of that can be taken back: none is in a commit."""
        closed = list(fence.never)
        for step in document.steps:
            closed += step.manifest.forbidden_paths if step.manifest else ()
        if any(self._commit_of(path) for path in self._paths_of(closed)):
            return []
        found = []
        for change in self._now():
            is_outside = bool(fence.touch) and not any(change.is_about(glob) for glob in fence.touch)
            is_against = is_outside or any(change.is_about(glob) for glob in closed)
            if is_against and not is_apart(change.path):
                found.append(change.path)
        return [] if any(self._commit_of(path) for path in found) else found

    def _hits(self, forbidden: Iterable[str]) -> list[str]:
        return [f"{clip(path, 300)}: {self._by(path)}" for path in self._paths_of(list(forbidden))]

    def _paths_of(self, wanted: Sequence[str]) -> list[str]:
        every = [one for commit in self.commits for one in commit.own_changes]
        every += self._now()
        paths = dict.fromkeys(one.path for one in every if any(one.is_about(glob) for glob in wanted))
        return [path for path in paths if not is_apart(path) and path not in self.not_counted]

    def _now(self) -> list[Change]:
        submodules = {one.path for commit in self.commits for one in commit.changes if one.is_submodule}
        return [Change(path, "M", path in submodules) for path in self.changed]

    def _by(self, path: str) -> str:
        first = self._commit_of(path)
        return f"changed by {first}" if first else "changed and not committed"

    def _commit_of(self, path: str) -> Commit | None:
        return next((one for one in self.commits if any(path == own.path for own in one.own_changes)), None)
