"""Mutants of Go: which there are, that they build, and that tests notice them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from omo.mutants import NoMutants, Tools, mutants_of
from tests import texts
from tests.mutants.tools import every_line, made, rows, tools

pytestmark = pytest.mark.skipif(shutil.which("go") is None, reason="go is not here")


@pytest.fixture(scope="module")
def cache() -> Iterator[str]:
    """A cache of builds for all tests: each has a home of its own, and a newer Go compiles its library once."""
    with tempfile.TemporaryDirectory(prefix="omo-go-") as directory:
        yield directory


@pytest.fixture
def go(cache: str, tmp_path: Path) -> Tools:
    return tools(tmp_path, GOCACHE=cache)


class Case(NamedTuple):
    source: str
    mutants: list[tuple[int, str, str]]


CASES = {
    "conditions and comparisons": Case(
        "func f(a, b int) {\n\tif x := a; x < b {\n\t}\n\tif a == b {\n\t}\n\tfor a >= b {\n\t}\n\tfor {\n\t}\n}\n",
        [
            (2, "condition", "if x := a; !(x < b) {"),
            (2, "comparison", "if x := a; x <= b {"),
            (4, "comparison", "if a != b {"),
            (6, "condition", "for !(a >= b) {"),
            (6, "comparison", "for a > b {"),
        ],
    ),
    "and, or": Case(
        "var x = a && b || c\n", [(1, "boolean", "var x = a || b || c"), (1, "boolean", "var x = a && b && c")]
    ),
    "arithmetic, but not of strings": Case(
        'func f(n int, s string) {\n\tn = n + 1\n\tn -= 2 * n / 3\n\ts = s + "a"\n\ts += s\n\ts = away.Name + s\n}\n',
        [
            (2, "arithmetic", "n = n - 1"),
            (3, "arithmetic", "n += 2 * n / 3"),
            (3, "arithmetic", "n -= 2 / n / 3"),
            (3, "arithmetic", "n -= 2 * n * 3"),
        ],
    ),
    "calls": Case(
        'func f(x int) {\n\tsave(x)\n\tdefer g()\n\tlog.Printf("%d", x+1)\n\tslog.Info("a")\n'
        "\tswitch {\n\tcase x > 1:\n\t\tg()\n\t}\n\tpanic(1)\n}\n",
        [
            (2, "call", "if false { save(x) }"),
            (7, "comparison", "case x >= 1:"),
            (8, "call", "if false { g() }"),
        ],
    ),
    "results": Case(
        "func f(n int) (int, error) {\n\treturn n, g()\n}\nfunc h() (a, b bool) {\n\treturn true, !c\n}\n"
        "func i() *T {\n\treturn nil\n}\n"
        "func j() T {\n\treturn T{1}\n}\nfunc k() T {\n\treturn T{}\n}\nfunc l() (x int) {\n\treturn\n}\n",
        [
            (2, "return", "_ = n; return 0, g()"),
            (2, "return", "_ = g(); return n, nil"),
            (5, "return", "return false, !c"),
            (5, "return", "return true, !(!c)"),
            (11, "return", "_ = T{1}; return *new(T)"),
        ],
    ),
    "a function in a function": Case(
        'var f = func() string {\n\treturn "é"\n}\n', [(2, "return", '_ = "é"; return ""')]
    ),
    "nothing": Case("type T struct{ a [2]int }\nconst x = 1\n", []),
}


@pytest.mark.parametrize("name", CASES)
def test_mutants(name: str, go: Tools) -> None:
    case = CASES[name]
    found = rows("a.go", b"package p\n" + case.source.encode(), go)
    assert [(line - 1, kind, after) for line, kind, after in found] == case.mutants


CALC = """\ufeffpackage calc\r
\r
import (\r
\t"errors"\r
\t"strings"\r
)\r
\r
// Sum says "ä < b".\r
func Sum(a, b int) (int, error) {\r
\tif a < 0 || b < 0 {\r
\t\treturn 0, errors.New("ö" + strings.ToUpper("x"))\r
\t}\r
\tsum := a + b\r
\tcount(sum)\r
\treturn sum, nil\r
}\r
\r
var counted = 0\r
\r
func count(n int) {\r
\tcounted += n\r
}\r
"""
TEST = """package calc

import "testing"

func TestSum(t *testing.T) {
	if sum, err := Sum(2, 0); sum != 2 || err != nil {
		t.Fatal(sum, err)
	}
	if sum, err := Sum(0, 3); sum != 3 || err != nil {
		t.Fatal(sum, err)
	}
	if sum, err := Sum(-1, 3); sum != 0 || err == nil {
		t.Fatal(sum, err)
	}
}
"""


@pytest.fixture
def calc(tmp_path: Path) -> Path:
    (tmp_path / "go.mod").write_text("module calc\n", encoding="utf-8")
    return tmp_path


@pytest.mark.long
def test_each_mutant_builds_and_those_of_tested_lines_die(calc: Path, go: Tools, cache: str) -> None:
    content = CALC.encode()
    mutants = made(mutants_of("calc.go", content, every_line(content), go))
    for number, mutant in enumerate(mutants):
        start, end, text, _ = mutant.edit
        assert mutant.content == content[:start] + text + content[end:]
        package = calc / f"m{number}"
        package.mkdir()
        (package / "calc.go").write_bytes(mutant.content)
        (package / "calc_test.go").write_text(TEST, encoding="utf-8")
    environment = {**os.environ, "GOCACHE": cache, "GOFLAGS": "-mod=mod"}
    ran = subprocess.run(
        ["go", "test", "./..."], cwd=calc, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert "[build failed]" not in ran.stdout
    alive = [mutants[int(line.split()[1].rpartition("m")[2])] for line in ran.stdout.splitlines() if line[:3] == "ok "]
    assert [(mutant.line, mutant.kind) for mutant in alive] == [(14, "call"), (21, "arithmetic")]
    assert len(mutants) == 10


def test_the_projects_module_does_not_matter(calc: Path, go: Tools) -> None:
    (calc / "go.mod").write_text("module calc\n\ngo 9.99\n\nrequire example.invalid/x v1.0.0\n", encoding="utf-8")
    line = "var x = a < b"
    found = rows("a.go", f"package p\n{line}\n".encode(), go, [2])
    assert found == [(2, "comparison", line.replace("<", "<="))]


def test_what_cannot_be_read_is_no_empty_list(go: Tools) -> None:
    found = mutants_of("a.go", b"package p\nfunc {\n", [2], go)
    assert isinstance(found, NoMutants)
    assert texts.says(found.why, "mutants-go-unread", file="a.go", line=2, column=6)


def test_without_go_it_says_so(tmp_path: Path) -> None:
    found = mutants_of("a.go", b"package p\n", [1], tools(tmp_path, PATH=""))
    assert isinstance(found, NoMutants)
    assert texts.says(found.why, "mutants-program-missing", file="a.go", program="go")
