"""Mutants of JavaScript and TypeScript, by each parser that a project may have."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from omo.mutants import NoMutants, Tools, mutants_of
from tests import packages, texts
from tests.mutants.tools import every_line, made, rows, tools

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not here")
# Node has acorn in itself, which needs no registry.
ACORN = "process.stdout.write(process.binding('natives')['internal/deps/acorn/acorn/dist/acorn'])"
TYPESCRIPT, BABEL, OF_NODE = "typescript", "@babel/parser", "acorn"
PARSERS = (TYPESCRIPT, BABEL, OF_NODE)


def project(root: Path, *parsers: str) -> Tools:
    """A project with these parsers in its node_modules."""
    for name in parsers:
        place = root / "node_modules" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if name == OF_NODE:
            place.mkdir()
            code = subprocess.run([str(NODE), "--no-deprecation", "-e", ACORN], capture_output=True, check=True).stdout
            (place / "index.js").write_bytes(code)
            continue
        fetched = packages.node_modules(packages.RUNNERS) / name
        if not fetched.is_dir():
            pytest.skip(f"{name} is not here")
        place.symlink_to(fetched)
    return tools(root)


@pytest.fixture(params=PARSERS)
def any_parser(request: pytest.FixtureRequest, tmp_path: Path) -> Tools:
    return project(tmp_path, request.param)


class Case(NamedTuple):
    source: str
    mutants: list[tuple[int, str, str]]


CASES = {
    "conditions": Case(
        "if (a) b\nwhile ((a)) b\ndo b; while (a)\nfor (;a;) b\nfor (;;) b\nx = a ? b : c\n",
        [
            (1, "condition", "if (!(a)) b"),
            (2, "condition", "while ((!(a))) b"),
            (3, "condition", "do b; while (!(a))"),
            (4, "condition", "for (;!(a);) b"),
            (6, "condition", "x = !(a) ? b : c"),
        ],
    ),
    "comparisons": Case(
        "if (a === b) c\nif (a /* < */ < (b)) c\nx = a != b\n",
        [
            (1, "comparison", "if (a !== b) c"),
            (2, "condition", "if (!(a /* < */ < (b))) c"),
            (2, "comparison", "if (a /* < */ <= (b)) c"),
            (3, "comparison", "x = a == b"),
        ],
    ),
    "and, or, arithmetic": Case(
        "x = a && b || c\nx = (a + 1) // b\n  * 2\nx += 1\nx = 'a' + b + c + `d`\nx = a ?? b\n",
        [
            (1, "boolean", "x = a || b || c"),
            (1, "boolean", "x = a && b && c"),
            (2, "arithmetic", "x = (a - 1) // b"),
            (3, "arithmetic", "/ 2"),
            (4, "arithmetic", "x -= 1"),
        ],
    ),
    "calls": Case(
        "'use strict'\nsave(x)\nif (a) b?.c(); else d()\nconsole.log(a + b)\nthis.logger.warn(a < b)\nx = f()\n"
        "class A extends B { constructor() { super(1); this.b() } }\nasync () => { await g() }\n",
        [
            (2, "call", ";"),
            (3, "condition", "if (!(a)) b?.c(); else d()"),
            (3, "call", "if (a) ; else d()"),
            (3, "call", "if (a) b?.c(); else ;"),
            (7, "call", "class A extends B { constructor() { super(1); ; } }"),
            (8, "call", "async () => { ; }"),
        ],
    ),
    "what is returned": Case(
        "function f() {\n  return a\n  return true\n  return -1\n  return null\n  return\n  return('é')\n"
        "  return`x`\n}\nx = b => c\nx = () => ({ d })\n",
        [
            (2, "return", "return undefined"),
            (3, "return", "return false"),
            (4, "return", "return 0"),
            (7, "return", "return(undefined)"),
            (8, "return", "return undefined"),
            (10, "return", "x = b => undefined"),
            (11, "return", "x = () => (undefined)"),
        ],
    ),
    "a module that is loaded for what it does": Case("import('b')\n", [(1, "call", ";")]),
    "nothing": Case("const a = 1\n", []),
}
# What no script, and no module, can have.
SCRIPT = Case("\ufeff#!/usr/bin/env node\nwith (a) b = c < 𝒹\n", [(2, "comparison", "with (a) b = c <= 𝒹")])
MODULE = Case("import a from 'b'\nexport const c = await a > 2\n", [(2, "comparison", "export const c = await a >= 2")])


def test_mutants(any_parser: Tools) -> None:
    """As one file, since node takes longer to start than to look."""
    source, expected = "", []
    for case in CASES.values():
        before = source.count("\n")
        source += case.source
        expected += [(before + line, kind, after) for line, kind, after in case.mutants]
    content = source.replace("\n", "\r\n").encode()
    found = made(mutants_of("src/a.js", content, every_line(content), any_parser))
    assert [(mutant.line, mutant.kind, mutant.after) for mutant in found] == expected
    for mutant in found:
        start, end, text, _ = mutant.edit
        assert mutant.content == content[:start] + text + content[end:]


@pytest.mark.parametrize("case", [SCRIPT, MODULE], ids=["script", "module"])
def test_scripts_and_modules(case: Case, any_parser: Tools) -> None:
    assert rows("a.js", case.source.encode(), any_parser) == case.mutants


TYPED = """type A<T> = T extends string ? { a: 1 } : null;
enum B { c = 1 + 2 }
const V = ({ on, n }: { on: boolean; n?: number }) => <b>{on && n! > 1 ? <i>{n}</i> : null}</b>;
function f(this: Window, x: unknown): number { return <T,>(y: T) => (x as number) < 2; }
"""
TYPED_MUTANTS = [
    (2, "arithmetic", "enum B { c = 1 - 2 }"),
    (3, "return", "const V = ({ on, n }: { on: boolean; n?: number }) => undefined;"),
    (
        *(3, "condition"),
        "const V = ({ on, n }: { on: boolean; n?: number }) => <b>{!(on && n! > 1) ? <i>{n}</i> : null}</b>;",
    ),
    (3, "boolean", "const V = ({ on, n }: { on: boolean; n?: number }) => <b>{on || n! > 1 ? <i>{n}</i> : null}</b>;"),
    (
        *(3, "comparison"),
        "const V = ({ on, n }: { on: boolean; n?: number }) => <b>{on && n! >= 1 ? <i>{n}</i> : null}</b>;",
    ),
    (4, "return", "function f(this: Window, x: unknown): number { return undefined; }"),
    (4, "return", "function f(this: Window, x: unknown): number { return <T,>(y: T) => undefined; }"),
    (4, "comparison", "function f(this: Window, x: unknown): number { return <T,>(y: T) => (x as number) <= 2; }"),
]


@pytest.mark.parametrize("parser", [TYPESCRIPT, BABEL])
def test_typescript_with_jsx(parser: str, tmp_path: Path) -> None:
    given = project(tmp_path, parser)
    assert rows("a.tsx", TYPED.encode(), given) == TYPED_MUTANTS
    assert rows("a.mts", b"let a = <any>b < c\n", given) == [(1, "comparison", "let a = <any>b <= c")]


NONE = {
    "a.js": "no parser in node_modules (typescript, @babel/parser, acorn, espree)",
    "a.ts": "no parser in node_modules (typescript, @babel/parser)",
}


@pytest.mark.parametrize("path", NONE)
def test_a_project_without_a_parser_has_none(path: str, tmp_path: Path) -> None:
    assert mutants_of(path, b"a < b\n", [1], tools(tmp_path)) == NoMutants(path, NONE[path])


def test_a_parser_of_javascript_reads_no_typescript(tmp_path: Path) -> None:
    given = project(tmp_path, OF_NODE)
    assert mutants_of("a.ts", b"a < b\n", [1], given) == NoMutants("a.ts", NONE["a.ts"])


def test_a_parser_beside_the_file_is_found(tmp_path: Path) -> None:
    project(tmp_path / "packages" / "one", OF_NODE)
    assert rows("packages/one/src/a.js", b"a < b\n", tools(tmp_path)) == [(1, "comparison", "a <= b")]


def test_the_next_parser_is_asked_where_one_cannot_be_used(tmp_path: Path) -> None:
    """As with a typescript that is no library any more, and a package that is broken."""
    given = project(tmp_path, OF_NODE)
    for name, code in {TYPESCRIPT: "exports.version = '7.0.0'", BABEL: "throw new Error('half installed')"}.items():
        (tmp_path / "node_modules" / name).mkdir(parents=True)
        (tmp_path / "node_modules" / name / "index.js").write_text(code, encoding="utf-8")
    assert rows("a.js", b"a < b\n", given) == [(1, "comparison", "a <= b")]
    found = mutants_of("a.ts", b"a < b\n", [1], given)
    assert isinstance(found, NoMutants)
    assert texts.says(found.why, "mutants-parser-not-usable", file="a.ts", parser="typescript")


UNREADABLE = {
    "a syntax error": (b"if (\n", "acorn: Unexpected token"),
    "JSX, which acorn cannot read": (b"x = <b>{a}</b>\n", "acorn: Unexpected token"),
    "no text": (b"x = '\xff'\n", "it is not UTF-8"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_no_empty_list(name: str, tmp_path: Path) -> None:
    content, why = UNREADABLE[name]
    found = mutants_of("a.js", content, [1], project(tmp_path, OF_NODE))
    assert isinstance(found, NoMutants)
    assert found.path == "a.js"
    assert found.reason.startswith(why)


def test_without_node_it_says_so(tmp_path: Path) -> None:
    found = mutants_of("a.js", b"a\n", [1], tools(tmp_path, PATH=""))
    assert isinstance(found, NoMutants)
    assert texts.says(found.why, "mutants-program-missing", file="a.js", program="node")
