"""While another loop holds the session, omo says so once and sends nothing back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from omo.hosts import claude
from tests.project import SESSION, Project

Row = dict[str, Any]

SET: Row = {"type": "goal_status", "met": False, "sentinel": True, "condition": "all tests pass"}
NOT_YET: Row = {"type": "goal_status", "met": False, "condition": "all tests pass", "reason": "no tests seen"}
MET: Row = {**NOT_YET, "met": True, "iterations": 2}
CLEARED: Row = {**SET, "met": True}
IMPOSSIBLE: Row = {**NOT_YET, "failed": True}
TOLD = "stop-other-loop-is-on"
RALPH = """\
---
active: true
iteration: 3
session_id: {session}
max_iterations: {most}
completion_promise: "DONE"
started_at: "2026-02-22T17:20:01Z"
---

Build it. iteration: x
"""


@pytest.fixture
def running(project: Project) -> Project:
    project.prompt("ulw fix the flaky tests")
    return project


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return tmp_path / "transcript.jsonl"


def write(path: Path, *statuses: Row, filler: int = 0) -> None:
    """Rows as the client writes them, with what a model said behind each."""
    said = json.dumps({"type": "assistant", "message": {"content": "x" * filler}}) + "\n"
    with path.open("a", encoding="utf-8") as file:
        for status in statuses:
            row = {"parentUuid": "1", "type": "attachment", "attachment": status, "sessionId": SESSION}
            file.write(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n" + said)


def stop(project: Project, transcript: Path) -> Any:
    project.now += 60
    return project.stop(transcript_path=str(transcript), last_assistant_message=f"at {project.now}")


def test_a_goal_of_the_client_is_told_once_and_holds_in_place_of_omo(running: Project, transcript: Path) -> None:
    write(transcript, SET)
    told = stop(running, transcript)
    assert set(told.json) == {"systemMessage"}
    assert told.says_to_user(TOLD, loop="/goal", about=SET["condition"], ends="/goal clear")
    write(transcript, NOT_YET)
    stop(running, transcript).assert_silent()
    assert running.row()["ulw"]["totalBlocks"] == 0
    explained = running.agent("explain", "stop")
    assert explained.says("explain-decision", session=running.session, decision="allow")
    assert "=> other-loop" in explained.out
    assert explained.says("explain-other-loop", loop="/goal", about=SET["condition"])
    assert explained.says("explain-other-loop-ends", command="/goal clear")
    write(transcript, MET)
    assert stop(running, transcript).blocks
    assert "=> block" in running.agent("explain", "stop").out
    write(transcript, {**SET, "condition": "another one"})
    assert "(another one)" in stop(running, transcript).message


@pytest.mark.parametrize("last", [MET, CLEARED, IMPOSSIBLE])
def test_a_goal_that_is_over_holds_nothing(running: Project, transcript: Path, last: Row) -> None:
    write(transcript, SET, NOT_YET, last)
    assert stop(running, transcript).blocks


def test_the_end_of_the_work_is_told_also_beside_a_goal(running: Project, transcript: Path) -> None:
    running.check("ulw", "done", "--because", "there was nothing to fix")
    write(transcript, SET)
    assert stop(running, transcript).says_to_user("end-on-agents-word")
    assert running.events()[-1]["rule"] == "done"


def test_what_a_tool_shows_of_a_goal_is_no_goal(running: Project, transcript: Path) -> None:
    shown = {"type": "user", "toolUseResult": {"attachment": SET}, "message": {"content": json.dumps(SET)}}
    transcript.write_text(json.dumps(shown, separators=(",", ":")) + "\n{torn", encoding="utf-8")
    assert stop(running, transcript).blocks


def test_a_goal_is_found_in_a_long_transcript_and_one_that_is_set_between_two_blocks(
    running: Project, transcript: Path
) -> None:
    write(transcript, {**SET, "met": True}, filler=300_000)
    assert stop(running, transcript).blocks
    write(transcript, {**SET, "met": True}, SET, filler=300_000)
    assert not stop(running, transcript).blocks


@pytest.mark.parametrize(("session", "most"), [(SESSION, "0"), ("", "5"), (f'"{SESSION}"', "0")])
def test_the_official_ralph_loop_holds_in_place_of_omo(running: Project, session: str, most: str) -> None:
    running.write(claude.RALPH_LOOP, RALPH.format(session=session, most=most))
    told = stop(running, Path())
    assert told.says_to_user(TOLD, loop="ralph-loop", about=claude.RALPH_LOOP, ends="/cancel-ralph")
    stop(running, Path()).assert_silent()
    (running.root / claude.RALPH_LOOP).unlink()
    assert stop(running, Path()).blocks


@pytest.mark.parametrize(
    "text",
    [
        RALPH.format(session="another", most="0"),
        RALPH.format(session=SESSION, most="3"),  # its hook ends it now
        RALPH.format(session=SESSION, most="many"),  # and throws this away
        RALPH.format(session=SESSION, most="9" * 6000),
        "",
        "\0\xff",
    ],
)
def test_a_state_file_that_holds_nothing_here(running: Project, text: str) -> None:
    running.write(claude.RALPH_LOOP, text)
    assert stop(running, Path()).blocks


def test_a_pipe_in_the_place_of_its_state_file_is_not_waited_for(running: Project) -> None:
    path = running.root / claude.RALPH_LOOP
    path.parent.mkdir()
    os.mkfifo(path)
    assert stop(running, Path()).blocks
