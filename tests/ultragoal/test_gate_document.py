"""How a gate is handed in, what identifies it, the template, the published schema, and what it costs."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from omo.errors import BadInput
from omo.workflows.ultragoal.gate import proof, rules
from omo.workflows.ultragoal.gate.models import SURFACES, load
from omo.workflows.ultragoal.receipts import canonical_digest as digest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "quality-gate.md"


def test_what_cannot_be_read_is_refused_with_the_way_to_a_gate(tmp_path: Path) -> None:
    """A key given twice could show one value to a reader and another to the inspection."""
    (tmp_path / "huge.json").write_text('{"a": "' + "x" * 2_000_000 + '"}', encoding="utf-8")
    (tmp_path / "gate.yaml").write_text("iteration: {at: 2026-01-01}", encoding="utf-8")
    (tmp_path / "half.json").write_text('{"a": ["x\\ud800y"]}', encoding="utf-8")
    for given in ("gate.json", "no/such.json", "x" * 5000, "a\0b", "", " \n"):
        with pytest.raises(BadInput) as caught:
            load(given, tmp_path)
        assert "omo ultragoal gate init" in caught.value.fix
    texts = ("{", "{'a': 1}", '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 100_000)
    for given in (*texts, ".", "huge.json", "gate.yaml", "half.json"):
        with pytest.raises(BadInput):
            load(given, tmp_path)


@pytest.mark.parametrize("depth", [500, 900, 990, 5000])
def test_a_deep_gate_is_read_or_refused_and_never_a_crash(tmp_path: Path, depth: int) -> None:
    text = '{"a": ' + "[" * depth + "]" * depth + "}"
    with contextlib.suppress(BadInput):
        assert digest(load(text, tmp_path))


def test_the_digest_knows_content_and_not_layout() -> None:
    assert digest({"a": 1, "b": {"d": 1, "c": "ü"}}) == digest({"b": {"c": "ü", "d": 1}, "a": 1})
    assert digest({"a": [1, 2]}) != digest({"a": [2, 1]})
    assert digest({"a": True}) != digest({"a": 1})
    assert re.fullmatch("[0-9a-f]{64}", digest({}))


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


def test_the_docs_list_every_shape_surface_and_case() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [word for word in proof.SHAPES if f"`{word}`" not in page] == []
    assert [name for name in (*SURFACES, *rules.SUITE) if f"`{name}`" not in page] == []
