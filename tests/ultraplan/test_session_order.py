"""Which sessions come first, and which may run beside each other: in doubt, none may."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.evidence import globs
from omo.ultraplan import sessions, spec_text
from tests.ultraplan.plans import plan_text
from tests.ultraplan.test_sessions import cut, refused, with_lines

MEETING = [
    ("src/a.py", "src/a.py", True),
    ("src", "src/a.py", True),
    ("src/a.py", "src/b.py", False),
    ("src/**", "docs/**", False),
    ("**", "docs/a.md", True),
    ("**/a.py", "docs/**", True),
    ("src/*.py", "src/a.py", True),
    ("src/*.py", "src/a.md", False),
    ("src/*.py", "src/*.md", False),
    ("src/test_*", "src/*_a.py", True),
    ("src/a*", "src/b*", False),
    ("src/*", "src/a/b/c.py", True),
    ("src/[ab].py", "src/c.py", False),
    ("src/[ab].py", "src/[bc].py", True),
    ("src/?.py", "src/ab.py", False),
    ("SRC/a.py", "src/A.py", True),
    ("*/a.py", "src/a.py", True),
    ("srcs", "src", False),
]


@pytest.mark.parametrize(("one", "other", "meet"), MEETING)
def test_globs_that_may_name_the_same_path_meet(one: str, other: str, meet: bool) -> None:
    assert sessions.may_meet(one, other) is meet
    assert sessions.may_meet(other, one) is meet


NAMES = st.text(alphabet="ab*?[].", min_size=1, max_size=4)
GLOBS = st.lists(st.one_of(NAMES, st.just("**")), min_size=1, max_size=4).map("/".join)
PATHS = st.lists(st.text(alphabet="ab.", min_size=1, max_size=4), min_size=1, max_size=5).map("/".join)


@given(GLOBS, GLOBS, PATHS)
def test_two_globs_that_cover_one_path_always_meet(one: str, other: str, path: str) -> None:
    if globs.covers(path, one) and globs.covers(path, other):
        assert sessions.may_meet(one, other)


def test_sessions_that_need_nothing_of_each_other_may_run_beside_each_other() -> None:
    found = cut(plan_text(3, touch=None, sessions=[[1], [2], [3]]))
    assert sessions.order(found) == [[1, 2, 3]]


def test_sessions_whose_fences_overlap_never_do() -> None:
    found = cut(plan_text(3, sessions=[[1], [2], [3]]))
    assert sessions.order(found) == [[1], [2], [3]]
    assert "- Never beside: Session 2, Session 3, because" in spec_text.render(found[0])


def test_the_order_follows_what_sessions_and_steps_depend_on() -> None:
    text = plan_text(4, touch=None, sessions=[[1], [2], [3], [4]], step4={"Depends on": "Step 2"})
    found = cut(with_lines(with_lines(text, 2, "Depends on: Session 1"), 3, "Depends on: Session 1"))
    assert sessions.order(found) == [[1], [2, 3], [4]]
    assert [spec.depends_on for spec in found] == [(), (1,), (1,), (2,)]
    assert [spec.blocks for spec in found] == [(2, 3), (4,), (), ()]
    assert "- Entry condition: a clean tree that has the commits of Session 2" in spec_text.render(found[3])


@given(st.dictionaries(st.integers(1, 6), st.sets(st.integers(1, 6)), min_size=1), st.data())
def test_no_wave_holds_two_sessions_that_wait_for_or_disturb_each_other(
    wanted: dict[int, set[int]], data: st.DataObject
) -> None:
    needed = {number: {other for other in others if other < number} for number, others in wanted.items()}
    touch = {number: data.draw(st.lists(st.sampled_from("abcd"), max_size=2)) for number in needed}
    order = sessions.waves(needed, touch)
    assert sorted(number for wave in order for number in wave) == sorted(needed)
    for at, wave in enumerate(order):
        later = {number for other in order[at:] for number in other}
        for number in wave:
            assert not needed[number] & later
            assert not any(sessions.overlap(touch[number], touch[other]) for other in wave if other != number)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            with_lines(
                with_lines(plan_text(2, sessions=[[1], [2]]), 1, "Depends on: Session 2"), 2, "Depends on: Session 1"
            ),
            "each waits for the next",
        ),
        (with_lines(plan_text(2, sessions=[[1], [2]]), 1, "Depends on: Session 7"), "session 7, which is not in"),
        (plan_text(2, step1={"Depends on": "Step 2"}), "step 1 depends on step 2, which does not come before"),
        (plan_text(2, step1={"Depends on": "Step 9"}), "step 1 depends on step 9, which is not in the plan"),
        (plan_text(2, sessions=[[1]]).replace("### Step 2", "## Notes\n\n### Step 2"), "step 2 stands in 0 sessions"),
    ],
)
def test_what_has_no_order_is_refused_by_name(text: str, said: str) -> None:
    assert said in "\n".join(refused(text))


def test_a_circle_through_steps_names_its_sessions() -> None:
    text = plan_text(3, sessions=[[1, 3], [2]], step3={"Depends on": "Step 2"}, step2={"Depends on": "Step 1"})
    (defect,) = refused(text)
    assert "session 1" in defect
    assert "session 2" in defect
