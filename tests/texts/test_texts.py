"""The rows, and the recorder that holds the suite to them."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest

from tests import texts
from tests.project import Project
from tests.texts import accept, heard, rows
from tests.texts.rows import AGENT, BOTH, USER, Row, Table

SITUATION = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
SAYS = ("says", "says_to_user", "says_to_agent")
STARTED = Row("run-started", AGENT, "Run {run} has {number} criteria, and {number} are open.")
NOTHING = Row("stop-nothing-goes-on", USER, "nothing goes on now")


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    table = Table([STARTED, NOTHING])
    monkeypatch.setattr(heard, "table", lambda: table)
    return table


@pytest.fixture
def recorder(table: Table) -> heard.Recorder:
    return heard.Recorder()


def test_every_row_is_in_the_file_of_its_subject_once_and_in_order() -> None:
    names = []
    for path in rows.files():
        kept = rows.rows_of(path)
        assert path.read_text(encoding="utf-8") == rows.written(kept)
        assert {row.name.partition("-")[0] for row in kept} == {path.stem}
        names += [row.name for row in kept]
    assert len(names) == len(set(names))


def test_every_situation_that_a_test_names_has_a_row_with_its_placeholders() -> None:
    unknown = []
    for path in rows.HERE.parent.rglob("*.py"):
        if path.parent == rows.HERE or "says" not in (source := path.read_text(encoding="utf-8")):
            continue
        for call in ast.walk(ast.parse(source)):
            if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in SAYS:
                given = [str(each.value) for each in call.args[:2] if isinstance(each, ast.Constant)]
                values = {keyword.arg for keyword in call.keywords if keyword.arg}
                for name in filter(SITUATION.fullmatch, given):
                    row = rows.table().by_name.get(name)
                    if row is None or values - set(row.parts[1::2]):
                        unknown.append(f"{path.name}:{call.lineno} {name} {values}")
    assert unknown == []


def test_every_row_says_something_of_omos_own() -> None:
    assert [row.name for row in rows.table().rows if row.weight < 4] == []


def test_a_line_is_told_sentence_by_sentence(table: Table) -> None:
    told, unknown = table.told("omo: run r1 has 2 criteria, and 2 are open. Nothing goes on now. The sun shines today.")
    assert [(each.row, each.values) for each in told] == [(STARTED, {"run": "r1", "number": "2"}), (NOTHING, {})]
    assert unknown == ["The sun shines today."]


def test_a_placeholder_has_one_value(table: Table) -> None:
    assert table.match("Run r1 has 2 criteria, and 1 are open.") is None


def test_a_situation_is_asserted_with_its_values(table: Table) -> None:
    text = "something else\n  fix: nothing goes on now; run r1 has 2 criteria, and 2 are open"
    assert texts.says_by(table, text, "run-started", number=2, run="r1")
    assert not texts.says_by(table, text, "run-started", number=3)
    assert not texts.says_by(table, "something else", "stop-nothing-goes-on")
    with pytest.raises(LookupError, match="stop-nothing-goes-on"):
        texts.says_by(table, text, "stop-nothing-goes")
    with pytest.raises(LookupError, match="iteration"):
        texts.says_by(table, text, "run-started", iteration=2)


def test_a_new_message_is_named_with_what_accepts_it(recorder: heard.Recorder, tmp_path: Path) -> None:
    recorder.command(tmp_path, ["ulw", "done"], None, "", "omo: the sun shines for it's noon\n")
    complaint = recorder.complaint()
    assert "omo: the sun shines for it's noon" in complaint
    command = shlex.split(complaint.splitlines()[-1])
    assert command[2:] == ["SUBJECT-SITUATION", BOTH, "omo: the sun shines for it's noon"]


def test_a_changed_message_is_named_with_its_row_and_keeps_its_placeholders(
    recorder: heard.Recorder, tmp_path: Path
) -> None:
    recorder.hook(tmp_path, "Stop", {}, '{"decision": "block", "reason": "Run r7 has 3 criteria, and 3 stay open."}')
    (command,) = [line for line in recorder.complaint().splitlines() if "accept.py run-started" in line]
    assert shlex.split(command)[2:] == [
        "run-started",
        AGENT,
        "Run {run} has {number} criteria, and {number} stay open.",
    ]


def test_what_is_for_one_reader_is_not_told_to_the_other(recorder: heard.Recorder, tmp_path: Path) -> None:
    recorder.hook(tmp_path, "Stop", {}, '{"decision": "block", "reason": "nothing goes on now"}')
    assert recorder.complaint().startswith("stop-nothing-goes-on is not for the agent")


@pytest.mark.parametrize(
    "printed",
    [
        "fix: omo next",  # a command
        "G001 complete",  # two words
        "the words that the test has typed",
        "the words in a file of the project",
        "  an indented line of the output",
    ],
)
def test_what_is_no_message_needs_no_row(recorder: heard.Recorder, tmp_path: Path, printed: str) -> None:
    (tmp_path / "README.md").write_text("These are the words in a file of the project.\n")
    recorder.command(tmp_path, ["ulw", "start"], "the words that the test has typed", f"{printed}\n", "")
    assert recorder.complaint() == ""


def test_accepting_changes_one_row_alone(tmp_path: Path) -> None:
    kept = [NOTHING, Row("stop-other", AGENT, "another text of a Stop")]
    (tmp_path / "stop.txt").write_text(rows.written(kept))
    accept.accept(tmp_path, Row(NOTHING.name, USER, "nothing goes on any more"))
    assert rows.rows_of(tmp_path / "stop.txt") == [Row(NOTHING.name, USER, "nothing goes on any more"), kept[1]]
    accept.accept(tmp_path, Row("stop-third", USER, "something new is told"))
    assert len(rows.rows_of(tmp_path / "stop.txt")) == 3
    accept.accept(tmp_path, Row("stop-third", AGENT, "something new is told"))
    assert rows.rows_of(tmp_path / "stop.txt")[-1].reader == BOTH
    with pytest.raises(ValueError, match="no row"):
        accept.accept(tmp_path, Row("stop", USER, "a name of one word"))


def test_a_test_that_prints_an_unknown_message_fails(
    project: Project, recorder: heard.Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as context:
        context.setattr(heard, "RECORDER", recorder)
        project.user("pin")
        project.prompt("ulw mend it")
    assert "pin is no command of the shell" in recorder.complaint()
    assert {each.reader for each in recorder.unknown.values()} == {AGENT, BOTH}
