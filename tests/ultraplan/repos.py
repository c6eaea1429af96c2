"""Real git repositories for the audit, and steps written as data."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omo.errors import NotEvaluable
from omo.workflows.ultraplan.audit import Audit, audit_history, unknown
from omo.workflows.ultraplan.history import history_since
from omo.workflows.ultraplan.models import Content, Document, FenceGlobs, Manifest, Session, Step
from tests.kept import copied
from tests.project import git, head


@dataclass(frozen=True)
class Repo:
    """A repository with one commit, its `base`."""

    root: Path
    base: str

    def git(self, *arguments: str, date: str = "", stdin: str | None = None) -> str:
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
        return run_git(self.root, *arguments, stdin=stdin, **dates)

    def write(self, path: str, text: str = "") -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text or f"content of {path}\n", encoding="utf-8")

    def commit(self, message: str, *paths: str, date: str = "") -> str:
        """Write the paths and commit them alone; without any, an empty commit."""
        for path in paths:
            before = (self.root / path).read_text(encoding="utf-8") if (self.root / path).exists() else ""
            self.write(path, before + f"{message.splitlines()[0]}\n")
        if paths:
            self.git("add", "-f", "--", *paths)
        self.git("commit", "-q", "--allow-empty", "-m", message, date=date)
        return self.head()

    def remove(self, message: str, *paths: str) -> str:
        self.git("rm", "-q", "--", *paths)
        self.git("commit", "-q", "-m", message)
        return self.head()

    def head(self) -> str:
        return head(self.root)

    def audit(self, *steps: Step, fence: FenceGlobs | None = None, base: str = "", **more: Any) -> Audit:
        return self.audit_document(document(*steps, fence=fence), base, **more)

    def audit_document(
        self,
        document: Document,
        base: str = "",
        skipped: Mapping[int, str] | None = None,
        allowed: Collection[str] = (),
    ) -> Audit:
        try:
            return audit_history(document, history_since(self.root, base or self.base), skipped or {}, allowed)
        except NotEvaluable as error:
            return unknown(document, error)


def run_git(root: Path, *arguments: str, stdin: str | None = None, **environ: str) -> str:
    settings = ("-c", "protocol.file.allow=always", "-c", "advice.graftFileDeprecated=false")
    return git(root, *settings, *arguments, stdin=stdin, **environ)


def repo(root: Path, *paths: str) -> Repo:
    """With these files in its first commit, beside the plan."""

    def begin(place: Path) -> None:
        run_git(place, "init", "-q")
        Repo(place, "").commit("chore: begin", "README.md", "plan.md", *paths)

    copied(root, begin, paths)
    return Repo(root, Repo(root, "").head())


def step(number: int, *expected: str, pattern: str | None = None, on_failure: str = "escalate", **keys: Any) -> Step:
    """Without a pattern, that of `subject(number)`; `contains` is a mapping of paths to patterns."""
    contains = tuple(Content(path=path, pattern=regex) for path, regex in keys.pop("contains", {}).items())
    manifest = Manifest(
        expected_paths=expected,
        min_file_count=keys.pop("min_file_count", len(expected)),
        commit_message_pattern=rf"^feat\(s{number}\):" if pattern is None else pattern,
        must_contain=contains,
        **{"bash_syntax_check": (), "forbidden_paths": (), **keys},
    )
    return Step(
        number, f"Part {number}", 1, f"### Step {number}: Part {number}", on_failure=on_failure, manifest=manifest
    )


def subject(number: int) -> str:
    return f"feat(s{number}): part {number}"


def document(*steps: Step, fence: FenceGlobs | None = None) -> Document:
    session = Session(1, "", 1, tuple(step.number for step in steps))
    return Document("plan.md", "", version=(1, 7), steps=steps, fence=fence, sessions=(session,))


def statuses(audit: Audit) -> dict[int, str]:
    return {step.step: step.status for step in audit.steps}


def findings(audit: Audit, number: int) -> str:
    return "\n".join(next(step.findings for step in audit.steps if step.step == number))
