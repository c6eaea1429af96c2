"""Which conditions of the source no test decides: parts of an `and` or `or`, tests of an `if`, filters of a list.

    python3 bench/conditions.py [--since COMMIT] [pytest arguments]    with --since those on changed lines alone

The tests run on a copy of this checkout in which every condition notes whether it was true or false. One that was only
ever true, or only ever false, is a rule that no test holds, or narrows a type, or guards against what no test can make
happen: a list to read, not a bound. In the copy, tests fail that read the source or count what a hook loads.
"""

from __future__ import annotations

import argparse
import ast
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path("src", "omo")
NAME = "_watched"
FUTURE = b"from __future__ import annotations\n"
# Of two bytes for each condition the first says that it was false, the second that it was true.
WATCHED = """import mmap

with open({path!r}, "r+b") as file:
    _seen = mmap.mmap(file.fileno(), 0)


def seen(number, value):
    _seen[2 * number + bool(value)] = 1
    return value
"""
TESTS = ("-q", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider", "-m", "not client and not install")


@dataclass(frozen=True)
class Condition:
    path: Path
    line: int
    text: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", metavar="COMMIT")
    arguments, for_pytest = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="omo-conditions-") as directory:
        copy, record = Path(directory, "omo"), Path(directory, "seen")
        copy_checkout(copy)
        conditions = watch(copy, record)
        subprocess.run([sys.executable, "-m", "pytest", *TESTS, *for_pytest], cwd=copy, check=False)
        seen = record.read_bytes()
    changed = _changed_lines(arguments.since) if arguments.since else None
    counts = {"decided": 0, "only true": 0, "only false": 0, "not reached": 0}
    for number, each in enumerate(conditions):
        if changed is not None and (str(each.path), each.line) not in changed:
            continue
        was_false, was_true = seen[2 * number : 2 * number + 2]
        word = ("not reached", "only true", "only false", "decided")[was_true + 2 * was_false]
        counts[word] += 1
        if word != "decided":
            print(f"{each.path}:{each.line}: {word}: {each.text}")
    print("  ".join(f"{word} {count}" for word, count in counts.items()))
    return 0


def copy_checkout(copy: Path) -> None:
    """Copy what git knows of."""
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in filter(lambda name: (ROOT / name).is_file(), listed.stdout.split("\0")):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)


def watch(copy: Path, record: Path, folders: Sequence[str] = ("",)) -> list[Condition]:
    """Have every condition of these folders of the copy note in the record what it was; where each of them stands."""
    conditions: list[Condition] = []
    for path in sorted(path for folder in folders for path in (copy / SOURCE / folder).rglob("*.py")):
        content = path.read_bytes()
        if FUTURE not in content:
            continue
        lines = content.splitlines(keepends=True)
        inserted: list[tuple[int, int, int, bytes]] = []  # line, column, order among those of one place, text
        for node in sorted(_conditions(ast.parse(content)), key=lambda node: node.lineno):
            end_line, end_column = node.end_lineno or 0, node.end_col_offset or 0
            text = ast.get_source_segment(content.decode(), node) or ""
            inserted.append((node.lineno, node.col_offset, len(inserted), b"_o(%d, " % len(conditions)))
            inserted.append((end_line, end_column, -1, b")"))
            conditions.append(Condition(path.relative_to(copy), node.lineno, " ".join(text.split())))
        for line, column, _, call in sorted(inserted, reverse=True):
            lines[line - 1] = lines[line - 1][:column] + call + lines[line - 1][column:]
        importing = FUTURE[:-1] + f"; from omo.{NAME} import seen as _o\n".encode()
        path.write_bytes(b"".join(lines).replace(FUTURE, importing, 1))
    (copy / SOURCE / f"{NAME}.py").write_text(WATCHED.format(path=str(record)), encoding="utf-8")
    record.write_bytes(bytes(2 * len(conditions)))
    return conditions


def _conditions(node: ast.AST) -> Iterator[ast.expr]:
    """Outer ones before those inside of them."""
    if isinstance(node, ast.JoinedStr):
        return  # before Python 3.12 nothing says where in a line its parts are
    tests: list[ast.expr] = []
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        tests = [node.test]
    elif isinstance(node, ast.BoolOp):
        tests = node.values
    elif isinstance(node, ast.comprehension):
        tests = node.ifs
    for test in tests:
        if not isinstance(test, (ast.BoolOp, ast.Constant)) and ast.unparse(test) != "TYPE_CHECKING":
            yield test
    for child in ast.iter_child_nodes(node):
        yield from _conditions(child)


def _changed_lines(commit: str) -> set[tuple[str, int]]:
    diff = subprocess.run(
        ["git", "diff", "-U0", "--no-prefix", commit, "--", SOURCE],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    path, changed = "", set()
    for line in diff.stdout.splitlines():
        if line.startswith("+++ "):
            path = line[4:]
        elif found := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line):
            start, count = int(found[1]), int(found[2] or 1)
            changed |= {(path, number) for number in range(start, start + count)}
    return changed


if __name__ == "__main__":
    sys.exit(main())
