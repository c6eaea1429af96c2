"""What a plan or a session spec says, once it has been read: steps, manifests, fences. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field

from omo.digest import sha256

STRICT_SINCE = (1, 7)
ON_FAILURE = ("revert", "retry", "skip", "escalate")


@dataclass(frozen=True)
class Defect:
    """`line` counts from 1, 0 where no line is to blame. An advisory is told and refuses nothing."""

    line: int
    code: str
    message: str
    is_advisory: bool = False

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


@dataclass(frozen=True)
class Content:
    """One `must_contain`: the file matches the pattern somewhere."""

    path: str
    pattern: str


@dataclass(frozen=True)
class Manifest:
    """When a step is done, as code can see it. `is_synthesised`: made up from the prose of an older plan."""

    expected_paths: tuple[str, ...] = ()
    min_file_count: int = 0
    commit_message_pattern: str = ""
    bash_syntax_check: tuple[str, ...] = ()
    forbidden_paths: tuple[str, ...] = ()
    must_contain: tuple[Content, ...] = ()
    absent_paths: tuple[str, ...] = ()
    sandbox_preflight: bool = False
    skip_commit_check: bool = False
    is_synthesised: bool = False
    line: int = 0

    @property
    def expects_commit(self) -> bool:
        return bool(self.commit_message_pattern) and not self.skip_commit_check


@dataclass(frozen=True)
class Step:
    """`text` is the step as it was written, heading included. Step 0 is the preflight."""

    number: int
    title: str
    line: int
    text: str
    files: tuple[str, ...] = ()
    changes: str = ""
    reuses: str = ""
    test_first: str = ""
    verify: str = ""
    on_failure: str = ""
    on_failure_text: str = ""
    checkpoint: str = ""
    depends_on: tuple[int, ...] = ()
    manifest: Manifest | None = None

    @property
    def is_preflight(self) -> bool:
        return self.manifest is not None and self.manifest.sandbox_preflight


@dataclass(frozen=True)
class Fence:
    """Globs: what a session may change, and what it never may."""

    touch: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group:
    """A `## Session N: …` of a plan; a plan without such headings is one group with every step."""

    number: int
    title: str
    line: int
    steps: tuple[int, ...]
    depends_on: tuple[int, ...] = ()
    context: str = ""
    fence: Fence | None = None


@dataclass(frozen=True)
class Recovery:
    """What a spec written by `omo plan recover` says of itself. The depth that counts is kept in the ledger."""

    of: str
    depth: int
    missing: tuple[int, ...]
    entry: str = ""


@dataclass(frozen=True)
class Document:
    """`kind` is plan or spec. `version` is None where the document names none."""

    kind: str
    path: str
    text: str
    title: str = ""
    version: tuple[int, ...] | None = None
    needs: tuple[str, ...] = ()
    fence: Fence | None = None
    steps: tuple[Step, ...] = ()
    groups: tuple[Group, ...] = ()
    session: int | None = None
    master_plan: str = ""
    master_digest: str = ""
    is_legacy_synthesis: bool = False
    recovery: Recovery | None = None
    exit_conditions: tuple[str, ...] = ()
    defects: tuple[Defect, ...] = field(default=(), compare=False)

    @property
    def is_legacy(self) -> bool:
        """Before 1.7, or without a version: advised, not blocked."""
        return self.version is None or self.version < STRICT_SINCE

    @property
    def digest(self) -> str:
        return sha256(self.text.encode("utf-8", "replace"))

    @property
    def work_steps(self) -> tuple[Step, ...]:
        """Every step but the preflight."""
        return tuple(step for step in self.steps if not step.is_preflight)

    def step(self, number: int) -> Step | None:
        return next((step for step in self.steps if step.number == number), None)
