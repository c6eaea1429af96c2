"""Files are swapped in the user's tree and always put back: whatever they are, whatever fails, whoever is killed."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from omo.errors import NotMade, OmoError
from omo.proof import git_hold, swap_files
from omo.proof.swap import Swap, is_under_way, recover
from omo.proof.swap_files import NOTHING, File, Kept
from omo.state import paths
from tests import texts
from tests.kept import copied, git_init
from tests.parts import first_of

KILLS = Path(__file__).resolve().parents[2] / "bench" / "kill_swaps.py"
Shape = dict[str, object]  # a path: bytes, (bytes, permissions), a link as ("->", target), or a directory as None


def lay(root: Path, shape: Mapping[str, object]) -> None:
    for name, what in shape.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if what is None:
            path.mkdir(exist_ok=True)
        elif isinstance(what, bytes):
            path.write_bytes(what)
        elif isinstance(what, tuple) and what[0] == "->":
            path.symlink_to(str(what[1]))
        elif isinstance(what, tuple):
            path.write_bytes(what[0])
            path.chmod(what[1])


def seen(root: Path) -> Shape:
    """Everything below a directory but what is omo's and git's: content and permissions, links, directories."""
    found: Shape = {}
    for directory, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in (".sisyphus", ".git"))
        for name in [*names, *files]:
            path = Path(directory, name)
            status = path.lstat()
            key = str(path.relative_to(root))
            if stat.S_ISLNK(status.st_mode):
                found[key] = ("->", os.readlink(path))
            elif stat.S_ISDIR(status.st_mode):
                found[key] = ("directory", stat.S_IMODE(status.st_mode))
            else:
                found[key] = (path.read_bytes(), stat.S_IMODE(status.st_mode))
        names[:] = [name for name in names if not Path(directory, name).is_symlink()]
    return found


def file(content: bytes) -> File:
    return File(content, "f")


class Place:
    """A project with its state."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.state = str(root / ".sisyphus" / "cc-omo")
        root.mkdir(parents=True, exist_ok=True)

    def swap(self, **arrangements: Mapping[str, File]) -> Swap:
        return Swap(str(self.root), self.state, arrangements, self.untracked)

    def untracked(self) -> list[str]:
        if not (self.root / ".git").exists():
            return [
                name for name, what in seen(self.root).items() if isinstance(what, tuple) and what[0] != "directory"
            ]
        return [name for name in self.git("ls-files", "-z", "--others", "--exclude-standard").split("\0") if name]

    def git(self, *arguments: str, code: int = 0, environ: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments],
            cwd=self.root,
            env={**os.environ, **(environ or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "all", "--allow-empty")

    def left(self) -> list[str]:
        """What of ours lies about when nothing is swapped."""
        names = [str(path.relative_to(self.state)) for path in sorted(Path(self.state).rglob("*"))]
        return [name for name in names if name not in (".gitignore", "id", "swap.lock")]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "a b ü")


@pytest.fixture
def repository(tmp_path: Path) -> Place:
    copied(tmp_path / "repository", git_init)
    return Place(tmp_path / "repository")


# What was there is of another size: files of one size are swapped a second apart.
SHAPES: dict[str, tuple[Shape, dict[str, File], Shape]] = {
    "an edit": ({"a.py": b"new"}, {"a.py": file(b"old, longer")}, {"a.py": (b"old, longer", 0o644)}),
    "a new file": ({"a.py": b"new", "b": b""}, {"a.py": NOTHING}, {"b": (b"", 0o644)}),
    "a removed file": ({"b": b""}, {"a.py": file(b"base")}, {"a.py": (b"base", 0o644), "b": (b"", 0o644)}),
    "an empty file": ({"a": b""}, {"a": file(b"x")}, {"a": (b"x", 0o644)}),
    "line ends": ({"a": b"1\r\n2\r\n"}, {"a": file(b"1\n2\n")}, {"a": (b"1\n2\n", 0o644)}),
    "permissions alone": ({"a": (b"x", 0o755)}, {"a": file(b"x")}, {"a": (b"x", 0o644)}),
    "a program": ({"a": (b"x", 0o644)}, {"a": File(b"old", "x")}, {"a": (b"old", 0o755)}),
    "a private program": ({"a": (b"x", 0o600)}, {"a": File(b"old", "x")}, {"a": (b"old", 0o700)}),
    "a read-only file": ({"a": (b"x", 0o444)}, {"a": file(b"old")}, {"a": (b"old", 0o444)}),
    "a link for a file": ({"a": b"x"}, {"a": File(b"b", "l")}, {"a": ("->", "b")}),
    "a file for a link": ({"a": ("->", "b")}, {"a": file(b"y")}, {"a": (b"y", 0o644)}),
    "another link": ({"a": ("->", "b")}, {"a": File(b"c", "l")}, {"a": ("->", "c")}),
    "a file for a directory": (
        {"mod/a.py": b"a", "mod/in/b.py": b"b"},
        {"mod": file(b"m"), "mod/a.py": NOTHING, "mod/in/b.py": NOTHING},
        {"mod": (b"m", 0o644)},
    ),
    "a directory for a file": (
        {"mod": (b"m", 0o600)},
        {"mod": NOTHING, "mod/in/b.py": file(b"b")},
        {"mod": ("directory", 0o755), "mod/in": ("directory", 0o755), "mod/in/b.py": (b"b", 0o644)},
    ),
    "a directory for a link to one": (
        {"real/b.py": b"r", "mod": ("->", "real")},
        {"mod": NOTHING, "mod/b.py": file(b"b")},
        {
            "real": ("directory", 0o755),
            "real/b.py": (b"r", 0o644),
            "mod": ("directory", 0o755),
            "mod/b.py": (b"b", 0o644),
        },
    ),
    "a link for a directory": (
        {"real/b.py": b"r", "mod/b.py": b"b"},
        {"mod": File(b"real", "l"), "mod/b.py": NOTHING},
        {"real": ("directory", 0o755), "real/b.py": (b"r", 0o644), "mod": ("->", "real")},
    ),
    "an empty directory that was there": (
        {"old": None},
        {"old/a.py": file(b"a")},
        {"old": ("directory", 0o755), "old/a.py": (b"a", 0o644)},
    ),
    "an empty directory in a file's place": ({"mod/in": None}, {"mod": file(b"m")}, {"mod": (b"m", 0o644)}),
    "a package goes with its last file": (
        {"p/q/a.py": b"a", "p/q/b.py": b"b"},
        {"p/q/a.py": NOTHING, "p/q/b.py": NOTHING},
        {},
    ),
    "a directory with somebody's file stays": (
        {"p/a.py": b"a", "p/.env": b"secret"},
        {"p/a.py": NOTHING},
        {"p": ("directory", 0o755), "p/.env": (b"secret", 0o644)},
    ),
    "another case": ({"foo.py": b"x"}, {"foo.py": NOTHING, "Foo.py": file(b"x")}, {"Foo.py": (b"x", 0o644)}),
    "two cases": (
        {"foo.py": b"x", "Foo.py": b"y"},
        {"foo.py": file(b"old"), "Foo.py": NOTHING},
        {"foo.py": (b"old", 0o644)},
    ),
    "odd names": (
        {"ü/\u1100 \n'\".py": b"x", "-rf": b"y"},
        {"ü/\u1100 \n'\".py": file(b"old"), "-rf": NOTHING},
        {"ü": ("directory", 0o755), "ü/\u1100 \n'\".py": (b"old", 0o644)},
    ),
    "a name that is no text": ({"a\udcff": b"x"}, {"a\udcff": file(b"old")}, {"a\udcff": (b"old", 0o644)}),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("recovers", [False, True], ids=["ends", "is killed"])
def test_every_shape_is_put_and_put_back(place: Place, name: str, recovers: bool) -> None:
    before, arrangement, swapped = SHAPES[name]
    lay(place.root, before)
    was = seen(place.root)
    swap = place.swap(without=arrangement)
    swap.__enter__()
    swap.put("without")
    assert seen(place.root) == swapped
    if recovers:
        die(swap)
        recover(place.state, str(place.root))
    else:
        swap.__exit__(None, None, None)
    assert seen(place.root) == was
    assert place.left() == []
    assert swap.kept == []


def die(swap: Swap) -> None:
    """As a killed process leaves things: the kernel has taken its lock back, and that is all."""
    swap._signals.give_back()
    os.close(swap._lock)
    swap._lock = -1


def test_one_arrangement_follows_another_and_what_none_names_stands_as_it_was(place: Place) -> None:
    lay(place.root, {"work.py": b"new", "test.py": b"new test", "new_test.py": b"t", "other": b"o"})
    was = seen(place.root)
    old_tests = {"test.py": file(b"old tests"), "new_test.py": NOTHING}
    with place.swap(without={"work.py": file(b"base")}, old_tests=old_tests) as swap:
        swap.put("without")
        assert (place.root / "work.py").read_bytes() == b"base"
        assert (place.root / "test.py").read_bytes() == b"new test"
        swap.put("old_tests")
        assert (place.root / "work.py").read_bytes() == b"new"
        assert (place.root / "test.py").read_bytes() == b"old tests"
        assert not (place.root / "new_test.py").exists()
        swap.put_back()
        assert seen(place.root) == was
        assert not is_under_way(place.state)
        swap.group_started(os.getpid())  # of the run as it is, which nobody need end
        (place.root / "work.py").write_bytes(b"edited while nothing was swapped")
    assert (place.root / "work.py").read_bytes() == b"edited while nothing was swapped"
    assert (swap.kept, place.left()) == ([], [])


def test_the_original_itself_comes_back_with_its_owner_and_its_other_names(place: Place) -> None:
    lay(place.root, {"a.py": b"new"})
    os.link(place.root / "a.py", place.root / "same")
    if os.getuid() == 0:
        os.chown(place.root / "a.py", 12345, 23456)
    was = (place.root / "a.py").stat()
    with place.swap(without={"a.py": file(b"base")}) as swap:
        swap.put("without")
        assert (place.root / "a.py").stat().st_uid == was.st_uid
        assert (place.root / "same").read_bytes() == b"new"
    now = (place.root / "a.py").stat()
    assert (now.st_ino, now.st_nlink, now.st_uid, now.st_gid) == (was.st_ino, 2, was.st_uid, was.st_gid)


# -- times


def test_a_file_that_comes_back_is_new_and_not_of_the_future(place: Place) -> None:
    lay(place.root, {"a.py": b"new"})
    os.utime(place.root / "a.py", (1_000_000_000, 1_000_000_000))
    with place.swap(without={"a.py": file(b"old old")}) as swap:
        swap.put("without")
        put = (place.root / "a.py").stat().st_mtime_ns
    back = (place.root / "a.py").stat().st_mtime_ns
    fresh = place.root / "fresh"
    fresh.touch()
    assert 1_000_000_000 * 10**9 < put <= back <= fresh.stat().st_mtime_ns


@pytest.mark.parametrize("recovers", [False, True], ids=["ends", "is killed"])
def test_what_was_newer_is_newer_afterwards(place: Place, recovers: bool) -> None:
    lay(place.root, {"z.c": b"new", "a.o": b"old", "m.o": b"old"})
    for second, name in enumerate(("a.o", "m.o", "z.c"), start=1_000_000_000):
        os.utime(place.root / name, (second, second))
    swap = place.swap(without={"z.c": file(b"before"), "a.o": NOTHING, "m.o": NOTHING})
    swap.__enter__()
    swap.put("without")
    if recovers:
        die(swap)
        recover(place.state, str(place.root))
    else:
        swap.__exit__(None, None, None)
    times = [(place.root / name).stat().st_mtime_ns for name in ("a.o", "m.o", "z.c")]
    assert 1_000_000_002 * 10**9 < times[0] < times[1] < times[2]


@pytest.mark.parametrize("ahead", [0, 1])
def test_files_of_one_size_are_never_of_one_second(place: Place, ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bytecode cache knows its source by size and second; and the clock of files is behind the clock of programs."""
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + ahead)
    lay(place.root, {"a.py": b"A = 1\n", "run": b"import a; print(a.A)\n"})

    def answer() -> str:
        done = subprocess.run([sys.executable, "run"], cwd=place.root, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    with place.swap(without={"a.py": file(b"A = 2\n")}, gone={"a.py": NOTHING}) as swap:
        said = [answer()]
        swap.put("without")
        said.append(answer())
        swap.put("gone")
        swap.put("without")
    said.append(answer())
    assert said == ["1", "2", "1"]


# -- what stood there instead


def test_what_a_gate_has_written_into_swapped_files_is_kept_and_named(place: Place) -> None:
    """`black . && pytest`: the tree ended with the reformatted base instead of the work."""
    lay(place.root, {"work.py": b"new", "test.py": b"test", "snap": b"s"})
    was = seen(place.root)
    with place.swap(without={"work.py": file(b"base"), "gone.py": NOTHING}, tests={"test.py": file(b"t")}) as swap:
        swap.put("without")
        lay(place.root, {"work.py": b"old formatted", "test.py": b"test formatted", "gone.py": b"generated"})
        lay(place.root, {"__snapshots__/a.snap": b"from the old code"})
        swap.put("tests")
        assert not (place.root / "__snapshots__" / "a.snap").exists()
    (place.root / "__snapshots__").rmdir()
    assert seen(place.root) == was
    kept = {kept.path: (place.root / kept.kept_as).read_bytes() for kept in swap.kept}
    assert kept == {"work.py": b"old formatted", "test.py": b"test formatted", "gone.py": b"generated"}
    assert [kept.path for kept in swap.appeared] == ["__snapshots__/a.snap"]
    assert (place.root / swap.appeared[0].kept_as).read_bytes() == b"from the old code"


def test_every_version_of_a_file_is_kept(place: Place) -> None:
    lay(place.root, {"a": b"new"})
    with place.swap(one={"a": file(b"1")}, two={"a": file(b"2")}) as swap:
        for number, name in enumerate(("one", "two", "one", "two")):
            swap.put(name)
            (place.root / "a").write_bytes(b"edit %d" % number)
    assert [(place.root / kept.kept_as).read_bytes() for kept in swap.kept] == [b"edit %d" % n for n in range(4)]
    assert (place.root / "a").read_bytes() == b"new"


def test_a_directory_in_a_files_place_is_kept_whole(place: Place) -> None:
    lay(place.root, {"mod": b"m", "a": b"a"})
    with place.swap(without={"mod": NOTHING, "mod/b.py": file(b"b"), "a": NOTHING}) as swap:
        swap.put("without")
        lay(place.root, {"mod/__pycache__/b.pyc": b"c", "a/x": b"x"})
        swap.appeared.clear()
        swap._list_untracked = list
    assert {kept.path for kept in swap.kept} == {"mod", "a"}
    assert seen(place.root) == {"mod": (b"m", 0o644), "a": (b"a", 0o644)}
    by_path = {kept.path: place.root / kept.kept_as for kept in swap.kept}
    assert (by_path["mod"] / "__pycache__" / "b.pyc").read_bytes() == b"c"
    assert (by_path["a"] / "x").read_bytes() == b"x"


def test_what_an_editor_writes_into_the_original_that_it_has_open_is_kept(place: Place) -> None:
    lay(place.root, {"a": b"new"})
    with (place.root / "a").open("r+b", buffering=0) as editor, place.swap(without={"a": file(b"base")}) as swap:
        swap.put("without")
        editor.write(b"typed meanwhile")
    assert (place.root / "a").read_bytes() == b"new"
    assert [(place.root / kept.kept_as).read_bytes() for kept in swap.kept] == [b"typed meanwhile"]


def test_a_file_that_was_changed_since_it_was_read_is_not_swapped(place: Place) -> None:
    lay(place.root, {"a": b"new"})
    with place.swap(without={"a": file(b"base")}) as swap:
        (place.root / "a").write_bytes(b"edited")
        with pytest.raises(NotMade, match="a was changed just now"):
            swap.put("without")
    assert (place.root / "a").read_bytes() == b"edited"
    assert (swap.kept, place.left()) == ([], [])


def test_a_file_that_holds_its_original_again_is_left_alone(place: Place) -> None:
    lay(place.root, {"a": b"new"})
    with place.swap(without={"a": file(b"base")}) as swap:
        swap.put("without")
        (place.root / "a").unlink()
        (place.root / "a").write_bytes(b"new")
        theirs = (place.root / "a").stat().st_ino
    assert (place.root / "a").stat().st_ino == theirs
    assert swap.kept == []


# -- what is refused


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".gitignore", "never swapped"),
        ("sub/.gitattributes", "never swapped"),
        (".git/config", "never swapped"),
        ("sub/.GIT/hooks/x", "never swapped"),
        (".sisyphus/cc-omo/runtime.local.json", "never swapped"),
        ("../a", "no path below"),
        ("/etc/passwd", "no path below"),
        ("a/../../b", "no path below"),
        ("a//b", "no path below"),
        ("", "no path below"),
        ("link/a", "link is a link or a file"),
        ("pipe", "cannot be read, or is no file"),
        ("sub", "sub would become a file, and sub/x lies below it"),
    ],
)
def test_what_is_never_swapped(place: Place, path: str, why: str) -> None:
    lay(place.root, {"sub/x": b"", "link": ("->", "sub"), ".gitignore": b"*"})
    os.mkfifo(place.root / "pipe")
    was = sorted(os.listdir(place.root))
    with pytest.raises(NotMade, match=why), place.swap(without={path: file(b"x")}):
        pytest.fail("it was entered")
    assert sorted(os.listdir(place.root)) == sorted([*was, ".sisyphus"])
    assert place.left() == []


def test_a_file_below_a_file_is_not_made(place: Place) -> None:
    wanted = {"a": file(b"x"), "a/b": file(b"x")}
    with pytest.raises(NotMade, match="a cannot be a file and a directory at once"), place.swap(without=wanted):
        pytest.fail("it was entered")


def test_too_much_is_not_swapped(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swap_files, "MOST_BYTES", 1024)
    lay(place.root, {"a": b"x" * 600, "b": b"x" * 600})
    with pytest.raises(NotMade, match="hold more than"), place.swap(without={"a": NOTHING, "b": NOTHING}):
        pytest.fail("it was entered")


def test_a_submodule_is_named_and_not_swapped(repository: Place) -> None:
    inner = Place(repository.root / "lib")
    inner.git("init", "-q")
    inner.commit()
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "lib")
    for _ in ("checked out", "left empty"):
        with pytest.raises(NotMade, match="lib is a submodule"), repository.swap(without={"lib": NOTHING}):
            pytest.fail("it was entered")
        repository.git("submodule", "deinit", "-f", "lib")


def test_a_second_swap_at_the_same_time_is_refused_and_leaves_the_first_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omo.proof.swap.LOCK_SECONDS", 0.0)
    lay(place.root, {"a": b"new"})
    with place.swap(without={"a": file(b"base")}) as swap:
        swap.put("without")
        assert is_under_way(place.state)
        assert recover(place.state, str(place.root)) == []
        with pytest.raises(NotMade, match="puts them back by itself"), place.swap(without={"a": NOTHING}):
            pytest.fail("it was entered")
        assert (place.root / "a").read_bytes() == b"base"
    assert (place.root / "a").read_bytes() == b"new"
    assert not is_under_way(place.state)


# -- whatever fails


CALLS = ("replace", "rename", "link", "open", "write", "fsync", "unlink", "mkdir", "rmdir", "utime", "symlink", "chmod")


class Faults:
    """The n-th call of one of the system's functions fails, or from then on every one that needs room does."""

    def __init__(self, name: str, number: int, error: int, lasts: bool) -> None:
        self.left = number
        self._name, self._error, self._lasts = name, error, lasts
        self._real = getattr(os, name)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self.left -= 1
        if self.left == 0 or (self._lasts and self.left < 0):
            raise OSError(self._error, os.strerror(self._error), arguments[0] if arguments else None)
        return self._real(*arguments, **options)

    def __enter__(self) -> Faults:
        self._patch = patch.object(os, self._name, self)
        self._patch.start()
        return self

    def __exit__(self, *about: object) -> None:
        self._patch.stop()


def swap_all(place: Place) -> Swap:
    arrangement = {
        "a.py": file(b"old a"),
        "gone.py": file(b"was here"),
        "new/b.py": NOTHING,
        "link": file(b"no link"),
        "mod": NOTHING,
        "mod/c.py": file(b"c"),
    }
    swap = place.swap(without=arrangement, tests={"t.py": file(b"old test"), "link": File(b"t.py", "l")})
    with swap:
        swap.put("without")
        swap.put("tests")
    return swap


def each_failure(name: str, error: int, lasts: bool) -> Iterator[Faults]:
    for number in range(1, 400):
        yield (fault := Faults(name, number, error, lasts))
        if fault.left > 0:
            return  # it was not called so often
    pytest.fail(f"os.{name} is called without end")


@pytest.mark.parametrize("name", first_of(CALLS, 2))
def test_whichever_call_fails_once_the_tree_ends_as_it_was(place: Place, name: str) -> None:
    lay(place.root, {"a.py": b"new a+", "new/b.py": b"b", "link": ("->", "a.py"), "mod": b"m", "t.py": (b"t", 0o600)})
    was = seen(place.root)
    for fault in each_failure(name, errno.EIO, lasts=False):
        with fault:
            try:
                swap_all(place)
            except OmoError:
                pass
        recover(place.state, str(place.root))
        assert seen(place.root) == was, f"os.{name}, call {fault.left}"
        assert [name for name in place.left() if not name.startswith("kept")] == []


@pytest.mark.parametrize("name", ["write", "fsync", "mkdir"])
def test_on_a_full_disk_the_tree_ends_as_it_was(place: Place, name: str) -> None:
    """From the n-th call on there is no room, until after the swap has ended: what is put back needs none."""
    lay(place.root, {"a.py": b"new a+", "new/b.py": b"b", "link": ("->", "a.py"), "mod": b"m", "t.py": (b"t", 0o600)})
    was = seen(place.root)
    for fault in each_failure(name, errno.ENOSPC, lasts=True):
        with fault:
            try:
                swap_all(place)
            except OmoError:
                pass
        if name == "mkdir" and not (place.root / "new").exists():
            recover(place.state, str(place.root))  # a directory needs room too
        assert seen(place.root) == was


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_whatever_is_raised_the_tree_ends_as_it_was(place: Place, error: type[BaseException]) -> None:
    lay(place.root, {"a": b"new"})

    def swap_and_raise() -> None:
        with place.swap(without={"a": file(b"base")}) as swap:
            swap.put("without")
            raise error

    with pytest.raises(error):
        swap_and_raise()
    assert (place.root / "a").read_bytes() == b"new"
    assert place.left() == []


def test_a_damaged_journal_is_kept_and_told_of(place: Place) -> None:
    lay(place.root, {"a": b"new"})
    swap = place.swap(without={"a": file(b"base")}).__enter__()
    swap.put("without")
    die(swap)
    journal = Path(paths.swap_journal(place.state))
    journal.write_bytes(journal.read_bytes()[:-1])
    (line,) = recover(place.state, str(place.root))
    assert texts.says(line, "swap-journal-cut-off")
    assert not journal.exists()
    assert [name for name in place.left() if name.startswith("swap.journal.corrupt-")]


def test_a_copy_of_a_project_that_is_swapped_puts_back_its_own_files(place: Place, tmp_path: Path) -> None:
    lay(place.root, {"a": b"new"})
    with place.swap(without={"a": file(b"base")}) as swap:
        swap.put("without")
        subprocess.run(["cp", "-a", str(place.root), str(tmp_path / "copy")], check=True)
        copy = Place(tmp_path / "copy")
        assert recover(copy.state, str(copy.root))
        assert (copy.root / "a").read_bytes() == b"new"
        assert (place.root / "a").read_bytes() == b"base"


def test_a_state_elsewhere_puts_back_in_the_project_that_was_swapped_alone(tmp_path: Path) -> None:
    root, other, state = tmp_path / "root", tmp_path / "other", tmp_path / "state"
    lay(root, {"a": b"new"})
    lay(other, {"a": b"another worktree's"})
    swap = Swap(str(root), str(state), {"without": {"a": file(b"base")}}, list)
    swap.__enter__()
    swap.put("without")
    die(swap)
    (line,) = recover(str(state), str(other))
    assert texts.says(line, "swap-journal-of-another", root=root)
    assert ((root / "a").read_bytes(), (other / "a").read_bytes()) == (b"base", b"another worktree's")
    (kept,) = state.glob("swap.journal.corrupt-*")
    kept.rename(state / "swap.journal")
    assert recover(str(state), str(root))
    assert ((root / "a").read_bytes(), (other / "a").read_bytes()) == (b"new", b"another worktree's")


def test_where_the_state_is_on_another_file_system_originals_wait_beside(tmp_path: Path) -> None:
    candidates = [Path(name) for name in ("/dev/shm", "/tmp", "/var/tmp") if Path(name).is_dir()]
    others = [path for path in candidates if path.stat().st_dev != tmp_path.stat().st_dev]
    if not others:
        pytest.skip("there is no second file system here")
    elsewhere = others[0]
    lay(tmp_path / "root", {"a": b"new", "p/b": b"b"})
    was = seen(tmp_path / "root")
    with tempfile.TemporaryDirectory(dir=elsewhere) as state:
        arrangements = {"without": {"a": file(b"base"), "p/b": NOTHING}}
        with Swap(str(tmp_path / "root"), state, arrangements, list) as swap:
            swap.put("without")
            assert (tmp_path / "root" / "a").read_bytes() == b"base"
            (tmp_path / "root" / "a").write_bytes(b"edited")
        (kept,) = swap.kept
        assert (tmp_path / "root" / kept.kept_as).read_bytes() == b"edited"
        (tmp_path / "root" / kept.kept_as).unlink()
        assert seen(tmp_path / "root") == was
        swap = Swap(str(tmp_path / "root"), state, arrangements, list).__enter__()
        swap.put("without")
        die(swap)
        recover(state, str(tmp_path / "root"))
        assert seen(tmp_path / "root") == was


# -- real processes


SWAPS = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and so would we
from omo.proof.swap import Swap
from omo.proof.swap_files import File
root = sys.argv[1]
with Swap(root, root + "/.sisyphus/cc-omo", {"without": {"a": File(b"base", "f")}}, list) as swap:
    swap.put("without")
    gate = subprocess.Popen(sys.argv[2:], start_new_session=True)
    swap.group_started(gate.pid)
    print("swapped", gate.pid, flush=True)
    while True:
        time.sleep(60)
"""


def started(place: Place) -> tuple[subprocess.Popen[str], int]:
    child = subprocess.Popen(
        [sys.executable, "-c", SWAPS, str(place.root), "sleep", "600"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(KILLS.parents[1] / "src")},
    )
    assert child.stdout is not None
    word, pid = child.stdout.readline().split()
    assert word == "swapped"
    return child, int(pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_and_the_files_are_back(place: Place, number: signal.Signals) -> None:
    lay(place.root, {"a": b"new"})
    child, gate = started(place)
    try:
        assert is_under_way(place.state)
        child.send_signal(number)
        child.wait()
        assert child.returncode in (128 + number, -number, 1)
        assert (place.root / "a").read_bytes() == b"new"
        assert place.left() == []
    finally:
        os.kill(gate, 9)
        if child.stdout:
            child.stdout.close()


def test_a_signal_while_files_are_put_back_takes_effect_when_they_are(place: Place) -> None:
    """Not only at the end: a look for lines makes hundreds of runs within one swap."""
    lay(place.root, {"a": b"new"})
    stood = []
    went_on: list[bool] = []

    def list_untracked() -> list[str]:
        stood.append((place.root / "a").read_bytes())
        if stood[-1] == b"base":
            os.kill(os.getpid(), signal.SIGINT)
        return place.untracked()

    def swapped() -> None:
        with Swap(str(place.root), place.state, {"old": {"a": file(b"base")}}, list_untracked) as swap:
            swap.put("old")
            swap.put_back()
            went_on.append(True)

    with pytest.raises(KeyboardInterrupt):
        swapped()
    assert not went_on
    assert stood == [b"new", b"base"]
    assert (place.root / "a").read_bytes() == b"new"
    assert place.left() == []


def test_a_second_signal_waits_until_the_files_are_back(place: Place) -> None:
    """It would come between the first and the moment from which signals wait."""
    lay(place.root, {"a": b"new"})
    went_on: list[bool] = []

    def swapped() -> None:
        with place.swap(old={"a": file(b"base")}) as swap:
            swap.put("old")
            try:
                os.kill(os.getpid(), signal.SIGINT)
            finally:
                os.kill(os.getpid(), signal.SIGINT)
                went_on.append(True)

    with pytest.raises(KeyboardInterrupt):
        swapped()
    assert went_on
    assert (place.root / "a").read_bytes() == b"new"
    assert place.left() == []


def test_after_a_kill_the_gate_is_ended_first_and_the_files_are_back(place: Place) -> None:
    lay(place.root, {"a": b"new"})
    child, gate = started(place)
    child.kill()
    child.wait()
    assert child.stdout is not None
    child.stdout.close()
    assert (place.root / "a").read_bytes() == b"base"
    assert not is_under_way(place.state), "the gate lives on, and does not hold the lock"
    (told,) = recover(place.state, str(place.root))
    assert texts.says(told, "swap-ended-in-middle", count="1 file")
    assert (place.root / "a").read_bytes() == b"new"
    assert not is_alive(gate)


def is_alive(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as status:
            return status.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_killed_at_any_moment_nothing_is_lost() -> None:
    """A sample; the bench kills before every single call, and several hundred times at random."""
    done = subprocess.run([sys.executable, str(KILLS), "8", "13"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# -- git


def test_nobody_commits_while_files_are_swapped(repository: Place) -> None:
    lay(repository.root, {"a": b"base"})
    repository.commit()
    (repository.root / "a").write_bytes(b"the work")
    with repository.swap(without={"a": file(b"base")}) as swap:
        swap.put("without")
        repository.git("commit", "-qam", "the old work", code=128)
        repository.git("status", "--short")
    assert swap.moved == ""
    repository.git("commit", "-qam", "the work")
    assert repository.git("show", "HEAD:a") == "the work"


def test_a_head_that_moves_voids_the_result(repository: Place) -> None:
    lay(repository.root, {"a": b"base"})
    repository.commit()
    head = repository.git("rev-parse", "HEAD").strip()
    other = repository.git("commit-tree", "-m", "x", "HEAD^{tree}").strip()
    with repository.swap(without={"a": NOTHING}) as swap:
        swap.put("without")
        repository.git("update-ref", "HEAD", other)
    assert texts.says(swap.moved, "swap-head-moved", before=head[:12], after=other[:12])


def test_a_lock_that_somebody_takes_away_voids_the_result(repository: Place) -> None:
    lay(repository.root, {"a": b"base"})
    repository.commit()
    with repository.swap(without={"a": NOTHING}) as swap:
        swap.put("without")
        (repository.root / ".git" / "index.lock").unlink()
    assert texts.says(swap.moved, "swap-index-lock-taken")


def test_where_git_is_locked_nothing_is_swapped(repository: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_hold, "LOCK_SECONDS", 0.0)
    lay(repository.root, {"a": b"base"})
    lock = repository.root / ".git" / "index.lock"
    lock.touch()
    with pytest.raises(NotMade, match="locked by somebody else"), repository.swap(without={"a": NOTHING}):
        pytest.fail("it was entered")
    assert lock.exists()
    assert repository.left() == []
    assert not list((repository.root / ".git").glob("omo-*"))


def test_where_the_git_directory_is_read_only_the_index_is_compared(
    repository: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host's sandbox; root may write everywhere, so the refusal is the system's error here."""
    lay(repository.root, {"a": b"base"})
    repository.commit()

    def refuse(*arguments: object, **options: object) -> None:
        raise PermissionError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "link", refuse)
    with repository.swap(without={"a": NOTHING}) as swap:
        swap.put("without")
        monkeypatch.undo()
    assert swap.moved == ""
    monkeypatch.setattr(os, "link", refuse)
    with repository.swap(without={"a": NOTHING}) as swap:
        swap.put("without")
        monkeypatch.undo()
        assert not (repository.root / ".git" / "index.lock").exists()
        (repository.root / "b").touch()
        repository.git("add", "b")
    assert texts.says(swap.moved, "swap-index-changed")


def test_the_gate_has_an_index_of_its_own(repository: Place) -> None:
    lay(repository.root, {"a": b"base", "mod": b"m", "t": b"test"})
    repository.commit()
    lay(repository.root, {"a": b"the work", "new/b": b"b"})
    (repository.root / "mod").unlink()
    lay(repository.root, {"mod/c": b"c"})
    repository.commit()
    lay(repository.root, {"t": b"not staged"})
    before = repository.git("ls-files", "--stage")
    base = {"a": file(b"base"), "mod": file(b"m"), "mod/c": NOTHING, "new/b": NOTHING}
    with repository.swap(without=base) as swap:
        swap.put("without")
        environ = swap.environment({"X": "1"})
        assert environ == {"X": "1", "GIT_INDEX_FILE": ".git/omo-index"}
        assert repository.git("diff", "--name-only", environ=environ).split() == ["t"]
        assert repository.git("diff", "--name-only").split() != ["t"]
        assert set(repository.git("ls-files", environ=environ).split()) == {"a", "mod", "t"}
        swap.put_back()
        assert swap.environment({"X": "1"}) == {"X": "1"}
    assert repository.git("ls-files", "--stage") == before
    assert not list((repository.root / ".git").glob("omo-*"))


def test_a_gate_that_stashes_does_not_end_the_work(repository: Place) -> None:
    lay(repository.root, {"a": b"base", "t": b"test"})
    repository.commit()
    lay(repository.root, {"a": b"the work", "t": b"changed"})
    was = seen(repository.root)
    with repository.swap(without={"a": file(b"base")}) as swap:
        swap.put("without")
        repository.git("stash", environ=swap.environment({}))
    (repository.root / "t").write_bytes(b"changed")
    assert seen(repository.root) == was


def test_in_a_worktree_and_below_the_top_the_lock_is_where_git_looks_for_it(repository: Place, tmp_path: Path) -> None:
    lay(repository.root, {"sub/a": b"base"})
    repository.commit()
    repository.git("worktree", "add", "-q", str(tmp_path / "tree"))
    for here in (Place(tmp_path / "tree"), Place(repository.root / "sub")):
        name = "sub/a" if here.root.name == "tree" else "a"
        with here.swap(without={name: file(b"x")}) as swap:
            swap.put("without")
            assert swap.environment({}) == {}
            here.git("commit", "-qam", "x", code=128)
        assert swap.moved == ""
        here.git("commit", "-qam", "x", code=1)


def test_after_a_kill_nothing_of_ours_is_left_in_git(repository: Place) -> None:
    lay(repository.root, {"a": b"base"})
    repository.commit()
    swap = repository.swap(without={"a": file(b"x")}).__enter__()
    swap.put("without")
    swap.environment({})
    die(swap)
    repository.git("commit", "-qam", "x", code=128)
    recover(repository.state, str(repository.root))
    assert not list((repository.root / ".git").glob("omo-*"))
    repository.git("commit", "-qm", "x", "--allow-empty")


def test_originals_are_synced_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(place.root, {f"{number}.py": b"new" for number in range(50)})
    synced: list[int] = []
    real = os.fsync

    def sync(descriptor: int) -> None:
        synced.append(descriptor)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    with place.swap(without={f"{number}.py": file(b"base") for number in range(50)}) as swap:
        swap.put("without")
    assert len(synced) == 2, "the journal and its directory"


def test_what_is_kept_says_where(place: Place) -> None:
    lay(place.root, {"p/a": b"new"})
    with place.swap(without={"p/a": file(b"base")}) as swap:
        swap.put("without")
        (place.root / "p/a").write_bytes(b"edit")
    (kept,) = swap.kept
    assert isinstance(kept, Kept)
    assert kept.kept_as.startswith(".sisyphus/cc-omo/kept/")
    assert kept.kept_as.endswith("/p/a.kept")
