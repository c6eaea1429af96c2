"""How many tests assert a phrase of three words or more, by folder.

    python3 bench/phrases.py [--tests FOLDER]

Such a test fails when a sentence is reworded, though nothing broke. A sentence is asserted in `tests/texts`, and other
tests assert facts. A phrase counts wherever an `assert` has it: as text, formatted, in a pattern, or as a constant
that the file defines or imports. With --tests it names the tests of one folder.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXTS = "texts"  # the folder whose business it is
FEWEST_WORDS = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", metavar="FOLDER", help="name the tests of this folder of tests/")
    arguments = parser.parse_args()
    asserting: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        inside = path.relative_to(ROOT / "tests")
        folder = inside.parts[0] if len(inside.parts) > 1 else "."
        if folder == TEXTS:
            continue
        constants = phrases_named_in(path)
        for test in tests_of(path):
            total[folder] += 1
            phrase = asserted_phrase(test, constants)
            if phrase:
                asserting[folder] += 1
                if arguments.tests == folder:
                    print(f"{inside}:{test.lineno} {test.name}: {phrase[:80]!r}")
    print(f"{'folder':<14}{'tests':>7}{'with a phrase':>15}{'%':>6}")
    for folder in sorted(total):
        print(row(folder, total[folder], asserting[folder]))
    print(row("all", total.total(), asserting.total()))
    return 0


def row(folder: str, tests: int, asserting: int) -> str:
    return f"{folder:<14}{tests:>7}{asserting:>15}{100 * asserting / tests:>6.0f}"


def tests_of(path: Path) -> list[ast.FunctionDef]:
    functions = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef)]
    return [function for function in functions if function.name.startswith("test_")]


def asserted_phrase(test: ast.FunctionDef, constants: dict[str, str]) -> str:
    """Return the first phrase that an assertion of this test has, or an empty text."""
    for node in ast.walk(test):
        if isinstance(node, ast.Assert):
            for part in ast.walk(node.test):
                phrase = phrase_of(part, constants)
                if phrase:
                    return phrase
    return ""


def phrase_of(node: ast.AST, constants: dict[str, str]) -> str:
    text = ""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.Name):
        text = constants.get(node.id, "")
    elif isinstance(node, ast.Attribute):
        text = constants.get(node.attr, "")
    return text if is_phrase(text) else ""


def is_phrase(text: str) -> bool:
    """Return whether somebody speaks here; commands, paths and code are facts."""
    words = [word for word in text.split() if word.strip(".,:;!?()[]“”\"'").isalpha()]
    return len(words) >= FEWEST_WORDS and words[0] not in ("omo", "git", "def", "import", "from")


def phrases_named_in(path: Path) -> dict[str, str]:
    """Return the constants of text that a file defines or imports from this repository, by name."""
    named = dict(constants_of(path))
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            source = file_of(node.module)
            if source is None:
                continue
            theirs = constants_of(source)
            for alias in node.names:
                if alias.name in theirs:
                    named[alias.asname or alias.name] = theirs[alias.name]
                module = file_of(f"{node.module}.{alias.name}")
                if module is not None:
                    named |= constants_of(module)
    return named


@cache
def constants_of(path: Path) -> dict[str, str]:
    found = {}
    for node in tree_of(path).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found[target.id] = node.value.value
    return found


def file_of(module: str) -> Path | None:
    for base in (ROOT, ROOT / "src"):
        path = base.joinpath(*module.split("."))
        for candidate in (path.with_suffix(".py"), path / "__init__.py"):
            if candidate.is_file():
                return candidate
    return None


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
