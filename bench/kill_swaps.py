#!/usr/bin/env python3
"""Kill a process that swaps files, at random moments, and see what a user is left with.

    python3 bench/kill_swaps.py [N]

A child swaps one tree again and again; it is killed; the tree is put back as the next hook or command would. Every
third time somebody edits a file meanwhile. A tree is wrong if a file is not as it was (or as it was edited), or if
anything of ours lies about; an edit is lost if it is neither in the tree nor kept. Exits 1 if there was one.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from omo.proof.swap import NOTHING, File, Swap, recover

LONGEST_WAIT = 0.06  # seconds until the kill: several rounds of the child
FILES = 12
Seen = dict[str, tuple[object, ...]]


def lay(root: Path) -> dict[str, dict[str, File]]:
    """A tree of every shape, and two arrangements of it."""
    without: dict[str, File] = {}
    for number in range(FILES):
        path = root / "src" / f"work{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"new %d\n" % number * (number * 500 + 1))
        without[f"src/work{number}.py"] = File(b"old %d\n" % number * (number * 400 + 1), "f")
    (root / "src/work0.py").chmod(0o444)
    (root / "src/work1.py").chmod(0o755)
    for name in ("new/pkg/a.py", "tests/test_a.py", "tests/test_new.py", "mod", ".env"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(f"{name} as it is\n".encode())
    (root / "link").symlink_to("mod")
    without |= {"new/pkg/a.py": NOTHING, "gone/b.py": File(b"was here\n", "x"), "link": File(b"no link\n", "f")}
    without |= {"mod": NOTHING, "mod/c.py": File(b"a directory\n", "f")}
    tests = {"tests/test_a.py": File(b"old test\n", "f"), "tests/test_new.py": NOTHING}
    return {"without": without, "tests": tests}


def swap_until_killed(root: Path) -> None:
    arrangements = lay_again(root)
    print("begins", flush=True)
    while True:
        with Swap(str(root), str(state_of(root)), arrangements, list) as swap:
            swap.put("without")
            swap.put("tests")


def lay_again(root: Path) -> dict[str, dict[str, File]]:
    """The arrangements alone: the tree is there."""
    with tempfile.TemporaryDirectory() as other:
        return lay(Path(other))


def state_of(root: Path) -> Path:
    return root / ".sisyphus" / "cc-omo"


def seen(root: Path) -> Seen:
    found: Seen = {}
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if name != ".sisyphus"]
        for name in [*names, *files]:
            path = Path(directory, name)
            mode = path.lstat().st_mode
            key = str(path.relative_to(root))
            if stat.S_ISLNK(mode):
                found[key] = ("link", os.readlink(path))
            elif stat.S_ISDIR(mode):
                found[key] = ("directory", stat.S_IMODE(mode))
            else:
                found[key] = (path.read_bytes(), stat.S_IMODE(mode))
    return found


class Count:
    def __init__(self) -> None:
        self.kills = self.put_back = self.edits = self.kept = self.wrong = self.lost = self.left = 0


def one(root: Path, count: Count, luck: random.Random) -> None:
    was = seen(root)
    child = subprocess.Popen([sys.executable, __file__, "--child", str(root)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    wait = luck.random() * LONGEST_WAIT
    edited, text = "", b""
    if count.kills % 3 == 2:
        time.sleep(wait / 2)
        edited = luck.choice(["src/work5.py", "tests/test_a.py", "new/pkg/a.py"])
        text = b"edited from outside %d\n" % count.kills
        edit(root / edited, text, by_rename=luck.random() < 0.5)
        count.edits += 1
    time.sleep(wait / 2)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    count.kills += 1
    if recover(str(state_of(root)), str(root)):
        count.put_back += 1
    judge(root, count, was, edited, text)


def edit(path: Path, text: bytes, *, by_rename: bool) -> None:
    """As an editor saves: into the file, or another one renamed over it. It may be gone at this moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not by_rename:
        path.write_bytes(text)
        return
    aside = path.parent / f".{path.name}.editor"
    try:
        aside.write_bytes(text)
        os.replace(aside, path)
    except FileNotFoundError:  # the directory has just gone with its last file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def judge(root: Path, count: Count, was: Seen, edited: str, text: bytes) -> None:
    now = seen(root)
    wanted = dict(was)
    if edited:
        is_kept = any(path.read_bytes() == text for path in state_of(root).rglob("*") if path.is_file())
        is_there = edited in now and now[edited][0] == text
        if is_kept:
            count.kept += 1
        if is_there:
            wanted[edited] = now[edited]
        if not is_kept and not is_there:
            count.lost += 1
            print(f"lost: the edit of {edited}")
    if now != wanted:
        count.wrong += 1
        for path in sorted({*now, *wanted}):
            if now.get(path) != wanted.get(path):
                print(f"wrong: {path}: {str(now.get(path))[:60]} instead of {str(wanted.get(path))[:60]}")
    ours = (".gitignore", "swap.lock", "swap.journal.tmp")  # the last was never a journal, and the next begins it anew
    left = [path.name for path in state_of(root).rglob("*") if path.is_file() and path.name not in ours]
    left = [name for name in left if "kept" not in str(next(state_of(root).rglob(name)))]
    if left:
        count.left += 1
        print(f"left: {left}")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--child"]:
        swap_until_killed(Path(arguments[1]))
    kills = int(arguments[0]) if arguments else 300
    count, luck = Count(), random.Random(20)
    with tempfile.TemporaryDirectory() as directory:
        for number in range(kills):
            root = Path(directory, str(number))
            lay(root)
            one(root, count, luck)
            shutil.rmtree(root)
    for name, value in vars(count).items():
        print(f"{name:9} {value:5}")
    return 1 if count.wrong or count.lost or count.left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
