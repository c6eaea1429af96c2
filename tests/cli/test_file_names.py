"""Any name that a file can have goes through every command and hook, and is shown so that it can be read."""

from __future__ import annotations

import html
import json
import os

import pytest

from omo.text import file_name
from tests.project import Project

NAMES = {
    "bytes": b"b\xff\xfe.py",
    "data of bytes": b"data\xff.json",
    "module of bytes": b"m\xff.rs",
    "directory of bytes": b"d\xff/mod.py",
    "newline": b"two\nlines.py",
    "quotes": b"q'\"`.py",
    "control": b"c\x1b[31m\x07.py",
    "emoji": "e\U0001f600.py".encode(),
    "combining": "e\u0301.py".encode(),
}
LOOKS = (
    ["status"],
    ["status", "--json"],
    ["next"],
    ["report", "--md"],
    ["report", "--json"],
    ["report"],
    ["explain", "stop"],
)


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_run_ends_whatever_its_files_are_called(project: Project, name: bytes) -> None:
    """One file is new, one was changed and one is gone."""
    top = os.fsencode(project.root)
    paths = {how: os.path.join(how, name) for how in (b"new", b"changed", b"deleted")}
    write(os.path.join(top, paths[b"changed"]), "x = 1\n")
    write(os.path.join(top, paths[b"deleted"]), "x = 1\n")
    project.commit("base")
    project.prompt("/omo:pin grep -q new value")
    project.prompt("ulw make the value new")
    project.write("value", "new\n")
    write(os.path.join(top, paths[b"new"]), "x = 2\n")
    write(os.path.join(top, paths[b"changed"]), "x = 2\n")
    os.unlink(os.path.join(top, paths[b"deleted"]))
    look(project)
    project.tool_use("Bash", command="omo ulw done")
    said = project.check("ulw", "done")
    assert said.out.startswith("Done, proven"), said.out
    look(project)
    report = plain(project.check("report", "--md").out)
    changed = json.loads(project.check("report", "--json").out)["changed"]
    for path in map(os.fsdecode, paths.values()):
        assert plain(file_name(path)) in report
        assert path in changed
    write(os.path.join(top, paths[b"new"]), "x = 3\n")
    assert file_name(os.fsdecode(paths[b"new"])) in project.stop().json["reason"]
    project.hook("session-start", source="resume")
    look(project)


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_proof_of_a_branch_reads_any_name(project: Project, name: bytes) -> None:
    project.write("Makefile", "test:\n\tgrep -q new value\n")
    began = project.commit("base")
    project.write("value", "new\n")
    write(os.path.join(os.fsencode(project.root), name), "x = 1\n")
    said = project.omo("proof", "--since", began)
    assert said.code in (0, 3, 4), said.err


def plain(text: str) -> str:
    """Without what Markdown escapes."""
    return html.unescape(text).replace("\\", "")


def look(project: Project) -> None:
    for command in LOOKS:
        said = project.omo(*command)
        assert said.code == 0, said.out + said.err
        said.out.encode()


def write(path: bytes, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
