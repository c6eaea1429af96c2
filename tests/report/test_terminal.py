"""The terminal view at 80 columns, kept as text files; tests/report/kept.py says how to write them anew."""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from omo.views import lines, terminal
from omo.views.project import ProjectView
from omo.work.status import Command, Item, NextStep
from tests import texts
from tests.report import kept
from tests.report.states import SCENES, Scene, scene, view

STYLE = re.compile(r"\x1b\[([0-9;]*)m")


def rendered(view: ProjectView, width: int, *, everything: bool = False, color: bool = True) -> str:
    return terminal.render(lines.project_lines(view, everything=everything), width, color=color)


def drawn(view: ProjectView, width: int, *, everything: bool = False) -> list[str]:
    return [kept.steady(STYLE.sub("", line)) for line in rendered(view, width, everything=everything).splitlines()]


def widest(lines: list[str]) -> int:
    """But for commands, which stay whole so that they can be copied."""
    return max((cell_len(line) for line in lines if not line.startswith("  $ ")), default=0)


@pytest.mark.parametrize("name", SCENES)
def test_the_view_is_the_one_that_was_looked_at(name: str) -> None:
    found = drawn(view(name), 80)
    assert widest(found) <= 80
    kept.agree(f"{name}-80", "\n".join(found))


def test_every_snapshot_belongs_to_a_test() -> None:
    listed = {path.stem for path in kept.KEPT.glob("*.txt")}
    assert listed == {f"{name}-80" for name in SCENES} | {f"{name}-plain" for name in SCENES}


@pytest.mark.parametrize("width", [1, 20, 40, 61, 200])
@pytest.mark.parametrize("name", ["hostile", "ultraplan-missing-step", "several-sessions"])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    assert widest(drawn(view(name), width, everything=True)) <= max(width, terminal.NARROWEST)


def test_nothing_that_state_says_reaches_the_terminal_as_an_order() -> None:
    text = rendered(view("hostile"), 80, everything=True, color=False)
    without_styles = STYLE.sub("", text)
    assert {letter for letter in without_styles if not letter.isprintable()} == {"\n"}
    assert "[red]bold[/red]" in without_styles
    assert ":smile:" in without_styles
    assert len(text) < 20_000


@pytest.mark.parametrize("name", sorted(set(SCENES) - {"hostile"}))
@pytest.mark.parametrize("width", [44, 60])
def test_no_word_is_broken_in_a_narrow_terminal(name: str, width: int) -> None:
    def words(columns: int) -> set[str]:
        text = STYLE.sub("", rendered(view(name), columns))
        return {word for word in text.split() if len(word) <= 24}

    assert words(200) <= words(width)


def test_colours_are_the_eight_that_every_terminal_has() -> None:
    text = rendered(view("ultragoal-five-goals"), 80)
    assert set(STYLE.findall(text)) <= {
        *("0", "1", "2", "31", "32", "33", "36", "1;31", "1;32", "1;33", "1;36", "2;33"),
    }


@pytest.mark.parametrize(
    ("name", "said", "wanted"),
    [
        ("ultragoal-five-goals", "G002: not reviewed independently", "yellow"),
        ("skipped-verification", "gate docs was not run in this run", "yellow"),
        ("damaged-ledger", "is damaged: it goes on", "red"),
        ("exhausted", "8 blocks without verified progress", "red"),
    ],
)
def test_what_must_not_be_overlooked_has_its_colour(name: str, said: str, wanted: str) -> None:
    styles = [style for line in lines.project_lines(view(name)) for text, style in line.cells if said in text]
    assert wanted in " ".join(styles).split()


def with_work(view: ProjectView, **changes: Any) -> ProjectView:
    one = view.sessions[0]
    assert one.works
    return view._replace(sessions=[one._replace(works=[one.works[0]._replace(**changes)])])


def test_many_closed_goals_are_a_number_until_they_are_asked_for() -> None:
    done = [Item(f"G{n:03}", f"Part {n}", "complete", "done", receipt="fresh") for n in range(1, 31)]
    odd = Item("G031", "Odd", "complete", "done", receipt="fresh", overrides=("not reviewed independently",))
    seen = with_work(view("ultragoal-five-goals"), items=(*done, odd, Item("G032", "Last", "active", "active")))
    short = "\n".join(drawn(seen, 80))
    assert texts.says(short, "status-closed-items-left-out", left_out=30)
    assert "G031" in short
    assert "G032" in short
    assert "G001" not in short
    assert "G001" in "\n".join(drawn(seen, 80, everything=True))


def test_a_long_command_is_never_cut_and_can_be_pasted() -> None:
    command = 'omo plan finish --failed 2 --error "' + "a long story " * 20 + '" --tried TEXT ' + "x" * 300
    seen = with_work(
        view("ultragoal-five-goals"), next=NextStep("x", "because", (Command(tuple(shlex.split(command))),))
    )
    found = drawn(seen, 80)
    assert found[-1] == f"  $ {command}"


def test_wide_letters_take_two_cells() -> None:
    items = (Item("G001", "読む" * 60, "active", "active"), Item("G002", "é" * 300, "pending", "open"))
    found = drawn(with_work(view("ultragoal-five-goals"), items=items), 80)
    assert widest(found) <= 80


def test_the_bar_is_full_only_when_all_is_done() -> None:
    bars = [lines._bar(done, 1000) for done in (0, 1, 999, 1000)]
    assert [bar.count("█") for bar in bars] == [0, 1, 13, 14]


def test_a_session_without_work_names_the_others() -> None:
    found = drawn(replace(scene("several-sessions"), here="somebody-else").view(), 80)
    assert texts.says(found[0], "status-nothing-on-in-session", session="somebody-else")
    assert found[2] == "Other sessions"


def test_what_stands_above_everything_is_said_first(tmp_path: Path) -> None:
    made = SCENES["ulw-without-gates"](tmp_path / "p")
    os.makedirs(made.root / ".sisyphus", exist_ok=True)
    (made.root / ".sisyphus" / "omo.json").write_text('{"max_stop_blocks": -1}')
    found = drawn(made.view(OMO_DISABLE="1"), 200)
    assert found[0].startswith("Problem    OMO_DISABLE ")
    assert found[1].startswith("Problem    .sisyphus/omo.json: max_stop_blocks: -1 ")
    assert texts.says("\n".join(found), "status-next-stop-disabled")


def test_a_work_that_another_hand_wrote_is_shown_as_unreadable(tmp_path: Path) -> None:
    made = SCENES["ulw-without-gates"](tmp_path / "p")
    made.edit_row(lambda row: row["work"].update(verify={"state": "active", "runs": 7, "open": 1, "total": 2}))
    found = "\n".join(drawn(made.view(), 120))
    assert texts.says(found, "status-ledger-not-written-by-omo", kind="verify")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=20), inner, max_size=3),
    max_leaves=8,
)
kinds = st.sampled_from(["ulw", "ultragoal", "ultraplan", "laps", "verify"]) | st.text(max_size=30)
works = st.dictionaries(kinds, st.dictionaries(st.sampled_from(["state", "open", "total", "why", "run"]), anything))
states = st.fixed_dictionaries({"state": st.sampled_from(["active", "waiting", "ended"])})
rows = st.fixed_dictionaries(
    {"ulw": st.just({"enabled": True}) | anything, "work": works | st.dictionaries(kinds, states) | anything},
    optional={"lastUsedAt": anything, "stopContinuation": anything},
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sessions=st.dictionaries(st.text(max_size=80), rows | anything, max_size=4), width=st.integers(40, 130))
@example(sessions={"\x1b": {"ulw": {"enabled": True}, "work": {"ultragoal": {"run": "0"}}}}, width=40)
def test_whatever_stands_in_the_file_is_drawn_within_the_width(
    tmp_path: Path, sessions: dict[str, Any], width: int
) -> None:
    made = Scene(tmp_path, here=next(iter(sessions), ""))
    os.makedirs(made.state, exist_ok=True)
    Path(made.state, "runtime.local.json").write_text(json.dumps({"version": 4, "sessions": sessions}))
    seen = made.view()
    found = drawn(seen, width, everything=True)
    assert widest(found) <= width
    told = "".join(found) + lines.plain(lines.project_lines(seen, everything=True)).replace("\n", "")
    assert told.isprintable()
