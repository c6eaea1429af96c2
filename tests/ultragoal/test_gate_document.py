"""How a gate is handed in, what identifies it, the template, the published schema, and what it costs."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput
from omo.ultragoal.gate import proof, rules
from omo.ultragoal.gate.models import SURFACES, digest, load
from omo.ultragoal.gate.rules import inspect, template
from tests.ultragoal.gates import screenshot, subject, transcript
from tests.ultragoal.test_gate_replay import pin

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "quality-gate.md"


@pytest.mark.parametrize("text", ['{"a": [1]}', '  {"a": [1]}\n'])
def test_text_that_begins_like_json_is_json(tmp_path: Path, text: str) -> None:
    assert load(text, tmp_path) == {"a": [1]}


def test_anything_else_names_a_file(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "gate.json").write_text('{"a": 1}', encoding="utf-8")
    assert load("sub/gate.json", tmp_path) == {"a": 1}
    assert load("gate.json", tmp_path / "sub") == {"a": 1}
    assert load(str(tmp_path / "sub" / "gate.json"), "/") == {"a": 1}


@pytest.mark.parametrize("given", ["gate.json", "no/such.json", "passed", "x" * 5000, "a\0b"])
def test_a_file_that_is_missing_is_named(tmp_path: Path, given: str) -> None:
    with pytest.raises(BadInput) as caught:
        load(given, tmp_path)
    assert given[:50].replace("\0", " ") in caught.value.message
    assert "omo ultragoal gate init" in caught.value.fix


@pytest.mark.parametrize(
    "given", ["", " \n", "{", '{"a": 1', "{'a': 1}", '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 100_000]
)
def test_json_that_cannot_be_read_is_refused(tmp_path: Path, given: str) -> None:
    """A key given twice could show one value to a reader and another to the inspection."""
    with pytest.raises(BadInput):
        load(given, tmp_path)


@pytest.mark.parametrize("depth", [500, 900, 990, 5000])
def test_a_deep_gate_is_read_or_refused_and_never_a_crash(tmp_path: Path, depth: int) -> None:
    text = '{"a": ' + "[" * depth + "]" * depth + "}"
    with contextlib.suppress(BadInput):
        assert digest(load(text, tmp_path))


def test_values_that_json_has_not_are_refused(tmp_path: Path) -> None:
    (tmp_path / "gate.yaml").write_text("iteration: {at: 2026-01-01}", encoding="utf-8")
    with pytest.raises(BadInput, match="no JSON file can"):
        load("gate.yaml", tmp_path)


def test_a_directory_or_a_huge_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "huge.json").write_text('{"a": "' + "x" * 2_000_000 + '"}', encoding="utf-8")
    for given in (".", "huge.json"):
        with pytest.raises(BadInput):
            load(given, tmp_path)


def test_the_digest_knows_content_and_not_layout() -> None:
    assert digest({"a": 1, "b": {"d": 1, "c": "ü"}}) == digest({"b": {"c": "ü", "d": 1}, "a": 1})
    assert digest({"a": [1, 2]}) != digest({"a": [2, 1]})
    assert digest({"a": True}) != digest({"a": 1})
    assert re.fullmatch("[0-9a-f]{64}", digest({}))


LACKING = {"BLANK", "EMPTY", "NOT_RERUN"}


@pytest.mark.parametrize("asked", [False, True])
def test_the_template_lacks_facts_and_nothing_else(tmp_path: Path, asked: bool) -> None:
    gate = template("G002", "Normalize records", "Map raw rows.", suite=asked)
    control: dict[str, Any] = {"changed": ["native/x.c"], "control_globs": ("native/**",)} if asked else {}
    assert {one.code for one in inspect(gate, subject(tmp_path, **control)).defects} == LACKING
    names = [row["id"] for row in gate["executorQa"]["adversarialCases"]]
    assert names == ["case-1", *(rules.SUITE if asked else [])]


def test_the_template_has_every_key_a_gate_needs(tmp_path: Path) -> None:
    assert "MISSING" not in {
        one.code for one in inspect(template("G1", "t", "o", suite=False), subject(tmp_path)).defects
    }


def test_the_published_schema_is_what_the_models_say() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "make_schema.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_schema_is_closed_at_the_top_and_names_every_surface() -> None:
    schema = json.loads((ROOT / "docs" / "quality-gate.schema.json").read_text(encoding="utf-8"))
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["architectReview", "executorQa", "iteration"]
    assert schema["$defs"]["SurfaceEvidence"]["properties"]["surface"]["enum"] == list(SURFACES)


def test_the_example_in_the_docs_passes(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    (text,) = [block for block in re.findall(r"```json\n(.+?)```", page, re.S) if "architectReview" in block]
    (replayed,) = [block for block in re.findall(r"```json\n(.+?)```", page, re.S) if "recordedStdout" in block]
    folder = tmp_path / "artifacts"
    screenshot(folder / "list.png")
    transcript(folder / "list.json")
    (folder / "replay.json").write_text(replayed, encoding="utf-8")
    (folder / "attacks.txt").write_text("12 malformed files, 12 refused\n", encoding="utf-8")
    tool = tmp_path / "intake"
    tool.write_text("#!/bin/sh\ntest \"$*\" = '--check a.csv' && echo 3 rows, 1 refused\n", encoding="utf-8")
    tool.chmod(0o755)
    pin(tmp_path, ["./intake", "..."])
    found = inspect(json.loads(text), subject(tmp_path))
    assert (found.defects, found.notes) == ([], [])
    assert len(found.cited) == 4
    assert [one["executable"] for one in found.replays] == [str(tmp_path / "intake")]


def test_the_docs_list_every_word_a_kind_can_have() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [word for word in proof.KNOWN_KINDS if f"`{word}`" not in page] == []
    assert [name for name in (*SURFACES, *rules.SUITE) if f"`{name}`" not in page] == []
