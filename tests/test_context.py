"""Which session is meant: what looks is helped, what changes is not guessed at."""

from __future__ import annotations

from pathlib import Path

import pytest

from omo.context import Context
from omo.errors import BadInput
from omo.state import paths, runtime
from omo.state.rows import read_row
from tests import texts

NOW = 1_771_780_801.0


def begin(root: Path, name: str, *, now: float = NOW, live: bool = True) -> None:
    def decide(row: object) -> runtime.Change:
        return runtime.Change(None, read_row({"ulw": {"enabled": live}}), [{"kind": "activated"}])

    state = paths.state_dir(str(root), {})
    runtime.change_session(state, name, decide, actor="user", now=now, wait=5)


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return Context({"OMO_PROJECT_DIR": str(tmp_path)}, str(tmp_path), NOW, has_terminal=True)


@pytest.fixture
def three(context: Context, tmp_path: Path) -> Context:
    """Two whose ids begin alike, and one that only left a directory."""
    begin(tmp_path, "aaa-1", now=NOW + 2, live=False)
    begin(tmp_path, "aaa-2", now=NOW + 1, live=False)
    Path(paths.session_dir(context.state, "left-3")).mkdir()
    return context


def test_what_looks_takes_an_id_or_a_unique_beginning(three: Context) -> None:
    assert [three.looked_at(name) for name in ("aaa-1", "left-3", "le")] == ["aaa-1", "left-3", "left-3"]
    (note,) = three.notes
    assert texts.says(note, "session-note-beginning", session="left-3", given="le")


def test_an_unknown_or_doubtful_one_names_the_known(three: Context) -> None:
    with pytest.raises(BadInput, match="is no session of this project") as unknown:
        three.looked_at("nonsense")
    assert unknown.value.fix == "name one: aaa-1, aaa-2, left-3"
    with pytest.raises(BadInput, match="is the beginning of several sessions") as several:
        three.looked_at("aaa")
    assert several.value.fix == "name one: aaa-1, aaa-2"


def test_an_id_that_no_file_can_have_is_known_by_its_directory(three: Context) -> None:
    Path(paths.session_dir(three.state, "odd/../id")).mkdir()
    assert three.looked_at("odd/../id") == "odd/../id"


def test_without_a_name_the_host_then_the_live_then_the_newest(three: Context, tmp_path: Path) -> None:
    assert three.looked_at(None) == "aaa-1"
    begin(tmp_path, "live-old", now=NOW - 5)
    assert three.looked_at(None) == "live-old"
    begin(tmp_path, "live-new", now=NOW - 4)
    assert three.looked_at(None) == "live-new"
    newest, only_live, newest_live = three.notes
    assert texts.says(newest, "session-note-newest", session="aaa-1")
    assert texts.says(only_live, "session-note-only-live", session="live-old")
    assert texts.says(newest_live, "session-note-newest-live", session="live-new", count=2)
    inside = Context({**three.environ, "CLAUDE_CODE_SESSION_ID": "unheard-of"}, three.cwd, NOW)
    assert inside.looked_at(None) == "unheard-of"


def test_where_there_is_no_session_nothing_is_made_up(context: Context) -> None:
    with pytest.raises(BadInput, match="no session is known in this project"):
        context.looked_at(None)


def test_a_file_that_nobody_can_read_refuses_no_name(three: Context) -> None:
    Path(paths.runtime_file(three.state)).write_text("{")
    assert three.looked_at("anything") == "anything"
    assert three.session("aaa") == "aaa"


def test_what_changes_takes_a_new_id_but_none_that_was_cut_off(three: Context) -> None:
    assert three.session("brand-new") == "brand-new"
    assert three.session("aaa-1-and-more") == "aaa-1-and-more"
    assert three.session("left-3") == "left-3"
    for cut in ("aaa", "left"):
        with pytest.raises(BadInput, match=f"--session {cut} is the beginning of a session's id") as refused:
            three.session(cut)
        assert "did you mean" in refused.value.fix


def test_without_a_terminal_nobody_is_a_person(context: Context) -> None:
    assert context.actor == "user"
    assert Context(context.environ, context.cwd, context.now).actor == "agent"


def test_an_agent_whose_host_names_no_session_says_which_is_its_own(three: Context) -> None:
    inside = Context({**three.environ, "CLAUDECODE": "1"}, three.cwd, three.now, has_terminal=True)
    assert inside.session("aaa-2") == "aaa-2"
