"""One settings module: order of sources, and refusals that name field, value and what holds instead."""

from __future__ import annotations

import json
import re
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


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("tokens", "2M", 2_000_000),
        ("tokens", "500k", 500_000),
        ("tokens", "off", None),
        ("minutes", "1.5", 1.5),
        ("agents", "20", 20),
        ("agents", "1.5", "must be a number above 0"),
        ("tokens", "0", "must be a number above 0"),
        ("tokens", "many", "must be a number above 0"),
        ("minutes", "-5", "must be a number above 0"),
    ],
)
def test_a_budget_is_an_amount_or_off_and_by_default_none(
    tmp_path: Path, name: str, value: str, expected: object
) -> None:
    assert settings.load({}, str(tmp_path)).budget == {}
    loaded = settings.load({f"OMO_BUDGET_{name.upper()}": value}, str(tmp_path))
    if isinstance(expected, str):
        assert expected in loaded.problems[0]
        assert loaded.problems[0].endswith(" none")
        expected = None
    assert loaded.budget.get(name) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2M tokens, 90 minutes, 20 agents", {"tokens": 2_000_000, "minutes": 90.0, "agents": 20}),
        ("1.5h", {"minutes": 90.0}),
        ("2 M tokens 90min", {"tokens": 2_000_000, "minutes": 90.0}),
        ("1,500 tokens 1 agent", {"tokens": 1500, "agents": 1}),
        ("500k tokens", {"tokens": 500_000}),
        ("off", {}),
        *((wrong, "is no budget") for wrong in (",", "2M", "many tokens", "0 agents", "1.5 agents", "tokens 5", "5 m")),
    ],
)
def test_a_budget_is_said_in_one_line(tmp_path: Path, value: str, expected: object) -> None:
    loaded = settings.load({"CLAUDE_PLUGIN_OPTION_BUDGET": value}, str(tmp_path))
    if isinstance(expected, str):
        assert expected in loaded.problems[0]
        expected = {}
    assert loaded.budget == expected


def test_what_was_answered_before_there_was_one_line_still_counts(tmp_path: Path) -> None:
    environ = {"CLAUDE_PLUGIN_OPTION_BUDGET_TOKENS": "1M", "CLAUDE_PLUGIN_OPTION_MAX_HOURS": "2"}
    loaded = settings.load(environ, str(tmp_path))
    assert (loaded.budget, loaded.values["max_hours"]) == ({"tokens": 1_000_000}, 2.0)
    both = settings.load({**environ, "OMO_BUDGET": "9M tokens, 5 agents", "OMO_BUDGET_AGENTS": "off"}, str(tmp_path))
    assert both.budget == {"tokens": 1_000_000}


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
    for command in (["make"], " "):
        write(tmp_path, json.dumps({"gates": {"tests": command}}))
        assert "gates must have a command for 'tests'" in settings.load({}, str(tmp_path)).problems[0]
    write(tmp_path, "{")
    assert "not valid JSON" in settings.load({}, str(tmp_path)).problems[0]


@pytest.mark.parametrize(("value", "expected"), [("EXPLICIT", "explicit"), ("off", "off"), ("maybe", "on")])
def test_keyword_modes(tmp_path: Path, value: str, expected: str) -> None:
    assert settings.load({"OMO_KEYWORD": value}, str(tmp_path)).keyword == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("1", True), ("true", True), ("ON", True), ("0", False), ("false", False), ("perhaps", False)],
)
def test_a_switch_is_on_or_off(tmp_path: Path, value: str, expected: bool) -> None:
    loaded = settings.load({"OMO_ATTENDED": value, "OMO_EXPERIMENT": value}, str(tmp_path))
    assert loaded.attended is expected
    assert bool(loaded.proof_minutes) is (expected or value == "perhaps")
    assert bool(loaded.problems) is (value == "perhaps")


def test_limits_are_the_numbers_alone(tmp_path: Path) -> None:
    assert set(settings.load({}, str(tmp_path)).limits) == {
        "max_stop_blocks",
        "cooldown_seconds",
        "max_total_blocks",
        "max_hours",
    }


def test_a_project_declares_what_controls_a_computer(tmp_path: Path) -> None:
    assert settings.load({}, str(tmp_path)).computer_control == ()
    write(tmp_path, '{"computer_control": ["src/input/**", "native"]}')
    loaded = settings.load({}, str(tmp_path))
    assert loaded.computer_control == ("src/input/**", "native")
    assert loaded.problems == []


@pytest.mark.parametrize("name", ["OMO_COMPUTER_CONTROL", "CLAUDE_PLUGIN_OPTION_COMPUTER_CONTROL"])
def test_no_shell_declares_computer_control(tmp_path: Path, name: str) -> None:
    write(tmp_path, '{"computer_control": ["native/**"]}')
    assert settings.load({name: "[]"}, str(tmp_path)).computer_control == ("native/**",)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("native/**", "a list of globs"),
        ({"native": True}, "a list of globs"),
        (None, "a list of globs"),
        ([1], "not 1"),
        ([""], "not ''"),
        (["ok", " "], "not ' '"),
        (["/etc/**"], "'/etc/**'"),
        (["../x"], "'../x'"),
        (["a\\b"], "inside the project"),
    ],
)
def test_globs_that_cannot_be_used_are_said(tmp_path: Path, value: object, said: str) -> None:
    write(tmp_path, json.dumps({"computer_control": value}))
    loaded = settings.load({}, str(tmp_path))
    assert loaded.computer_control == ()
    (problem,) = loaded.problems
    assert "computer_control" in problem
    assert said in problem


def test_the_plugin_asks_for_three_settings_with_the_same_defaults() -> None:
    manifest = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert {knob.name: knob.default for knob in settings.KNOBS if knob.name in settings.ASKED} == {
        name: option.get("default") for name, option in manifest["userConfig"].items()
    }
    assert len(manifest["userConfig"]) == 3


def test_later_shells_are_told_of_every_option() -> None:
    script = re.sub(r"\\\n +", "", (ROOT / "hooks" / "session-start.sh").read_text(encoding="utf-8"))
    (names,) = [line for line in script.splitlines() if line.strip().startswith("for name in ")]
    names_of_all = [knob.name.upper() for knob in settings.KNOBS]
    assert names.strip() == f"for name in {' '.join(names_of_all)}; do"
