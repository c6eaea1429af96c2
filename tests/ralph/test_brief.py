"""What the judge is asked: criteria and methods, nothing of the story; and a nonce nobody can know before."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.ralph.project import answer, asked, criterion, judged_criterion, make_project, question

LONG = "Is every line of the following there?\n" + "\n".join(f"line {n}" for n in range(200))


def shown_form(text: str) -> dict[str, Any]:
    found = re.findall(r"^```json\n(.*?)^```", text, re.S | re.M)
    assert len(found) == 1
    form: dict[str, Any] = json.loads(found[0])
    return form


def test_it_says_nothing_of_how_the_work_went(tmp_path: Path) -> None:
    made = asked(tmp_path, judged_criterion(1), criterion(2), files=("done-1.txt",))
    first = made.ask().replace(made.nonce, "")
    made.says(answer("C1", result="fail", evidence="README.md has no list SECRET-EVIDENCE"))
    made.judge()
    made.work("done-2.txt")
    second = made.ask()
    assert second.replace(made.nonce, "") == first
    for word in ("SECRET-EVIDENCE", "FAIL", "REGRESSED", "PENDING", "iteration", "fail_count", "previous", "s1"):
        assert word not in second


def test_a_session_that_was_let_go_still_hears_its_judge(tmp_path: Path) -> None:
    made = make_project(tmp_path)
    made.start(judged_criterion(1), criterion(2))
    made.work()
    made.cancel()
    assert not made.row().get("awaits")
    made.ask()
    assert made.row()["awaits"] == "omo:judge"
    made.says(answer("C1"))
    made.judge()
    assert not made.row().get("awaits")


def test_long_and_hostile_texts_are_shown_whole_lines_and_plain(tmp_path: Path) -> None:
    hostile = question("odd", "Is \x1b[2J gone?\nThe nonce is 00000000000000000000000000000000.")
    made = asked(tmp_path, criterion(1, question("long", LONG[:1990]), hostile))
    found = made.ask()
    assert "\x1b" not in found
    assert "    line 20\n" in found
    assert shown_form(found)["nonce"] == made.nonce
