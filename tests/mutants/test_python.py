"""Mutants of Python: which there are, and that everything else in the file stays."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omo
from omo.mutants import MOST_PER_LINE, NoMutants, Tools, mutants_of
from omo.proof.run import CommandOutcome
from tests import texts
from tests.mutants.tools import every_line, made, rows, tools

HERE = tools(Path.cwd())


class Case(NamedTuple):
    source: str
    mutants: list[tuple[int, str, str]]


CASES = {
    "a condition, negated": Case("if x:\n    y = 1\n", [(1, "condition", "if not (x):")]),
    "elif, while and a conditional expression": Case(
        "if x:\n    a\nelif y: b\nwhile z: c\nd = 1 if e else 2\n",
        [
            (1, "condition", "if not (x):"),
            (3, "condition", "elif not (y): b"),
            (4, "condition", "while not (z): c"),
            (5, "condition", "d = 1 if not (e) else 2"),
        ],
    ),
    "a comparison as a condition: what negates it is no second mutant": Case(
        "if a == b: c\nif a < b: c\n",
        [
            (1, "comparison", "if a != b: c"),
            (2, "condition", "if not (a < b): c"),
            (2, "comparison", "if a <= b: c"),
        ],
    ),
    "every comparison": Case(
        "x = a <= b, a > b\nx = a >= b, a != b\nx = a is b, a is not b\nx = a in b, a not in b\n",
        [
            (1, "comparison", "x = a < b, a > b"),
            (1, "comparison", "x = a <= b, a >= b"),
            (2, "comparison", "x = a > b, a != b"),
            (2, "comparison", "x = a >= b, a == b"),
            (3, "comparison", "x = a is not b, a is not b"),
            (3, "comparison", "x = a is b, a is b"),
            (4, "comparison", "x = a not in b, a not in b"),
            (4, "comparison", "x = a in b, a in b"),
        ],
    ),
    "a chain": Case(
        "x = a < b <= c\n",
        [(1, "comparison", "x = a <= b <= c"), (1, "comparison", "x = a < b < c")],
    ),
    "and, or": Case(
        "x = a and b or c\n",
        [(1, "boolean", "x = a or b or c"), (1, "boolean", "x = a and b and c")],
    ),
    "arithmetic": Case(
        "x = a + b - c\nx = a * b / c\nx //= 2\nx += 1\n",
        [
            (1, "arithmetic", "x = a - b - c"),
            (1, "arithmetic", "x = a + b + c"),
            (2, "arithmetic", "x = a / b / c"),
            (2, "arithmetic", "x = a * b * c"),
            (3, "arithmetic", "x *= 2"),
            (4, "arithmetic", "x -= 1"),
        ],
    ),
    "text and lists are no numbers": Case(
        "x = 'a' + b + c\nx = [a] * 3\nx = f'{a + b}' + c\nx = path / 'a' / b\nx += ['b']\nx = a % b\n", []
    ),
    "a call, dropped": Case(
        "save(x)\nif y: self.go(1); stop()\nasync def f():\n    await g()\nx = save(y)\n",
        [
            (1, "call", "pass"),
            (2, "condition", "if not (y): self.go(1); stop()"),
            (2, "call", "if y: pass; stop()"),
            (2, "call", "if y: self.go(1); pass"),
            (4, "call", "pass"),
        ],
    ),
    "what is returned": Case(
        "def f():\n    return x\n    return True\n    return -1\n    return 0.5\n    return None\n    return\n"
        "    return ''\n",
        [
            (2, "return", "return None"),
            (3, "return", "return False"),
            (4, "return", "return 0"),
            (5, "return", "return 1.5"),
            (8, "return", "return None"),
        ],
    ),
    "words that touch": Case(
        "def f():\n    if'a'in b: return'c'\n",
        [(2, "comparison", "if'a'not in b: return'c'"), (2, "return", "if'a'in b: return None")],
    ),
    "a condition that touches its word": Case("if'a': b\n", [(1, "condition", "if not ('a'): b")]),
    "operators behind comments, over lines": Case(
        "x = (a  # < b\n     ) \\\n    is \\\n    not (b)\n", [(3, "comparison", "is (b)")]
    ),
    "a walrus": Case(
        "while n := read(): pass\nif (m := f()) > 1: pass\n",
        [
            (1, "condition", "while not (n := read()): pass"),
            (2, "condition", "if not ((m := f()) > 1): pass"),
            (2, "comparison", "if (m := f()) >= 1: pass"),
        ],
    ),
    "match: guards, and no patterns": Case(
        "match x:\n    case [1 + 2j, *_] if y:\n        go()\n    case {'a': -1}:\n        pass\n",
        [(2, "condition", "case [1 + 2j, *_] if not (y):"), (3, "call", "pass")],
    ),
    "lambdas, decorators, comprehensions": Case(
        "@cached(a < b)\ndef f(x: int = 1 + 2): pass\ng = lambda y: y - 1\nz = [i for i in x if i if j]\n",
        [
            (1, "comparison", "@cached(a <= b)"),
            (2, "arithmetic", "def f(x: int = 1 - 2): pass"),
            (3, "arithmetic", "g = lambda y: y + 1"),
            (4, "condition", "z = [i for i in x if not (i) if j]"),
            (4, "condition", "z = [i for i in x if i if not (j)]"),
        ],
    ),
    "f-strings are left alone, what is beside them is not": Case(
        "x = f'{a + b} {c if d else e}' if y else f'{z!r:>{w - 1}}'\n",
        [(1, "condition", "x = f'{a + b} {c if d else e}' if not (y) else f'{z!r:>{w - 1}}'")],
    ),
    "form feeds, tabs, letters of two bytes": Case(
        "\fif é == 'ü\f': x\n\f\ndef f():\n\f\tgo('ö'); return ä + b\n",
        [
            (1, "comparison", "if é != 'ü\f': x"),
            (4, "call", "pass; return ä + b"),
            (4, "return", "go('ö'); return None"),
            (4, "arithmetic", "go('ö'); return ä - b"),
        ],
    ),
    "nothing that no test can see": Case(
        '"""A < B."""\n'
        "if TYPE_CHECKING:\n    import a\n"
        "if __name__ == '__main__':\n    main()\n"
        "__all__ = ['a'] + b\n__all__.append('c')\n"
        "def f(x: A[1 < 2]) -> B[1 + 2]: 'go()'\n"
        "y: C[1 + 2]\n"
        "assert a < b, go()\n"
        "pass\n",
        [],
    ),
    "what is logged": Case(
        "log.info('%s', a + b)\nself._logger.warning(c if d else e)\n"
        "logging.getLogger(__name__).error('x')\nlog.append(1)\n",
        [(4, "call", "pass")],
    ),
    "the else of what only a type checker reads": Case(
        "if typing.TYPE_CHECKING:\n    a()\nelse:\n    b()\nif not TYPE_CHECKING:\n    c()\n",
        [(4, "call", "pass"), (5, "condition", "if not (not TYPE_CHECKING):"), (6, "call", "pass")],
    ),
    "nothing to mutate": Case("x = 1\nimport a\n", []),
}


@pytest.mark.parametrize("name", CASES)
def test_mutants(name: str) -> None:
    case = CASES[name]
    assert rows("a.py", case.source.encode(), HERE) == case.mutants


def test_only_changed_lines_have_mutants() -> None:
    content = b"if a:\n    b()\nif c:\n    d()\n"
    assert rows("a.py", content, HERE, [2, 3, 99]) == [(2, "call", "pass"), (3, "condition", "if not (c):")]


def test_a_call_over_lines_belongs_to_each_of_them_unless_there_are_many() -> None:
    short = b"go(\n    1,\n    2,\n)\n"
    assert rows("a.py", short, HERE, [3]) == [(3, "call", "pass")]
    long = b"go(\n" + 20 * b"    1,\n" + b")\n"
    assert rows("a.py", long, HERE, [3]) == []
    assert rows("a.py", long, HERE, [1, 3]) == [(1, "call", "pass")]


def test_a_line_has_few_mutants_and_some_of_each_kind() -> None:
    found = rows("a.py", b"def f(): return a < b < c < d and e and f and g + h + i\n", HERE)
    assert len(found) == MOST_PER_LINE
    assert {kind for _, kind, _ in found} == {"return", "comparison", "boolean", "arithmetic"}


@pytest.mark.parametrize(
    ("encoding", "cookie", "end"),
    [
        ("utf-8", "", "\n"),
        ("utf-8", "", "\r"),
        ("utf-8-sig", "", "\r\n"),
        ("utf-8-sig", "# coding: utf-8\n", "\r\n"),
        ("latin-1", "# -*- coding: latin-1 -*-\n", "\n"),
        ("latin-1", "# -*- coding: latin-1 -*-\n", "\r\n"),
        ("euc-jp", "# vim: set fileencoding=euc-jp :\n", "\r\n"),
    ],
)
def test_the_bytes_around_a_mutant_stay(encoding: str, cookie: str, end: str) -> None:
    letters = {"latin-1": "é", "euc-jp": "日本"}.get(encoding, "é日")
    before, after = f"{cookie}x = '{letters}'; {letters} = x", f"\t# {letters}{end}y = 2"
    content = f"{before} < 3{after}".replace("\n", end).encode(encoding)
    (mutant,) = made(mutants_of("a.py", content, every_line(content), HERE))
    assert mutant.content == f"{before} <= 3{after}".replace("\n", end).encode(encoding)
    assert mutant.line == cookie.count("\n") + 1
    assert letters in mutant.before
    assert letters in mutant.after


UNREADABLE = {
    "a syntax error": (b"x = 1\nif x\n", "cannot read line 2: "),
    "newer than this Python": (b"x = 1\nunless x: pass\n", "cannot read line 2: "),
    "another encoding than it says": (b"# coding: ascii\nx = '\xff'\n", "cannot read it: "),
    "an encoding that nobody knows": (b"# coding: martian\n", "martian"),
    "a zero byte": (b"x = 1\0\n", "cannot read"),
    "too deep": (b"x = " + 100_000 * b"-" + b"1\n", "cannot read"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_no_empty_list(name: str) -> None:
    content, why = UNREADABLE[name]
    found = mutants_of("a.py", content, [1], HERE)
    assert isinstance(found, NoMutants)
    assert why in found.why
    assert texts.says(found.why, "mutants-of-file-not-made", file="a.py")
    assert found.reason.startswith("Python 3.")


def test_other_files_have_none() -> None:
    for path, kind in {"notes.txt": ".txt", "Makefile": "such", "a.pyi": ".pyi"}.items():
        found = mutants_of(path, b"x < y\n", [1], HERE)
        assert found == NoMutants(path, f"omo makes none of {kind} files")


SOURCE = Path(omo.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
OPERANDS = st.recursive(
    st.sampled_from(["a", "'é'", "1", "f(x)", "b.c", "(d\n)", "[i for i in e if i]", "(lambda: 0)"]),
    lambda inner: st.one_of(
        st.tuples(
            inner,
            st.sampled_from([" < ", "==", " is  not ", " not in ", " and ", " or ", "+", "//", " # or\n is "]),
            inner,
        ).map(lambda three: f"({''.join(three)})"),
        inner.map(lambda value: f"(not {value})"),
        st.tuples(inner, inner, inner).map(lambda three: "({} if {} else {})".format(*three)),
    ),
    max_leaves=6,
)
STATEMENTS = st.tuples(
    st.sampled_from(
        ["if {}: go()", "while {}: x += {}", "return {}", "f({}); g()", "x = {}", "return({})", "await {}"]
    ),
    OPERANDS,
).map(lambda two: two[0].replace("{}", two[1]))
PROGRAMS = st.lists(STATEMENTS, min_size=1, max_size=4).map(
    lambda statements: "async def f():\n" + "".join(f"\t{statement}\n" for statement in statements)
)


def holds(path: str, content: bytes, lines: set[int]) -> None:
    """Assert that each mutant parses to another module, and differs in one place on its lines alone."""
    original = content.splitlines(keepends=True)
    tree = parsed(content)
    for mutant in made(mutants_of(path, content, lines, HERE)):
        changed = mutant.content
        assert parsed(changed) != tree, mutant
        start, end, text, _ = mutant.edit
        assert changed == content[:start] + text + content[end:]
        first = content[:start].count(b"\n") + 1
        last = content[:end].count(b"\n") + 1
        assert lines & set(range(first, last + 1))
        assert mutant.line in lines
        now = changed.splitlines(keepends=True)
        assert now[: first - 1] == original[: first - 1]
        assert now[len(now) - (len(original) - last) :] == original[last:]


def parsed(content: bytes) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.dump(ast.parse(content))


@settings(max_examples=20)
@given(st.sampled_from(MODULES), st.data())
def test_each_mutant_of_real_modules_differs_in_one_place(module: Path, data: st.DataObject) -> None:
    content = module.read_bytes()
    lines = data.draw(st.sets(st.sampled_from(every_line(content) or [1]), max_size=20))
    holds("a.py", content, lines)


@given(PROGRAMS, st.sampled_from(["\n", "\r\n"]))
def test_each_mutant_of_any_program_differs_in_one_place(program: str, end: str) -> None:
    content = program.replace("\n", end).encode()
    holds("a.py", content, set(every_line(content)))


def test_a_newer_grammar_is_read_where_the_interpreter_has_it() -> None:
    source = b"def f[T: (int, 1 < 2)](x: T) -> T:\n    return x\ntype A[T] = B[1 + 2]\n"
    found = mutants_of("a.py", source, [1, 2, 3], HERE)
    if sys.version_info < (3, 12):
        assert isinstance(found, NoMutants)
    else:
        assert [mutant.after for mutant in made(found)] == ["return None"]


def test_no_program_is_started_for_python() -> None:
    def start(argv: Sequence[str], *, cwd: Path, stdin: bytes, variables: Mapping[str, str]) -> CommandOutcome:
        raise AssertionError(argv)

    assert rows("a.py", b"go()\n", Tools(Path.cwd(), start)) == [(1, "call", "pass")]
