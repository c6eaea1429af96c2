"""A manifest as checks: the one evaluator of the evidence layer decides whether it is met."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omo.evidence.checks import Check, digest_of_check, parse_checks
from omo.evidence.evaluate import Tree, evaluate
from omo.ultraplan.models import Step


def checks_of(step: Step) -> list[Check]:
    """What must hold of the files once the step is done. Commits and forbidden changes are the audit's to settle.

    Raises BadInput where a path or a pattern cannot be used.
    """
    manifest = step.manifest
    if manifest is None:
        return []
    count = max(1, manifest.min_file_count) if manifest.counts_files else 1
    rows: list[dict[str, Any]] = []
    rows += [{"type": "path", "path": path, "min_count": count} for path in manifest.expected_paths]
    rows += [{"type": "path", "path": path, "absent": True} for path in manifest.absent_paths]
    rows += [{"type": "content", "path": entry.path, "regex": entry.pattern} for entry in manifest.must_contain]
    rows += [{"type": "syntax", "path": path, "language": "bash"} for path in manifest.bash_syntax_check]
    named = [{"id": f"step-{step.number}-{index}", **row} for index, row in enumerate(rows, start=1)]
    return [check for check in parse_checks(named, f"step {step.number}") if not isinstance(check, str)]


def is_already_true(step: Step, earlier: Sequence[Step], root: Path) -> bool:
    """Whether the tree as it is now, or as earlier steps of the same document leave it, meets the step already."""
    checks = checks_of(step)
    if not checks:
        return False
    before = {digest_of_check(check) for other in earlier for check in checks_of(other)}
    left = [check for check in checks if digest_of_check(check) not in before]
    return not left or evaluate(left, Tree(root)).verdict == "pass"


def holds(step: Step, root: Path) -> bool:
    """Whether the tree as it is now meets everything that the step's manifest asks for."""
    checks = checks_of(step)
    return bool(checks) and evaluate(checks, Tree(root)).verdict == "pass"
