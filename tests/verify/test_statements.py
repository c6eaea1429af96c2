"""What a verification answer may look like: the form, the evidence, and no hedge on what was seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.work.citations import LONGEST_TEXT, Citation, statement
from omo.workflows.verify.statements import check_statement, triggers

NOWHERE = "/nonexistent"
GOOD = [
    "The parser is fixed because tests/test_parser.py passes.",
    "The build is green because `sh build.sh` exits 0",
    "The change is committed because 8a7e685c0 holds it.",
    'The help is complete because `python3 --help` prints "usage: python3"',
    "The service is up because http://localhost:8080/health answered.",
    "config.yaml contains the timeout because I read config.yaml: `timeout: 30`.",
    "README.md names every setting because docs/test_docs.py compares them",
    "The gate isn't vacuous because `python3 -m unittest` failed on the old tree: exit code 1.",
    "REFINE must NOT be skipped, and it is not skipped because ledger.jsonl has its row.",
    "The message is right because src/a.py prints `it might be gone`.",
    'The message is right because src/a.py prints "this could be a bug".',
    "The limit is enforced because src/a.py raises. Unknown: how it behaves on Windows, possibly the same.",
    "- unknown: whether it might be slow\n- The limit is kept because bench/run.py prints `ok`",
    "The port is closed because 127.0.0.1:9 refused.",
    "The value is what it should be because src/a.py prints it.",
    "The word appears in line 3 because `grep -n word a.txt` prints `3:word`.",
    "The likelihood is computed because src/likely_model.py is imported by `run.py`.",
    "The text is unlikely-free because `grep unlikely` exits 1.",
    "The file’s header is there because head.txt shows “# omo”.",
]
BAD = [
    ("", "empty"),
    ("   \n", "empty"),
    ("It works.", 'no "because"'),
    ("The tests pass.", 'no "because"'),
    ('The log says "because of x" in app.log', 'no "because"'),
    ("Done because tests/test_a.py passes", "no claim before"),
    ("Because tests/test_a.py passes, it is done", "no claim before"),
    ("The parser is fixed because I checked it.", "nothing after"),
    ("The parser is fixed because it works now.", "nothing after"),
    ("src/a.py is fixed because it is.", "nothing after"),
    ("The year is right because 2024 is a leap year.", "nothing after"),
    ("Unknown: everything", 'no "because"'),
    ("The parser is fixed because `banana`.", "nothing after"),
    ("The parser is fixed because 'yes'.", "nothing after"),
    ("The suite is green because 412 tests passed.", "nothing after"),
    ("The build is green because make exited with code 0", "nothing after"),
    ("The call is right because shlex.split and console.log say so, e.g. in Node.js.", "nothing after"),
    ("The choice is right because and/or yes/no is what a person reads.", "nothing after"),
    ("The parser is possibly fixed because tests/test_a.py passes.", '"possibly" hedges'),
    ("It might be fixed because tests/test_a.py passes.", '"might" hedges'),
    ("It could be fixed because tests/test_a.py passes.", '"could be" hedges'),
    ("It seems to be fixed because tests/test_a.py passes.", '"seems" hedges'),
    ("It appears to be fixed because tests/test_a.py passes.", '"appears to" hedges'),
    ("It is probably fixed because tests/test_a.py passes.", '"probably" hedges'),
    ("It should be fixed because tests/test_a.py passes.", '"should be" hedges'),
    ("I think it is fixed because tests/test_a.py passes.", '"I think" hedges'),
    ("It is most likely fixed because tests/test_a.py passes.", '"likely" hedges'),
    ("The output is right because `out.txt` looks good.", '"looks good" hedges'),
    ("It is fixed because a.py passes. It may be slow.", '"may be" hedges'),
    ("It is fixed because a.py passes, as far as I can tell.", '"as far as I can tell" hedges'),
]


@pytest.mark.parametrize("text", GOOD)
def test_a_fact_with_its_evidence_is_accepted(text: str) -> None:
    assert check_statement(text, NOWHERE) == []


@pytest.mark.parametrize(("text", "says"), BAD)
def test_anything_else_is_sent_back_with_what_to_do(text: str, says: str) -> None:
    defects = check_statement(text, NOWHERE)
    assert len(defects) == 1, defects
    assert says in defects[0]
    assert ": " in defects[0]


def test_all_defects_are_told_at_once_and_each_once() -> None:
    defects = check_statement("Maybe, maybe it works because I think so", NOWHERE)
    assert [defect.split(":")[0] for defect in defects] == [
        'nothing after "because" can be looked at',
        '"Maybe" hedges',
        '"maybe" hedges',
        '"I think" hedges',
    ]


def test_a_hedge_says_how_to_restate_it() -> None:
    (defect,) = check_statement("It is possibly fixed because a.py passes.", NOWHERE)
    assert "unknown: …" in defect


def test_a_long_answer_is_sent_back_unread() -> None:
    (defect,) = check_statement("x is y because a.py " * LONGEST_TEXT, NOWHERE)
    assert str(LONGEST_TEXT) in defect


@given(st.text(max_size=300))
def test_any_text_is_answered(text: str) -> None:
    assert all(isinstance(defect, str) and defect for defect in check_statement(text, NOWHERE))


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("`sh build.sh` exits 3, see docs/a.md:12.", [("command", "sh build.sh", 3), ("path", "docs/a.md", None)]),
        (
            "tests/test_a.py::test_b passes (commit 8a7e685c0)",
            [("path", "tests/test_a.py", None), ("commit", "8a7e685c0", None)],
        ),
        ("`src/tool`, src/other and lib/tool were read", [("path", "src/tool", None)]),
        (
            "(see __init__.py, ./a.py and .ci.yml)",
            [("path", "__init__.py", None), ("path", "./a.py", None), ("path", ".ci.yml", None)],
        ),
        ("console.log and package.json", [("path", "package.json", None)]),
        ("the html/css and client/log of config/.env", [("path", "config/.env", None)]),
        ("app.js, src/App.js of Node.js", [("path", "app.js", None), ("path", "src/App.js", None)]),
        ("src/real, ` `, `./package.json x`", [("path", "src/real", None), ("command", "./package.json x", None)]),
        ("localhost:5432 answered", [("address", "localhost:5432", None)]),
        ("127.0.0.1:80 answers with 15.9:1, 16:9 at 10:30", [("address", "127.0.0.1:80", None)]),
        ("`$ sh build.sh` exits 3, as one copies it", [("command", "sh build.sh", 3)]),
        ("the 20261117 rows of `.` and `..` are defaced", []),
        ("unknown: whether src/gone.py is read. src/a.py is.", [("path", "src/a.py", None)]),
    ],
)
def test_what_a_text_cites(tmp_path: Path, text: str, cited: list[tuple[str, str, int | None]]) -> None:
    (tmp_path / "src" / "real").mkdir(parents=True)
    (tmp_path / "package.json").write_text("{}")
    taken_apart = statement(text, str(tmp_path))
    assert taken_apart.citations(taken_apart.plain) == [Citation(*each) for each in cited]


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("the module contains three functions because src/a.py was read", []),
        ("src/a.py contains three functions because it was read", ["file state"]),
        ("0 records have errors because data/a.jsonl was counted", ["count"]),
        ("0 records have errors because the tests pass", []),
    ],
)
def test_words_call_for_a_claim_where_what_they_speak_of_is_named(text: str, classes: list[str]) -> None:
    assert list(triggers(text, NOWHERE)) == classes
