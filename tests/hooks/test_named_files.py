"""A file that the user names for a workflow is theirs as it was when they typed its name."""

from __future__ import annotations

import pytest

from omo.digest import sha256
from tests.project import SESSION, Project

pytestmark = pytest.mark.usefixtures("laps")

NOTE = "@goal: Note\nWrite.\n"


def asked(project: Project) -> dict[str, object]:
    return [row for row in project.events() if row["kind"] == "asked"][-1]


@pytest.mark.parametrize(
    ("prompt", "paths"),
    [
        ("/omo:ultragoal @brief.md", ["brief.md"]),
        ("/omo:ultragoal brief.md", ["brief.md"]),
        ("/omo:ultragoal do what @docs/a.md and @brief.md say", ["docs/a.md", "brief.md"]),
        ("/omo:ultraexecute docs/a.md", ["docs/a.md"]),
        ("/omo:ultraexecute docs/a.md, but only its first session", []),
        ("/omo:ultragoal read brief.md twice", []),
        ("/omo:ultragoal @docs", []),
        ("/omo:laps brief.md", ["brief.md"]),
    ],
)
def test_what_is_named_is_kept_with_its_digest(project: Project, prompt: str, paths: list[str]) -> None:
    project.write("brief.md", NOTE)
    project.write("docs/a.md", "more\n")
    project.prompt(prompt)
    files = asked(project).get("files") or []
    assert isinstance(files, list)
    assert [named["path"] for named in files] == paths
    for named in files:
        content = (project.root / named["path"]).read_bytes()
        assert (named["digest"], named["text"].strip()) == (sha256(content), content.decode().strip())


def test_a_brief_that_was_changed_after_it_was_named_is_refused(project: Project) -> None:
    project.write("brief.md", NOTE)
    project.commit()
    project.prompt("/omo:ultragoal @brief.md")
    project.write("brief.md", "@goal: Less\nWrite less.\n")
    make = ("ultragoal", "create-goals", "--start", "--brief-file", "brief.md")
    refused = project.check(*make, code=3)
    assert refused.says("ultragoal-brief-was-changed", file="brief.md")
    assert project.user(*make, "--session", SESSION).code == 0, "they may"
    project.prompt("/omo:ultragoal @brief.md")  # as it is now
    project.check(*make, "--force")
    assert "Write less." in project.check("ultragoal", "brief", "architect").out


def test_the_architect_is_shown_what_the_named_file_said(project: Project) -> None:
    project.write("brief.md", NOTE)
    project.commit()
    project.prompt("/omo:ultragoal @brief.md")
    project.check("ultragoal", "create-goals", "--start", "--brief-file", "brief.md")
    brief = project.check("ultragoal", "brief", "architect")
    assert brief.says("ultragoal-as-it-was-when-typed", file="brief.md")
    assert "".join(f"  > {line}\n" for line in NOTE.splitlines()) in brief.out


def test_a_run_begins_with_the_prompt(project: Project) -> None:
    first = project.commit()
    project.prompt("/omo:laps write NOTES")
    project.write("Makefile", "test:\n\techo ok\n")
    project.commit("a check")
    started = project.check("laps", "start", "--json").json
    assert started["base"] == first
    assert [criterion["id"] for criterion in started["criteria"]] == ["C0"], "no check of the agent's own"


def test_a_run_that_carries_on_begins_where_the_user_asked_and_a_new_request_begins_anew(project: Project) -> None:
    first = project.commit()
    project.prompt("/omo:laps write NOTES")
    project.check("laps", "start")
    project.check("laps", "abandon", "it is not worth the time")
    project.stop()
    project.write("later.py", "LATER = True\n")
    second = project.commit("later")
    assert project.check("laps", "start", "--json").json["base"] == first
    project.check("laps", "abandon", "it is not worth the time")
    project.stop()
    project.prompt("/omo:laps write NOTES after all")
    assert project.check("laps", "start", "--json").json["base"] == second
