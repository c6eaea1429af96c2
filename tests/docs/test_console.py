"""How a worked example is read: what is typed, what happens, what is answered, and what `…` stands for."""

from __future__ import annotations

import pytest

from tests.docs.console import agrees, steps

EXAMPLE = """\
> ulw do it
to the agent: …
$ cat > a.txt <<'END'
$ no command
END
$ omo plan \\
    status
nothing
[exit 3]
(omo:judge ends: I looked.
{"answers": []})
(the agent stops: Done (all of it).)
(nobody: this is an answer)
"""


def test_an_example_is_cut_into_what_is_typed_and_what_is_answered() -> None:
    assert [(step.who, step.text, step.expected) for step in steps(EXAMPLE)] == [
        (">", "ulw do it", ("to the agent: …",)),
        ("$", "cat > a.txt <<'END'\n$ no command\nEND", ()),
        ("$", "omo plan \\\n    status", ("nothing", "[exit 3]")),
        ("()", 'omo:judge ends: I looked.\n{"answers": []}', ()),
        ("()", "the agent stops: Done (all of it).", ("(nobody: this is an answer)",)),
    ]


def test_a_block_begins_with_something_that_is_typed_or_happens() -> None:
    with pytest.raises(ValueError, match="line 1: 'pass' answers nothing"):
        steps("pass\n$ omo ulw status\n")


@pytest.mark.parametrize(
    ("expected", "shown", "agree"),
    [
        ([], [], True),
        ([], ["more"], False),
        (["a"], [], False),
        (["a"], ["a"], True),
        (["a"], ["a", "b"], False),
        (["a.b"], ["axb"], False),
        (["…"], [], False),
        (["…"], ["a", "", "b"], True),
        (["a", "…", "d"], ["a", "b", "c", "d"], True),
        (["a", "…", "d"], ["a", "d"], False),
        (["a", "…", "d"], ["a", "b", "d", "e"], False),
        (["pass (…) on …"], ["pass (0.1 s) on main"], True),
        (["pass (…)"], ["fail (0.1 s)"], False),
        (["…end"], ["the", "end"], False),
        (["since 502c763b771a."], ["since 0a747affec28."], True),
        (["since 502c763b771a."], ["since 0a747affec2."], False),
        (["502c763b771a8"], ["0a747affec282"], False),
    ],
)
def test_what_is_shown_agrees_with_the_page(expected: list[str], shown: list[str], agree: bool) -> None:
    assert agrees(tuple(expected), shown) is agree
