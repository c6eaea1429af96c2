"""A journal that omo would not have written here does nothing: whatever it names, what is there stays as it is."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omo.digest import sha256
from omo.errors import NotMade, OmoError
from omo.proof.swap import recover
from omo.proof.swap_files import NOTHING
from omo.state import paths
from tests import texts
from tests.kept import copied
from tests.proof.test_swap import Place, die, file, is_alive, lay, seen

Head = dict[str, Any]
Forge = Callable[["Clone"], None]

KEY = b"ssh-ed25519 a stranger's\n"
KILLED = {"a.py": file(b"as it was"), "new/b.py": NOTHING, "gone/c.py": file(b"was here"), "link": file(b"no link")}
KILLED_TOPS = {path.partition("/")[0] for path in KILLED}


class Clone(Place):
    """A project that was left swapped, and a directory of the user's beside it."""

    def __init__(self, directory: Path) -> None:
        copied(directory, leave_swapped)
        super().__init__(directory / "project")
        self.outside = directory / "outside"
        self.journal = Path(paths.swap_journal(self.state))
        line, _, self.contents = self.journal.read_bytes().partition(b"\n")
        self.head: Head = json.loads(line.decode("utf-8", "surrogateescape"))

    def write(self, head: Any = None, contents: bytes | None = None) -> None:
        text = json.dumps(self.head if head is None else head).encode("utf-8", "surrogateescape")
        self.journal.write_bytes(text + b"\n" + (self.contents if contents is None else contents))

    def adds(self, path: str, content: bytes | None = KEY, **fields: Any) -> None:
        """One more file, which is as it should be but for where it is."""
        row = {**self.head["files"][0], "path": path, "permissions": 0o600, **fields}
        row |= {"mode": "", "size": None, "digest": ""} if content is None else {"mode": "f", "size": len(content)}
        if content is not None:
            row["digest"] = sha256(content)
            self.contents += content
        self.head["files"].append(row)
        above = path.split("/")[:-1]
        for count in range(1, len(above) + 1):
            self.head["directories"].setdefault("/".join(above[:count]), None)
        self.write()

    def recover(self) -> list[str]:
        return recover(self.state, str(self.root))

    def in_git(self) -> dict[str, bytes]:
        files = sorted(path for path in (self.root / ".git").rglob("*") if path.is_file())
        return {str(path.relative_to(self.root)): path.read_bytes() for path in files}


def leave_swapped(directory: Path) -> None:
    place = Place(directory / "project")
    lay(directory / "outside", {"bashrc": b"export A=1\n", "empty": None, "repository/index.lock": b"x"})
    lay(place.root, {"a.py": b"the work", "new/b.py": b"b", "link": ("->", "a.py"), ".claude/settings.json": b"{}"})
    place.git("init", "-q")
    swap = place.swap(without=KILLED)
    swap.__enter__()
    swap.put("without")
    die(swap)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def changes(**fields: Any) -> Forge:
    def forge(clone: Clone) -> None:
        clone.head.update(fields)
        clone.write()

    return forge


def changes_file(**fields: Any) -> Forge:
    def forge(clone: Clone) -> None:
        clone.head["files"][0].update(fields)
        clone.write()

    return forge


def adds(path: str, content: bytes | None = KEY, **fields: Any) -> Forge:
    return lambda clone: clone.adds(path.format(outside=clone.outside), content, **fields)


def writes(content: bytes) -> Forge:
    def forge(clone: Clone) -> None:
        clone.journal.write_bytes(content)

    return forge


def lies_behind_a_link(clone: Clone) -> None:
    (clone.root / "home").symlink_to(clone.outside)
    clone.adds("home/bashrc")


def removes_a_directory_behind_a_link(clone: Clone) -> None:
    (clone.root / "home").symlink_to(clone.outside)
    clone.head["directories"] |= {"home": None, "home/empty": None}
    clone.write()


def has_a_linked_stage(clone: Clone) -> None:
    stage = Path(paths.swap_dir(clone.state))
    stage.rename(clone.root / ".sisyphus" / "before")
    stage.symlink_to(clone.outside)


def waits_outside(clone: Clone) -> None:
    (clone.outside / "0.aside").write_bytes(b"somebody's")
    clone.head["files"][0]["stage"] = str(clone.outside)
    clone.write()


def has_another_git_directory(clone: Clone) -> None:
    (clone.outside / "repository" / "omo-index").write_bytes(b"somebody's")
    (clone.outside / "repository" / "index.lock").write_text(clone.head["id"] + "\n")
    clone.head["git"] = str(clone.outside / "repository")
    clone.write()


def names_a_lock_by_its_id(clone: Clone) -> None:
    clone.head["id"] = "/../../x"
    clone.write()


def is_a_link(clone: Clone) -> None:
    clone.journal.rename(clone.root / "committed")
    clone.journal.symlink_to(clone.root / "committed")


def is_a_directory(clone: Clone) -> None:
    clone.journal.unlink()
    clone.journal.mkdir()


def is_a_pipe(clone: Clone) -> None:
    clone.journal.unlink()
    os.mkfifo(clone.journal)


def has_another_original(clone: Clone) -> None:
    clone.write(contents=b"THE WORK" + clone.contents[8:])


def holds_more(clone: Clone) -> None:
    clone.write(contents=clone.contents + b"x")


def is_for_another_project(clone: Clone) -> None:
    clone.head |= {"state": clone.state, "root": str(clone.outside)}
    clone.adds("bashrc")


def is_in_a_linked_state(clone: Clone) -> None:
    (clone.root / ".sisyphus").rename(clone.outside / "sisyphus")
    (clone.root / ".sisyphus").symlink_to(clone.outside / "sisyphus")


BAD: dict[str, Forge] = {
    "an absolute path": adds("{outside}/bashrc"),
    "a new file by an absolute path": adds("{outside}/.ssh/authorized_keys"),
    "a path that leads out": adds("../outside/bashrc"),
    "one that leads out and in again": adds("new/../../outside/bashrc"),
    "a removal outside": adds("../outside/bashrc", None, ours=[sha256(b"fexport A=1\n")]),
    "a hook of git's": adds(".git/hooks/post-commit"),
    "git's configuration in another case": adds(".GIT/config"),
    "that of a repository inside": adds("vendor/.git/config"),
    "its name as macOS takes it": adds(".g\u200cit/config"),
    "git's attributes": adds(".gitattributes"),
    "omo's own pins": adds(".sisyphus/cc-omo/verify/pins/ledger.jsonl"),
    "omo's own state in another case": adds(".SISYPHUS/cc-omo/runtime.local.json"),
    "a file behind a link": lies_behind_a_link,
    "a directory behind a link": removes_a_directory_behind_a_link,
    "a directory outside": changes(directories={"../outside/empty": None, "new": None, "gone": None}),
    "a program that runs as its owner": adds("tool", permissions=0o4755),
    "an original that waits elsewhere": waits_outside,
    "originals that wait behind a link": has_a_linked_stage,
    "an id that is a path": names_a_lock_by_its_id,
    "another project": is_for_another_project,
    "another original": has_another_original,
    "more than it names": holds_more,
    "a file twice": adds("a.py"),
    "a path that is no text": adds("a\ud800"),
    "a name of an object": changes_file(path={"a": 1}),
    "no path": changes_file(path=""),
    "a zero in a path": changes_file(path="a\0b"),
    "a link that cannot be": changes_file(mode="l", size=0),
    "no digests": changes_file(ours=None),
    "digests that are none": changes_file(ours=["x"]),
    "a size below zero": changes_file(size=-1),
    "an owner of words": changes_file(owner=["root", "root"]),
    "an owner that cannot be": changes_file(owner=[2**40, 0]),
    "permissions of words": changes_file(permissions="600"),
    "a time that cannot be": changes_file(modified=1e300),
    "no files": changes(files={}),
    "files that are none": changes(files=[1, None]),
    "no directories": changes(directories=[]),
    "directories that are not named": changes(directories={}),
    "another version": changes(version=99),
    "a true version": changes(version=True),
    "no object": lambda clone: clone.write(head=[]),
    "nothing": lambda clone: clone.write(head="", contents=b""),
    "deep JSON": writes(b'{"version": ' + b"[" * 200_000),
    "a long number": writes(b'{"version": ' + b"1" * 9000 + b"}\n"),
    "a link": is_a_link,
    "a directory instead": is_a_directory,
    "a pipe instead": is_a_pipe,
}


@pytest.mark.parametrize("name", BAD)
def test_nothing_of_a_bad_journal_is_done(clone: Clone, name: str) -> None:
    BAD[name](clone)
    was, outside, in_git = seen(clone.root), seen(clone.outside), clone.in_git()
    (line,) = clone.recover()
    assert texts.says(line, "swap-bad-journal")
    assert line.isprintable()
    assert (seen(clone.root), seen(clone.outside), clone.in_git()) == (was, outside, in_git)
    assert not os.path.lexists(clone.journal)
    assert list(Path(clone.state).glob("swap.journal.corrupt-*"))
    assert clone.recover() == [], "it is told once"


def test_nothing_of_a_journal_is_done_in_a_state_behind_a_link(clone: Clone) -> None:
    is_in_a_linked_state(clone)
    was, outside = seen(clone.root), seen(clone.outside)
    (line,) = clone.recover()
    assert texts.says(line, "swap-journal-behind-link", link=clone.root / ".sisyphus")
    assert (seen(clone.root), seen(clone.outside)) == (was, outside)


def test_another_git_directory_is_left_alone_and_the_files_come_back(clone: Clone) -> None:
    has_another_git_directory(clone)
    outside = seen(clone.outside)
    put_back, about_git = clone.recover()
    assert texts.says(put_back, "swap-ended-in-middle")
    assert texts.says(about_git, "swap-git-directory-elsewhere")
    assert seen(clone.outside) == outside
    assert (clone.root / "a.py").read_bytes() == b"the work"


def test_a_link_that_is_put_above_a_file_meanwhile_is_not_followed(tmp_path: Path) -> None:
    place = Place(tmp_path / "project")
    lay(place.root, {"in/a.py": b"the work"})
    outside = tmp_path / "outside"
    lay(outside, {"a.py": b"somebody's"})
    with place.swap(without={"in/a.py": file(b"base")}) as swap:
        swap.put("without")
        (place.root / "in").rename(place.root / "moved")
        (place.root / "in").symlink_to(outside)
    assert seen(outside) == {"a.py": (b"somebody's", 0o644)}
    assert (place.root / "in" / "a.py").read_bytes() == b"the work"
    assert not (place.root / "in").is_symlink()


def test_a_program_that_runs_as_its_owner_is_not_swapped(tmp_path: Path) -> None:
    place = Place(tmp_path)
    lay(place.root, {"tool": (b"x", 0o4755)})
    with pytest.raises(NotMade, match="never swapped"), place.swap(without={"tool": file(b"y")}):
        pytest.fail("it was entered")


# -- processes


@contextlib.contextmanager
def somebodys_group(*, has_leader: bool) -> Iterator[tuple[int, int]]:
    """A process group that is nobody's gate, and one process in it."""
    script = "sleep 600 & echo $!; " + ("wait" if has_leader else "exit 0")
    leader = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert leader.stdout is not None
    member = int(leader.stdout.readline())
    if not has_leader:
        leader.wait()
    try:
        yield leader.pid, member
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(leader.pid, signal.SIGKILL)
        leader.stdout.close()
        leader.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="what is told of a process is read in /proc")
@pytest.mark.parametrize("forged", ["no leader", "another swap", "another moment", "no moment", "no number"])
def test_only_a_group_that_is_certainly_the_gates_is_ended(clone: Clone, forged: str) -> None:
    with somebodys_group(has_leader=forged != "no leader") as (group, member):
        started = ""
        if forged != "no leader":
            started = Path(f"/proc/{group}/stat").read_text().rpartition(")")[2].split()[19]
        row = {
            "id": clone.head["id"],
            "group": group,
            "started": started,
            "boot": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
            "processes": os.readlink("/proc/self/ns/pid"),
        }
        row |= {
            "another swap": {"id": "0" * 12},
            "another moment": {"started": "1"},
            "no moment": {"started": "", "boot": ""},
            "no number": {"group": str(group)},
        }.get(forged, {})
        Path(paths.swap_dir(clone.state), "group").write_text(json.dumps(row))
        lines = clone.recover()
        assert is_alive(member)
    assert (clone.root / "a.py").read_bytes() == b"the work"
    told = texts.says("\n".join(lines), "swap-gate-may-still-run", group=group)
    assert told is (forged == "no leader")


# -- whatever stands in it


FIELDS = ("version", "id", "root", "state", "git", "directories", "files")
OF_FILES = ("path", "mode", "permissions", "inode", "owner", "ours", "modified", "size", "digest", "stage")
LEADS_OUT = ("../outside/bashrc", "/etc/passwd", ".git/config", "home/bashrc", "..", "", "a.py/x", "new", "gone/c.py")
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(LEADS_OUT),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(LEADS_OUT), inner, max_size=3),
    max_leaves=6,
)
EDITS = st.one_of(
    st.tuples(st.just("head"), st.sampled_from(FIELDS), ANYTHING),
    st.tuples(st.integers(0, 3), st.sampled_from(OF_FILES), ANYTHING),
    st.tuples(st.just("directory"), st.sampled_from(LEADS_OUT), ANYTHING),
    st.tuples(st.just("missing"), st.sampled_from(FIELDS), st.none()),
)
JOURNALS = st.one_of(EDITS, st.tuples(st.just("json"), st.just(""), ANYTHING), st.binary(max_size=200))


def edited(clone: Clone, edit: Any) -> None:
    if isinstance(edit, bytes):
        clone.journal.write_bytes(edit)
        return
    where, name, value = edit
    if where == "json":
        clone.write(head=value)
        return
    if where == "head":
        clone.head[name] = value
    elif where == "directory":
        clone.head["directories"][name] = value
    elif where == "missing":
        del clone.head[name]
    else:
        clone.head["files"][where][name] = value
    clone.write()


@given(JOURNALS)
@settings(max_examples=100)
def test_whatever_stands_in_a_journal_nothing_else_is_written_or_removed(edit: Any) -> None:
    with tempfile.TemporaryDirectory() as directory:
        clone = Clone(Path(directory))
        (clone.root / "home").symlink_to(clone.outside)
        edited(clone, edit)
        was, outside, in_git = seen(clone.root), seen(clone.outside), clone.in_git()
        before = {path: what for path, what in was.items() if path.partition("/")[0] not in KILLED_TOPS}
        with contextlib.suppress(OmoError):
            clone.recover()
        after = {path: what for path, what in seen(clone.root).items() if path.partition("/")[0] not in KILLED_TOPS}
        assert (after, seen(clone.outside)) == (before, outside)
        allowed = {".git/index.lock", ".git/omo-index"}
        assert {k: v for k, v in clone.in_git().items() if k not in allowed} == {
            k: v for k, v in in_git.items() if k not in allowed
        }
