"""A valid plan as text, and a git project it can be carried out in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.kept import copied
from tests.project import commit as commit
from tests.project import git as git
from tests.project import head as head

FIELDS = ("Files", "Changes", "Reuses", "Test first", "Verify", "On failure", "Checkpoint")
TOUCH = ("src/**", "tests/**")
NEVER = ("infra/**",)


def path_of(number: int) -> str:
    return f"src/part{number}.py"


def subject_of(number: int) -> str:
    return f"feat(part{number}): add part {number}"


def plan_text(steps: int = 5, **changes: Any) -> str:
    """A plan that `omo plan validate` accepts in `project()`, unless it is changed.

    `version` (None: no such line), `touch` and `never` (`touch=None`: no fence), `needs`, `sessions`: a list of lists
    of step numbers, each a `## Session N`; `stepN`: fields of that step by name, None takes one away; its `manifest` is
    a dict of keys to change (None takes one away), text to put there as it is, or None for no manifest.
    """
    version, needs = changes.pop("version", "1.7"), changes.pop("needs", None)
    touch, never = changes.pop("touch", TOUCH), changes.pop("never", NEVER)
    sessions = changes.pop("sessions", None)
    parts = ["# Add parts"]
    parts += [f"plan_version: {version}"] if version is not None else []
    parts += [f"needs: [{', '.join(needs)}]"] if needs is not None else []
    if touch is not None:
        parts.append(f"## Scope Fence\n\n- Touch: {_listed(touch)}\n- Never touch: {_listed(never)}")
    texts = {number: step_text(number, **changes.pop(f"step{number}", {})) for number in range(1, steps + 1)}
    assert not changes, f"unknown: {changes}"
    for session, numbers in enumerate(sessions or [], start=1):
        parts += [f"## Session {session}: Part {session}", *(texts.pop(number) for number in numbers)]
    return "\n\n".join([*parts, *texts.values()]) + "\n"


def step_text(number: int, **changes: Any) -> str:
    path = path_of(number)
    fields: dict[str, str | None] = {
        "Files": f"`{path}`",
        "Changes": f"a function `part{number}` that returns {number}",
        "Reuses": "none",
        "Test first": "none",
        "Verify": f"`python3 {path}` → expected: no output, exit 0",
        "On failure": "retry — read the error and write the function again",
        "Checkpoint": f'`git add {path} && git commit -m "{subject_of(number)}"`',
    }
    title = changes.pop("title", f"Add part {number}")
    manifest = changes.pop("manifest", {})
    fields |= changes
    lines = [f"### Step {number}: {title}", ""]
    lines += ["\n  ".join(f"- {name}: {value}".splitlines()) for name, value in fields.items() if value is not None]
    if manifest is not None:
        written = manifest if isinstance(manifest, str) else manifest_text(number, **manifest)
        lines += ["- Manifest:", *(f"  {line}".rstrip() for line in f"```yaml\n{written}\n```".splitlines())]
    return "\n".join(lines)


def manifest_text(number: int, **changes: Any) -> str:
    path = path_of(number)
    keys: dict[str, Any] = {
        "expected_paths": [path],
        "min_file_count": 1,
        "commit_message_pattern": rf"^feat\(part{number}\):",
        "bash_syntax_check": [],
        "forbidden_paths": [],
        "must_contain": [{"path": path, "pattern": rf"^def part{number}\("}],
    }
    keys |= changes
    return "\n".join(["manifest:", *(f"  {key}: {_yaml(value)}" for key, value in keys.items() if value is not None)])


def _yaml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "".join(f"\n    - {_yaml(entry)}" for entry in value) or "[]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_yaml(entry)}" for key, entry in value.items()) + "}"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def _listed(globs: tuple[str, ...]) -> str:
    return ", ".join(f"`{glob}`" for glob in globs) or "none"


def project(tmp_path: Path, plan: str | None = None) -> Path:
    """A repository with one commit; with `plan`, that text is in it as plan.md."""

    def begin(root: Path) -> None:
        (root / "src").mkdir()
        (root / "src" / "app.py").write_text("VALUE = 1\n")
        (root / "README.md").write_text("# Parts\n")
        if plan is not None:
            (root / "plan.md").write_text(plan, encoding="utf-8")
        begin_repository(root)

    copied(tmp_path / "project", begin, plan)
    return tmp_path / "project"


def begin_repository(root: Path) -> None:
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "Test")
    git(root, "config", "user.email", "test@example.org")
    commit(root, "chore: begin")


def carry_out(root: Path, number: int) -> str:
    """Do what step `number` of the plan says, and commit it."""
    target = root / path_of(number)
    target.parent.mkdir(exist_ok=True)
    target.write_text(f"def part{number}():\n    return {number}\n")
    return commit(root, subject_of(number))
