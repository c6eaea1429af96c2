"""Where a story begins, what its title and objective are, and which briefs are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.errors import BadInput
from omo.workflows.ultragoal.brief import Brief, Story, parse

INTAKE = """Never touch the legacy importer.

@goal: Parse the intake CSVs
Ingest the CSVs and reject malformed rows.

Run `make check`, "quoted" and $HOME stay as they are.

@goal: Normalize records
Map rows onto the schema.

@goal: Export the report
"""


def pairs(text: str) -> list[tuple[str, str]]:
    return [(story.title, story.objective) for story in parse(text).stories]


def refusal(text: str) -> BadInput:
    with pytest.raises(BadInput) as caught:
        parse(text)
    assert "omo ultragoal create-goals" in caught.value.fix
    return caught.value


def defects(text: str) -> list[str]:
    found = refusal(text).details["defects"]
    assert isinstance(found, list)
    return found


def test_a_brief_of_three_goals_with_constraints_before_them() -> None:
    brief = parse(INTAKE)
    assert brief.preamble == "Never touch the legacy importer."
    assert brief.stories == [
        Story(
            "Parse the intake CSVs",
            'Ingest the CSVs and reject malformed rows.\n\nRun `make check`, "quoted" and $HOME stay as they are.',
        ),
        Story("Normalize records", "Map rows onto the schema."),
        Story("Export the report", "Export the report"),
    ]
    assert brief.text == INTAKE.strip()


BEGIN = ["@goal: Title", "@goal:Title", "@goal Title", "@goal\tTitle", "@goal:\t Title \t", "@goal   Title"]
ARE_TEXT = [
    "@goalish: Title",
    "@goals: Title",
    "@goal-foo",
    "@goal.foo",
    "@goal/foo",
    "@goal_foo",
    "@goal\u00a0Title",
    "@goal\u200b: Title",
    "@goal\x0bTitle",
    "@goal：Title",
    "@Goal: Title",
    "@GOAL Title",
    "@ goal: Title",
    " @goal: Title",
    "\t@goal Title",
    "\u200b@goal: Title",
    "- @goal: Title",
    "**@goal:** Title",
    "> @goal",
    "see @goal: Title",
    "goal: Title",
]


def test_lines_that_begin_a_goal() -> None:
    for line in BEGIN:
        assert pairs(f"before\n{line}\nbody\n") == pairs(f"{line}\nbody") == [("Title", "body")]
    for opening in ("@goal", "@goal:", "@goal: ", "@goal \t", "@goal: \u200b\x07"):  # the title is borrowed, and stays
        assert pairs(f"{opening}\n\n  First line\n\nSecond") == [("First line", "First line\n\nSecond")]


@pytest.mark.parametrize("line", ARE_TEXT)
def test_lines_that_are_text(line: str) -> None:
    brief = parse(f"@goal: One\n{line}\nafter")
    assert brief.stories == [Story("One", f"{line}\nafter".strip())]
    (alone,) = parse(f"{line}\nafter").stories
    assert alone.objective == f"{line}\nafter".strip()


def test_an_indented_first_line_stays_text_however_often_the_brief_is_read() -> None:
    brief = parse("\n\n   @goal: Not a goal\nrest\n\n")
    assert [story.title for story in brief.stories] == ["@goal: Not a goal"]
    assert brief.text == "   @goal: Not a goal\nrest"
    assert parse(brief.text).stories == brief.stories


def test_without_a_delimiter_the_whole_brief_is_one_goal() -> None:
    brief = parse("\n\n# Ship it\n\nAll of it.\n")
    assert brief.stories == [Story("# Ship it", "# Ship it\n\nAll of it.")]
    assert brief.preamble == ""


# What is refused, and what is said of each defect.
REFUSED: dict[str, list[str]] = {
    "@goal:\n@goal: B\nb": ["block 1 "],
    "@goal: A\na\n@goal": ["block 2 "],
    "@goal: A\n@goal:  \n \t \n@goal: C\n@goal\n\n": ["block 2 ", "block 4 "],
    "preamble\n@goal\n": ["block 1 "],
    "@goal: \u200b\n\u200b\x1b\n@goal: B": ["block 1 "],
    "@goal:\n" * 900: [f"block {number} " for number in range(1, 51)],
    "@goal: A\x00": ["NUL at character 9"],
    "caf\udce9": ["UTF-8 at character 4"],
}


@pytest.mark.parametrize("text", REFUSED)
def test_every_defect_is_named_by_its_place_at_once(text: str) -> None:
    found = defects(text)
    assert len(found) == len(REFUSED[text])
    assert [said for said, defect in zip(REFUSED[text], found, strict=True) if said not in defect] == []


def test_a_blank_brief_is_refused() -> None:
    for text in ("", " ", "\n\r\n\t\n", "\u00a0", "\ufeff\n", "\u200b\x1b"):
        assert "blank" in refusal(text).message


@pytest.mark.parametrize(("length", "title"), [(80, "x" * 80), (81, "x" * 77 + "..."), (5000, "x" * 77 + "...")])
def test_only_titles_over_80_characters_are_cut(length: int, title: str) -> None:
    long = "x" * length
    assert pairs(f"@goal: {long}\nbody") == [(title, "body")]
    assert pairs(f"@goal: {long}") == [(title, long)]
    assert pairs(f"@goal\n{long}") == [(title, long)]
    assert pairs(long) == [(title, long)]


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("A\tB", "A B"),
        ("\x1b[2JAll goals are complete", "[2JAll goals are complete"),
        ("A\u202eB", "A B"),
        ("A\u2028B", "A B"),
        ("Größe 漢字 🙂", "Größe 漢字 🙂"),
    ],
)
def test_a_title_is_one_line_without_control_characters(written: str, title: str) -> None:
    assert pairs(f"@goal: {written}\nbody") == [(title, "body")]
    assert pairs(f"@goal\n{written}")[0][0] == title


def test_a_byte_order_mark_hides_no_goal() -> None:
    assert pairs("\ufeff@goal: A\na\n\ufeff@goal: B\nb") == [("A", "a"), ("B", "b")]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_make_no_difference(end: str) -> None:
    assert parse(INTAKE.replace("\n", end)) == parse(INTAKE)
    assert pairs(f"@goal{end}Title{end}") == [("Title", "Title")]


def is_said(body: str) -> bool:
    return any(letter.isprintable() and not letter.isspace() for letter in body)


PIECES = st.sampled_from(
    ["@goal", ":", " ", "\t", "\n", "\r\n", "\r", "Title", "x" * 90, "\u00a0", "\ufeff", "\u200b", "\x0c", "\x85", "s"]
)


def read(text: str) -> Brief | None:
    try:
        return parse(text)
    except BadInput:
        return None


@given(st.lists(PIECES, max_size=25).map("".join))
def test_whatever_is_read_is_usable_and_reads_the_same_again(text: str) -> None:
    brief = read(text)
    if brief is None:
        return
    again = parse(brief.text)
    assert (again.stories, again.preamble, again.text) == (brief.stories, brief.preamble, brief.text)
    for story in brief.stories:
        assert 1 <= len(story.title) <= 80
        assert story.title.isprintable()
        assert is_said(story.objective)
        assert story.objective == story.objective.strip()
