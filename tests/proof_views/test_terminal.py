"""What somebody reads who types `omo proof`."""

from __future__ import annotations

import pytest

from omo.json_text import Json
from omo.views import lines, terminal
from omo.views.proof.terminal import MOST_HUNKS, lines_of
from tests import texts
from tests.proof_views import samples
from tests.proof_views.samples import hunk, mutant
from tests.report.hostile import NASTY


def read(data: Json) -> str:
    return lines.plain(lines_of(data))


PROVEN = """\
proven. test_two fails without the change; 2 tests pass with it.
  make test: fails without the work and passes with it
  changes since 0123456789ab (main)
  NOT CHECKED src/calc.py:1 2 passed
      no test fails when it is reverted, but tests kill 1 mutant of it
      - LIMIT = 9
      + LIMIT = 11
  checked     src/calc.py:5-6 1 failed: test_two
      tests fail when it is reverted, but 1 mutant of it lived
      -     return a
      +     c = a + b
      +     return c
2 hunks: 1 checked, 1 not checked
Checked: a test fails without the hunk. It need not check all that the hunk does.
  mutant lived src/calc.py:5 + → -
1 of 2 mutants killed."""

NOT_PROVEN = """\
not proven. All 2 tests pass without the change too.
  make test: passes without the work
  changes since 0123456789ab (main), also those in no commit
  NOT CHECKED src/calc.py:1 it passes without all of the work
      - LIMIT = 9
      + LIMIT = 11
1 hunk: 1 not checked
what would help: write a test that fails without the change"""

CANNOT_TELL = """\
cannot tell. It fails and passes on the same files.
  changes since 0123456789ab"""


@pytest.mark.parametrize(
    ("data", "text"),
    [(samples.PROVEN, PROVEN), (samples.NOT_PROVEN, NOT_PROVEN), (samples.CANNOT_TELL, CANNOT_TELL)],
    ids=["proven", "not proven", "cannot tell"],
)
def test_the_verdict_comes_first_and_each_hunk_has_a_mark(data: Json, text: str) -> None:
    assert read(data) == text


def test_a_terminal_shows_the_same_and_keeps_the_blanks_of_code() -> None:
    drawn = terminal.render(lines_of(samples.PROVEN), 100)
    assert "-     return a" in drawn
    plain = terminal.render(lines_of(samples.PROVEN), 100, color=False)
    for line in PROVEN.splitlines():
        for word in line.split():
            assert word in plain


NOTES = ("proof-no-test-fails-but-mutants-die", "proof-tests-fail-but-mutants-lived")


@pytest.mark.parametrize(
    ("word", "of_mutants", "note"),
    [
        ("not held", ("killed", "killed"), ("proof-no-test-fails-but-mutants-die", {"killed": "2 mutants"})),
        ("not held", ("killed", "lived"), None),
        ("not held", ("cannot tell",), None),
        ("held", ("killed", "lived", "lived"), ("proof-tests-fail-but-mutants-lived", {"lived": "2 mutants"})),
        ("held", ("killed",), None),
        ("only breaks the build", ("lived",), None),
    ],
)
def test_a_hunk_says_where_mutants_show_something_else(
    word: str, of_mutants: tuple[str, ...], note: tuple[str, dict[str, str]] | None
) -> None:
    mutants = [mutant("a.py", 3, each) for each in of_mutants]
    elsewhere = [mutant("a.py", 9, "lived"), mutant("b.py", 3, "lived"), mutant("a.py", 9, "killed")]
    data = samples.data("proven", "It is.", 0)
    data |= {"lines": samples.lines(hunk("a.py:2-4", word, "", (), ("x",))), "mutants": samples.mutants(*mutants)}
    for found in (mutants, [*mutants, *elsewhere]):
        data["mutants"] = samples.mutants(*found)
        told = [line.text for line in lines_of(data) if texts.situations(line.text) & set(NOTES)]
        assert len(told) == (1 if note else 0)
        assert note is None or texts.says(told[0], note[0], **note[1])


def test_a_long_change_is_cut_and_the_rest_counted() -> None:
    hunks = [hunk(f"a.py:{at}", "not held", "", (), tuple(f"line {one}" for one in range(40))) for at in range(1, 100)]
    text = read(samples.data("not proven", "No.", 3, lines=samples.lines(*hunks), facts=["x" * 5000] * 100))
    assert texts.says(text, "proof-hunks-left-out", count=99 - MOST_HUNKS)
    assert "99 hunks: 99 " in text
    assert len(text.splitlines()) < 330
    assert max(map(len, text.splitlines())) <= 402


def test_nothing_hostile_moves_a_cursor_or_begins_a_line() -> None:
    place = f"a{NASTY}.py:3"
    data = samples.data("not proven", NASTY, 3, facts=[NASTY], fix=NASTY, since=NASTY)
    data["lines"] = samples.lines(hunk(place, "not held", NASTY, (NASTY,), (NASTY, "\r\v\f\x85\u2028+ x")))
    data["mutants"] = samples.mutants(mutant(NASTY, 3, "lived", NASTY, NASTY), text=NASTY)
    text = read(data)
    assert all(line.isprintable() for line in text.splitlines())
    begins = ("not proven. ", "  ", "1 hunk: ", "what would help: ", NASTY[:5])
    assert all(line.startswith(begins) for line in text.split("\n"))
    drawn = terminal.render(lines_of(data), 80, color=False)
    assert "\x1b]" not in drawn
    assert "\u202e" not in drawn
