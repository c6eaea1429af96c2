"""Plans from before manifests: what is made up for them, and that it is marked so."""

from __future__ import annotations

import re

import pytest

from omo.ultraplan.document import parse, synthesise
from omo.ultraplan.models import Manifest
from tests.ultraplan.plans import plan_text, subject_of


def made_up(**fields: str) -> Manifest:
    document = synthesise(parse(plan_text(1, version=None, step1={"manifest": None, **fields}), "plan.md"))
    assert document.is_legacy_synthesis
    manifest = document.steps[0].manifest
    assert manifest is not None
    return manifest


def test_paths_come_from_files_and_the_pattern_from_the_checkpoint() -> None:
    manifest = made_up()
    assert manifest.is_synthesised
    assert (manifest.expected_paths, manifest.min_file_count) == (("src/part1.py",), 1)
    assert re.search(manifest.commit_message_pattern, subject_of(1))
    assert not re.search(manifest.commit_message_pattern, subject_of(2))
    assert not re.search(manifest.commit_message_pattern, f'Revert "{subject_of(1)}"')


@pytest.mark.parametrize(
    ("files", "paths"),
    [
        ("none", ()),
        ("src/a.py, ./src/b.py (new)", ("src/a.py", "src/b.py")),
        ("`/etc/passwd`, `../x`, `src/a.py`", ("src/a.py",)),
        ("whatever is needed", ()),
    ],
)
def test_only_paths_of_the_project_are_taken(files: str, paths: tuple[str, ...]) -> None:
    assert made_up(Files=files).expected_paths == paths


@pytest.mark.parametrize(
    ("checkpoint", "pattern"),
    [
        ("none", ""),
        ("commit your work", ""),
        ('git commit -m "$MESSAGE"', ""),
        ('git commit -m "{message}"', ""),
        ('git commit -m "feat(x): {what}"', r"^feat\(x\):"),
        ("`git add a && git commit -am 'fix(x): stop (again)'`", r"^fix\(x\):\ stop\ \(again\)"),
    ],
)
def test_only_what_is_known_of_the_message_is_taken(checkpoint: str, pattern: str) -> None:
    assert made_up(Checkpoint=checkpoint).commit_message_pattern == pattern


def test_a_strict_plan_gets_nothing_made_up() -> None:
    document = synthesise(parse(plan_text(2, step1={"manifest": None}), "plan.md"))
    assert document.steps[0].manifest is None
    assert not document.is_legacy_synthesis


def test_a_manifest_that_is_there_is_kept() -> None:
    document = parse(plan_text(2, version="1.6", step1={"manifest": None}), "plan.md")
    first, second = synthesise(document).steps
    assert second == document.steps[1]
    assert first.manifest is not None
    assert first.manifest.is_synthesised
