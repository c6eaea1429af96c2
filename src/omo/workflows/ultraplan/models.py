"""What a plan says, once it has been read: steps, manifests, fences. Plain data."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from omo.digest import sha256
from omo.errors import Refused
from omo.globs import is_pattern
from omo.json_text import Json
from omo.proof import globs
from omo.text import clip, counted

STRICT_SINCE = (1, 7)
ON_FAILURE = ("revert", "retry", "skip", "escalate")
MOST_ITEMS = 100
LONGEST_DEFECT = 600


@dataclass(frozen=True)
class PlanDefect:
    """`line` counts from 1, 0 where no line is to blame. An advisory is told and refuses nothing."""

    line: int
    code: str
    message: str
    is_advisory: bool = False

    def __str__(self) -> str:
        return clip(f"line {self.line}: {self.message}" if self.line else self.message, LONGEST_DEFECT)

    @property
    def data(self) -> Json:
        return {"line": self.line, "code": self.code, "message": clip(self.message, LONGEST_DEFECT)}


def refusal(document: Document, defects: Sequence[PlanDefect]) -> Refused:
    message = f"{clip(document.path, 200)} has {counted(len(defects), 'defect')}"
    fix = f"mend the plan, then omo plan critique {shlex.quote(document.path)}"
    return Refused(message, fix=fix, defects=list(map(str, defects)))


def covering(path: str, patterns: Sequence[str]) -> str:
    """The first glob that covers the path; empty where none does."""
    return next((glob for glob in patterns if globs.covers(path, glob)), "")


def normal(text: str) -> str:
    """A path of the project as it is compared; empty for what is none."""
    try:
        return globs.normal(text)
    except ValueError:
        return ""


def _project_path(text: str) -> str:
    try:
        path = globs.normal(text)
    except ValueError as error:
        raise ValueError(f"names {clip(text, 80)!r}: {error}") from None
    if not path:
        raise ValueError(f"names {clip(text, 80)!r}, the project itself; write a path inside it")
    return path


Text = Annotated[str, Field(strict=True)]
ProjectPath = Annotated[Text, AfterValidator(_project_path)]
Paths = Annotated[tuple[ProjectPath, ...], Field(max_length=MOST_ITEMS)]
Flag = Annotated[bool, Field(strict=True)]


class Content(BaseModel):
    """One `must_contain`: the file matches the pattern somewhere."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: ProjectPath
    pattern: Text


class Manifest(BaseModel):
    """When a step is done, as code can see it. The first six must be there, even when empty: what was left out cannot
    be told from what was forgotten. A key that is none of these may belong to a newer tool."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    expected_paths: Paths
    min_file_count: Annotated[int, Field(strict=True, ge=0, le=10_000)]
    commit_message_pattern: Text
    bash_syntax_check: Paths
    forbidden_paths: Paths
    must_contain: Annotated[tuple[Content, ...], Field(max_length=MOST_ITEMS)]
    absent_paths: Paths = ()
    skip_commit_check: Flag = False

    @property
    def expects_commit(self) -> bool:
        return bool(self.commit_message_pattern) and not self.skip_commit_check

    @property
    def changed_paths(self) -> tuple[str, ...]:
        return (*self.expected_paths, *self.absent_paths)

    @property
    def named_paths(self) -> list[tuple[str, str]]:
        """Every path with the key that names it."""
        paths = [("must_contain", entry.path) for entry in self.must_contain]
        for key in ("expected_paths", "absent_paths", "bash_syntax_check", "forbidden_paths"):
            paths += [(key, path) for path in getattr(self, key)]
        return paths

    @property
    def counts_files(self) -> bool:
        """Every expected path has to be there, so the count says more only of a single glob."""
        return len(self.expected_paths) == 1 and is_pattern(self.expected_paths[0])


NO_MANIFEST = Manifest(
    expected_paths=(),
    min_file_count=0,
    commit_message_pattern="",
    bash_syntax_check=(),
    forbidden_paths=(),
    must_contain=(),
)


@dataclass(frozen=True)
class Step:
    """`text` is the step as it was written, heading included. `manifest_lines` has the line of each key of its
    manifest, and under "" that of the manifest itself; none where omo made it up for an older plan."""

    number: int
    title: str
    line: int
    text: str
    files: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()  # those of the files that are to be gone
    changes: str = ""
    reuses: str = ""
    test_first: str = ""
    verify: str = ""
    on_failure: str = ""
    on_failure_text: str = ""
    checkpoint: str = ""
    depends_on: tuple[int, ...] = ()
    manifest: Manifest = NO_MANIFEST
    field_lines: dict[str, int] = field(default_factory=dict, compare=False)
    manifest_lines: dict[str, int] = field(default_factory=dict)

    @property
    def fields(self) -> dict[str, str]:
        """What its author says of it, by label."""
        return {
            "Files": ", ".join(f"{path} (removed)" if path in self.removed else path for path in self.files),
            "Changes": self.changes,
            "Reuses": self.reuses,
            "Test first": self.test_first,
            "Verify": self.verify,
            "On failure": " — ".join(filter(None, (self.on_failure, self.on_failure_text))),
            "Checkpoint": self.checkpoint,
        }

    @property
    def has_manifest(self) -> bool:
        return self.manifest is not NO_MANIFEST

    @property
    def is_synthesised(self) -> bool:
        return self.has_manifest and not self.manifest_lines

    def line_of(self, key: str) -> int:
        """The line of a field or of a key of the manifest; without one, the manifest's own."""
        if key in self.fields:
            return self.field_lines.get(key.lower(), self.line)
        return self.manifest_lines.get(key, self.manifest_lines.get("", self.line))

    def defect(self, key: str, code: str, message: str, *, is_advisory: bool = False) -> PlanDefect:
        """What is wrong with a field, or with a key of the manifest, on its line."""
        return PlanDefect(self.line_of(key), code, f"step {self.number}: {message}", is_advisory)


def forbidden_by(steps: Sequence[Step]) -> list[str]:
    return [path for step in steps for path in step.manifest.forbidden_paths]


@dataclass(frozen=True)
class FenceGlobs:
    """Globs: what a session may change, and what it never may."""

    touch: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


@dataclass(frozen=True)
class Session:
    """A `## Session N: …` of a plan; a plan without such headings is one session with every step.

    `entry` is what else has to be so before it begins, in the plan's words. `blocks` are sessions that wait for it: as
    it says itself, and all of them once `cut` knows, as it does of `apart`, those that must not run beside it.
    """

    number: int
    title: str
    line: int
    steps: tuple[int, ...]
    depends_on: tuple[int, ...] = ()
    context: str = ""
    entry: str = ""
    fence: FenceGlobs | None = None
    blocks: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()


@dataclass(frozen=True)
class Document:
    """A plan, or the part of it that one session carries out, which has that session alone.

    `version` is None where it names none. `says_needs`: it has a line `needs:`, so an empty list means that nothing is
    needed. `verify` is for steps that have none.
    """

    path: str
    text: str
    title: str = ""
    version: tuple[int, ...] | None = None
    needs: tuple[str, ...] = ()
    says_needs: bool = False
    verify: str = ""
    context: str = ""
    fence: FenceGlobs | None = None
    steps: tuple[Step, ...] = ()
    sessions: tuple[Session, ...] = ()
    defects: tuple[PlanDefect, ...] = field(default=(), compare=False)

    @property
    def is_legacy(self) -> bool:
        """Before 1.7, or without a version: advised, not blocked."""
        return self.version is None or self.version < STRICT_SINCE

    @property
    def is_legacy_synthesis(self) -> bool:
        return any(step.is_synthesised for step in self.steps)

    @property
    def digest(self) -> str:
        return sha256(self.text.encode("utf-8", "replace"))

    def step(self, number: int) -> Step | None:
        return next((step for step in self.steps if step.number == number), None)

    def session_of(self, step: Step) -> Session:
        for session in self.sessions:
            if step.number in session.steps:
                return session
        return Session(0, "", step.line, (step.number,))

    def steps_of(self, session: Session) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.number in session.steps)
