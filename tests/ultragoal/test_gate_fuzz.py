"""Whatever is in a gate, an inspection answers; and no spoilt gate passes."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omo.ultragoal.gate.rules import inspect
from tests.ultragoal.gates import subject, valid_gate

Place = tuple[str | int, ...]

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


def places_in(value: Any, at: Place = ()) -> Iterator[Place]:
    yield at
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places_in(inner, (*at, key))


def put(gate: Any, place: Place, value: object) -> Any:
    if not place:
        return value
    spoilt = copy.deepcopy(gate)
    target = spoilt
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    return spoilt


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


@given(data=st.data())
@settings(max_examples=80)
def test_an_inspection_of_anything_answers_and_shows_little(project: Path, data: st.DataObject) -> None:
    gate = valid_gate(project)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.sampled_from(list(places_in(gate))))
        gate = put(gate, place, data.draw(JSON))
    found = inspect(gate, subject(project, changed=["a"], control_globs=("a",)))
    assert all(len(str(one)) < 2000 for one in found.defects)
    json.dumps([found.cited, found.replays, found.exemptions, found.notes])


def test_no_single_fact_of_a_gate_may_be_blank(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    texts = [place for place in places_in(gate) if isinstance(value_at(gate, place), str)]
    assert len(texts) == 40
    assert [place for place in texts if not inspect(put(gate, place, " "), subject(tmp_path)).defects] == []


def value_at(gate: Any, place: Place) -> object:
    for key in place:
        gate = gate[key]
    return gate
