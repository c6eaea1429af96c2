"""A manifest as checks: the one evaluator of the evidence layer decides whether it is met."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from omo.evidence.checks import Check, digest_of_check, parse_checks
from omo.evidence.evaluate import Tree, evaluate
from omo.ultraplan.document import Document, Manifest, Step


def checks_of(step: Step, *, base: str | None) -> list[Check]:
    """What must hold once the step is done; without a base nothing about changes. The commit is the audit's to claim.

    Raises BadInput where a path or a pattern cannot be used.
    """
    if step.manifest is None:
        return []
    checks = [*_on_disk(step.manifest), *_since(step.manifest, base)]
    named = [{"id": f"step-{step.number}-{at}", **check} for at, check in enumerate(checks, start=1)]
    return [check for check in parse_checks(named, f"step {step.number}") if not isinstance(check, str)]


def _on_disk(manifest: Manifest) -> list[dict[str, Any]]:
    return [
        *({"type": "path", "path": path, "min_count": _count(manifest)} for path in manifest.expected_paths),
        *({"type": "path", "path": path, "absent": True} for path in manifest.absent_paths),
        *({"type": "content", "path": one.path, "regex": one.pattern} for one in manifest.must_contain),
        *({"type": "syntax", "path": path, "language": "bash"} for path in manifest.bash_syntax_check),
    ]


def _count(manifest: Manifest) -> int:
    """Every expected path has to be there, so the count says more only of a single glob."""
    return max(1, manifest.min_file_count) if counts_files(manifest) else 1


def counts_files(manifest: Manifest) -> bool:
    return len(manifest.expected_paths) == 1 and any(letter in manifest.expected_paths[0] for letter in "*?[")


def _since(manifest: Manifest, base: str | None) -> list[dict[str, Any]]:
    if base is None or not manifest.forbidden_paths:
        return []
    return [{"type": "forbidden", "paths": list(manifest.forbidden_paths), "guard": True}]


def is_already_true(document: Document, step: Step, root: Path) -> bool:
    """Whether the tree as it is now, or as earlier steps of the same document leave it, meets the step already."""
    checks = checks_of(step, base=None)
    if not checks:
        return False
    earlier = [one for one in document.steps if one.number < step.number]
    before = frozenset[str]().union(*(_digests(one) for one in earlier))
    left = [check for check in checks if digest_of_check(check) not in before]
    return not left or evaluate(left, Tree(root)).verdict == "pass"


def holds(step: Step, root: Path) -> bool:
    """Whether the tree as it is now meets everything that the step's manifest asks for."""
    checks = checks_of(step, base=None)
    return bool(checks) and evaluate(checks, Tree(root)).verdict == "pass"


@lru_cache(maxsize=512)
def _digests(step: Step) -> frozenset[str]:
    return frozenset(digest_of_check(check) for check in checks_of(step, base=None))
