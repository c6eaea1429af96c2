"""One settings module: order of sources, and refusals that name field, value and what holds instead."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omo import settings

ROOT = Path(__file__).resolve().parents[1]


def write(root: Path, text: str) -> None:
    (root / ".sisyphus").mkdir(exist_ok=True)
    (root / ".sisyphus" / "omo.json").write_text(text, encoding="utf-8")


def test_the_order_is_environment_option_file_default(tmp_path: Path) -> None:
    environ: dict[str, str] = {}
    assert settings.load(environ, str(tmp_path)).values["max_stop_blocks"] == 8
    write(tmp_path, '{"max_stop_blocks": 5}')
    assert settings.load(environ, str(tmp_path)).values["max_stop_blocks"] == 5
    environ["CLAUDE_PLUGIN_OPTION_MAX_STOP_BLOCKS"] = "6"
    assert settings.load(environ, str(tmp_path)).values["max_stop_blocks"] == 6
    environ["OMO_MAX_STOP_BLOCKS"] = "7"
    loaded = settings.load(environ, str(tmp_path))
    assert loaded.values["max_stop_blocks"] == 7
    assert loaded.origins["max_stop_blocks"] == "OMO_MAX_STOP_BLOCKS"
    assert loaded.problems == []


@pytest.mark.parametrize("value", ["0", "-1", "abc", "1.5", "1e3", "", " ", "∞"])
def test_a_number_that_is_none_is_refused_and_the_default_holds(tmp_path: Path, value: str) -> None:
    loaded = settings.load({"OMO_MAX_STOP_BLOCKS": value}, str(tmp_path))
    assert loaded.values["max_stop_blocks"] == 8
    if value:
        (problem,) = loaded.problems
        assert "OMO_MAX_STOP_BLOCKS" in problem
        assert repr(value) in problem
        assert "8" in problem


@pytest.mark.parametrize(("value", "expected"), [("08", 8), (" 5 ", 5), ("64", 64)])
def test_numbers_are_decimal(tmp_path: Path, value: str, expected: int) -> None:
    assert settings.load({"OMO_MAX_STOP_BLOCKS": value}, str(tmp_path)).values["max_stop_blocks"] == expected


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "abc"])
def test_a_cooldown_is_more_than_nothing(tmp_path: Path, value: str) -> None:
    loaded = settings.load({"OMO_COOLDOWN_SECONDS": value}, str(tmp_path))
    assert loaded.values["cooldown_seconds"] == 3.0
    assert len(loaded.problems) == 1


def test_a_refused_value_falls_to_the_next_source(tmp_path: Path) -> None:
    write(tmp_path, '{"max_stop_blocks": 4}')
    loaded = settings.load({"OMO_MAX_STOP_BLOCKS": "abc"}, str(tmp_path))
    assert loaded.values["max_stop_blocks"] == 4
    assert len(loaded.problems) == 1


@pytest.mark.parametrize("value", [True, None, [], {}, "x", 0, 2.5])
def test_the_project_file_is_read_strictly(tmp_path: Path, value: object) -> None:
    write(tmp_path, json.dumps({"max_stop_blocks": value}))
    loaded = settings.load({}, str(tmp_path))
    assert loaded.values["max_stop_blocks"] == 8
    assert len(loaded.problems) == 1


def test_an_unknown_setting_and_a_broken_file_are_said(tmp_path: Path) -> None:
    write(tmp_path, '{"max_stop_block": 4}')
    assert "max_stop_blocks" in settings.load({}, str(tmp_path)).problems[0]
    write(tmp_path, "{")
    assert "not valid JSON" in settings.load({}, str(tmp_path)).problems[0]


@pytest.mark.parametrize(("value", "expected"), [("EXPLICIT", "explicit"), ("off", "off"), ("maybe", "on")])
def test_keyword_modes(tmp_path: Path, value: str, expected: str) -> None:
    assert settings.load({"OMO_KEYWORD": value}, str(tmp_path)).keyword == expected


def test_the_plugin_offers_every_setting_with_the_same_default() -> None:
    manifest = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert {knob.name: knob.default for knob in settings.KNOBS} == {
        name: option["default"] for name, option in manifest["userConfig"].items()
    }


def test_later_shells_are_told_of_every_option() -> None:
    script = (ROOT / "hooks" / "session-start.sh").read_text(encoding="utf-8")
    (names,) = [line for line in script.splitlines() if line.strip().startswith("for name in ")]
    assert names.strip() == f"for name in {' '.join(knob.name.upper() for knob in settings.KNOBS)}; do"
