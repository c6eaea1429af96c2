"""Links below `.sisyphus` are never followed by what omo writes, makes, truncates, moves or removes."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

import pytest

from omo.state import ledger, store
from tests.kept import copied, shared
from tests.project import Project, git

pytestmark = pytest.mark.usefixtures("laps")

NO_NEWLINE = b"export SECRET=1"  # the end of a ledger would be taken for a torn row
GOAL = "id: G1\ntitle: the value is newer\nroutine: true\nblocked_by: null\n"
CRITERIA = """
{"criteria": [{"id": "C1", "description": "the value is newer",
               "checks": [{"id": "newer", "type": "content", "path": "value", "regex": "newer"}]}]}
"""


def begin(root: Path) -> None:
    git(root, "init", "-q")
    project = Project(root)
    project.write("value", "old\n")
    project.write("check.sh", 'test "$(cat value)" = newer || { echo left > left_by_the_run; exit 1; }\n')
    project.commit("base")


def story(project: Project) -> None:
    """A day's work. Whatever is refused on the way, the rest is tried."""
    steps = (
        lambda: project.hook("session-start", source="startup"),
        lambda: project.prompt("ulw make the value newer"),
        lambda: project.omo("gate", "add", "tests", "--", "sh", "check.sh", by="user"),
        lambda: project.write("value", "newer\n"),
        lambda: project.tool_use("Bash", command="omo ulw done"),
        lambda: project.omo("ulw", "done"),
        lambda: project.omo("ulw", "done", "--because", "the value is newer now"),
        lambda: project.omo("ultragoal", "create-goals", "--brief", "# Brief\n\n## Goal: the value\n\nIt is newer.\n"),
        lambda: project.omo("evidence", "replay", "--", "sh", "check.sh"),
        lambda: project.omo("verify", "add", "--file", "-", stdin=GOAL),
        lambda: project.omo("verify", "begin", "G1"),
        lambda: project.omo("laps", "start", "--criteria", str(project.write("../criteria.json", CRITERIA))),
        lambda: project.agent_ends("general-purpose"),
        lambda: project.stop(),
        lambda: project.omo("report", by="user"),
        lambda: project.omo("status", by="user"),
        lambda: project.omo("doctor", by="user"),
        lambda: project.omo("state", "clear", "--mode", "ultragoal", by="user"),
        lambda: project.omo("state", "clear", "--mode", "ultragoal", "--force", by="user"),
        lambda: project.omo("stop-continuation", by="user"),
    )
    for step in steps:
        with contextlib.suppress(AssertionError, IsADirectoryError):  # a hook's log is there, or a directory
            step()


def all_of(root: Path) -> dict[str, object]:
    """Content, kind and time of everything."""
    found: dict[str, object] = {}
    for directory, names, files in os.walk(root):
        for name in [*names, *files]:
            path = Path(directory, name)
            status = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
            found[str(path.relative_to(root))] = (status.st_mode, status.st_mtime_ns, content)
    return found


def day_of_work(root: Path) -> None:
    begin(root)
    story(Project(root))


def parts() -> list[str]:
    """Every file and directory that a day's work makes below `.sisyphus`."""
    root = shared(day_of_work)
    found = [".sisyphus"]
    (cleared,) = (path.name for path in (root / ".sisyphus" / "cc-omo" / "ultragoal").glob("*.cleared-*"))
    suffix = cleared[cleared.index(".") :]
    for directory, names, files in os.walk(root / ".sisyphus"):
        found += [os.path.relpath(os.path.join(directory, name), root) for name in [*names, *files]]
    return sorted({path.replace(suffix, "") for path in found})


CHUNKS = 8
EXTRA = ("hooks.log", "hooks.log.old", "runtime.local.json.lock", "swap.journal", "swap.journal.tmp", "swap/group")


def test_a_days_work_writes_much() -> None:
    names = ("proof/ledger.jsonl", "swap.lock", "base", "kept", "verify/goals/G1/ledger.jsonl")
    assert {f".sisyphus/cc-omo/{name}" for name in names} | {".sisyphus/evidence/G001"} <= {*parts()}


@pytest.mark.parametrize("chunk", [0, *(pytest.param(chunk, marks=pytest.mark.long) for chunk in range(1, CHUNKS))])
def test_a_link_in_the_place_of_anything_of_the_state_is_not_followed(chunk: int, tmp_path: Path) -> None:
    wrong = []
    places = [*parts(), *(f".sisyphus/cc-omo/{name}" for name in EXTRA)]
    for number, part in enumerate(places[chunk::CHUNKS]):
        for kind in ("directory" if (shared(day_of_work) / part).is_dir() else "file", "nothing"):
            here = tmp_path / f"{number} {kind}"
            outside = here / "outside"
            (outside / "in").mkdir(parents=True)
            for name in ("file", "in/ledger.jsonl", "in/value"):
                (outside / name).write_bytes(NO_NEWLINE)
            copied(here / "project", begin)
            target = {"file": "file", "directory": "in", "nothing": "new"}[kind]
            link = here / "project" / part
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(outside / target)
            was = all_of(outside)
            project = Project(here / "project")
            story(project)
            if all_of(outside) != was:
                wrong.append(f"{part} as a link to a {kind}")
    assert wrong == []


def test_a_ledger_that_is_a_link_is_not_cut(tmp_path: Path) -> None:
    outside, path = tmp_path / "bashrc", tmp_path / "ledger.jsonl"
    outside.write_bytes(NO_NEWLINE)
    path.symlink_to(outside)
    with pytest.raises(OSError, match="cannot be written"):
        ledger.append(str(path), [{"kind": "test"}], actor="hook", now=1.0)
    assert outside.read_bytes() == NO_NEWLINE
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bashrc", "ledger.jsonl"]


@pytest.mark.parametrize("link", [".sisyphus", ".sisyphus/cc-omo"])
def test_a_state_behind_a_link_is_refused_and_the_link_is_named(tmp_path: Path, link: str) -> None:
    """Also one that stays in the project."""
    copied(tmp_path / "project", begin)
    project = Project(tmp_path / "project")
    own = project.root / link
    own.parent.mkdir(exist_ok=True)
    (project.root / "elsewhere").mkdir()
    own.symlink_to(project.root / "elsewhere")
    ran = project.omo("ulw", "start")
    assert ran.code != 0
    assert f"{own} is a link" in ran.err
    assert "OMO_STATE_DIR" in ran.err
    assert f"{own} is a link" in project.omo("status", by="user").out
    assert f"{own} is a link" in project.prompt("ulw make it newer").stdout
    assert f"{own} is a link" in project.omo("doctor", by="user").out
    assert list((project.root / "elsewhere").iterdir()) == []


def test_a_project_that_is_reached_by_a_link_works_and_so_does_a_state_elsewhere(tmp_path: Path) -> None:
    for number, where in enumerate(("the project", "its parent", "the state")):
        copied(tmp_path / f"{number}" / "real" / "project", begin)
        real = tmp_path / f"{number}" / "real"
        project = Project(real / "project")
        if where == "the project":
            (tmp_path / f"{number}" / "link").symlink_to(real / "project")
            project = Project(tmp_path / f"{number}" / "link")
        elif where == "its parent":
            (tmp_path / f"{number}" / "link").symlink_to(real)
            project = Project(tmp_path / f"{number}" / "link" / "project")
        else:
            (real / "state").mkdir()
            (real / "link").symlink_to(real / "state")
            project.environ["OMO_STATE_DIR"] = str(real / "link")
        project.prompt("ulw make the value newer")
        project.check("gate", "add", "tests", "--", "sh", "check.sh", by="user")
        project.write("value", "newer\n")
        assert "Done, proven" in project.check("ulw", "done").out, where


def test_a_directory_is_not_made_through_a_link(tmp_path: Path) -> None:
    state = tmp_path / "project" / ".sisyphus" / "cc-omo"
    state.mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (state / "base").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match="is a link"):
        store.make_dir(str(state / "base"), str(state))
