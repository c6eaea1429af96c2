"""A document that a prompt names as what to do is kept as it was; one that is worked on is not."""

from __future__ import annotations

import os
from typing import Any

import pytest

from omo.digest import sha256
from omo.hooks.named_documents import documents_to_do
from tests.project import Project

pytestmark = pytest.mark.usefixtures("laps")

WHAT_TO_DO = (
    "do what TASK.md says",
    "do TASK.md",
    "implement TASK.md",
    "TASK.md",
    "@issue.md",
    "@issue.md please",
    "fix the bug in @issue.md",
    "add the feature in @spec.md",
    "fix @issue.md and keep the tests green",
    "do everything in TASK.md",
    "work through the list in docs/tasks.md",
    "work through TASK.md",
    "work off TODO.md item by item",
    "carry out the plan in plan.md",
    "follow TASK.md step by step",
    "read TASK.md and do it",
    "open TASK.md and do it",
    "TASK.md: all of it",
    "TASK.md, please",
    "implement all items of TODO",
    "the task is in TASK.md",
    "the spec is docs/spec.md",
    "your task: see TASK.md",
    "add the functions described in TASK.md",
    "implement the parser as described in the file docs/spec.md",
    "write the functions listed in `TASK.md`.",
    "according to TASK.md, add the flags",
    "add a parser according to docs/spec.txt",
    "do what is written in TASK.md",
    "do what's in TASK.md",
    "do what README.md says",
    "make it work as TASK.md says",
    "TASK.md says what to do",
    "TASK.md describes the task; begin with add",
    "finish the remaining items from TODO.md",
    "please do the tasks in TASK.md, and then stop",
    "do whatever ISSUE.txt asks for",
    "implement ./docs/rfc.rst",
    "the requirements are in docs/req.adoc",
    "mach was in TASK.md steht",
    "erledige TASK.md",
    "implementiere alles wie in TASK.md beschrieben",
    "fais ce que dit TASK.md",
    "implémente ce qui est décrit dans TASK.md",
    "haz lo que dice TASK.md",
    "implementa lo descrito en TASK.md",
    "сделай что написано в TASK.md",
    "TASK.mdに書いてあることを全部やって",
    "TASK.mdの通りに実装して",
    "按照TASK.md实现",
    "arbeite TASK.md ab",
    "suis TASK.md à la lettre",
    "TASK.md\nkeep the tests green",
)
WORKED_ON = (
    "fix the typos in README.md",
    "fix the typos in @README.md",
    "fix the typos in @docs/guide.md",
    "shorten CHANGELOG.md",
    "document X in docs/api.md",
    "update README.md",
    "update @TODO.md",
    "rewrite docs/guide.md so that it is clear",
    "translate docs/guide.md to German",
    "fix the links in docs/index.rst",
    "add a section on caching to docs/guide.md",
    "add a section on caching to @docs/guide.md",
    "write the plan to PLAN.md",
    "put the list in TODO.md",
    "read docs/guide.md and shorten it",
    "README.md is out of date",
    "README.md has typos; mend them",
    "add --json, and mention it in README.md",
    "add a flag, see README.md for the style",
    "fix calc.py",
    "update pyproject.toml",
    "implement calc.py",
    "implement what test_calc.py wants",
    "follow requirements.txt",
    "remove the list in TODO.md",
    "tick the boxes in TODO.md",
    "do not touch TASK.md",
    "do everything except TASK.md",
    "sort the items in TODO.md",
    "write a summary of TASK.md",
    "make README.md shorter",
    "create docs/spec.md",
    "add tests for the parser of notes.md",
    "look at CONTRIBUTING.md and add a changelog entry",
    "follow CONTRIBUTING.md and add the flag",
    "docs/guide.md is too long",
    "improve the steps in docs/install.md",
    "kürze README.md",
    "korrigiere die Tippfehler in docs/guide.md",
    "explain the steps in docs/install.md better",
    "the parser fails on notes.md, mend it",
    "make the parser read notes.md",
    "speed up the reader of data.txt",
    "print the lines of input.txt in order",
)
TASK = "- [ ] add\n- [ ] mul\n"


@pytest.mark.parametrize("prompt", WHAT_TO_DO)
def test_a_document_that_is_handed_over(prompt: str) -> None:
    assert len(documents_to_do(prompt)) == 1


@pytest.mark.parametrize("prompt", WORKED_ON)
def test_a_document_that_is_worked_on_or_no_document(prompt: str) -> None:
    assert documents_to_do(prompt) == []


def kept(project: Project, kind: str = "activated") -> list[dict[str, Any]]:
    rows = [row for row in project.events() if row["kind"] == kind]
    documents: list[dict[str, Any]] = rows[-1].get("documents") or []
    return documents


@pytest.mark.parametrize(
    ("prompt", "kind", "paths"),
    [
        ("ulw do what TASK.md says", "activated", ["TASK.md"]),
        ("@TASK.md ulw", "activated", ["TASK.md"]),
        ("/omo:ulw implement docs/spec.md and TASK.md", "activated", ["docs/spec.md", "TASK.md"]),
        ("/omo:ulw implement docs/spec.md and fix TASK.md", "activated", ["docs/spec.md"]),
        ("ulw do what TASK.md says, as described in docs/spec.md", "activated", ["TASK.md", "docs/spec.md"]),
        ("ulw do what docs/spec.md and TASK.md say", "activated", ["docs/spec.md", "TASK.md"]),
        ("ulw do what NONE.md says", "activated", []),
        ("ulw do what ../beside.md says", "activated", []),
        ("ulw do what leads-out.md says", "activated", []),
        ("ulw do what leads-in.md says", "activated", ["TASK.md"]),
        ("ulw fix the typos in TASK.md", "activated", []),
        ("/omo:laps do what TASK.md says", "asked", ["TASK.md"]),
        ("/omo:ultragoal read TASK.md twice", "asked", ["TASK.md"]),
        ("/omo:verify TASK.md", "asked", ["TASK.md"]),
    ],
)
def test_it_is_kept_with_its_text_where_it_lies_in_the_project(
    project: Project, prompt: str, kind: str, paths: list[str]
) -> None:
    project.write("TASK.md", TASK)
    project.write("docs/spec.md", "what it is\n")
    (project.root.parent / "beside.md").write_text("of somebody else\n")
    os.symlink(project.root.parent / "beside.md", project.root / "leads-out.md")
    os.symlink("TASK.md", project.root / "leads-in.md")
    project.prompt(prompt)
    documents = kept(project, kind)
    assert [document["path"] for document in documents] == paths
    for document in documents:
        content = (project.root / document["path"]).read_bytes()
        assert (document["digest"], document["text"].strip()) == (sha256(content), content.decode().strip())


def test_it_is_kept_again_with_each_prompt_that_names_it(project: Project) -> None:
    project.write("TASK.md", TASK)
    project.prompt("ulw do what TASK.md says")
    project.write("TASK.md", "- [ ] add\n")
    project.prompt("ulw do what TASK.md says now")
    assert [document["text"] for document in kept(project, "rearmed")] == ["- [ ] add\n"]


def test_what_is_kept_is_bounded_and_has_no_secrets(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "s3cr3t-of-the-user")
    project.write("TASK.md", "- use s3cr3t-of-the-user\n" + "- add\n" * 50_000)
    project.prompt("ulw do what TASK.md says")
    [document] = kept(project)
    assert 20_000 < len(document["text"]) <= 24_000
    assert document["text"].startswith("- use ***\n")


def test_the_document_of_an_agents_own_run_is_nobodys(project: Project) -> None:
    project.write("TASK.md", TASK)
    project.agent("ulw", "start")
    assert kept(project) == []
