"""The word that a user reads of verified goals: at Stop, in the summary and in the report."""

from __future__ import annotations

from typing import Any

from omo.state import runtime
from omo.state.rows import EMPTY
from omo.stop import sentences
from omo.work import outcome
from tests.verify.workshop import Q3, Workshop, checklist, checks, path_check, q1

Row = Any


def begun(shop: Workshop, name: str = "G1", **fields: Any) -> None:
    shop.add(id=name, **fields)
    shop.begin(name)
    tell(shop, began=name)


def tell(shop: Workshop, **options: Any) -> Row:
    return dict(shop.publish(**options)["work"]["verify"])


def told_at_stop(shop: Workshop) -> str:
    row = runtime.session(shop.state, "s1") or EMPTY
    return sentences.release("done", row, row, {})


def verdict(shop: Workshop, name: str = "G1") -> str:
    return (shop.goal(name).outcome or outcome.outcome("None", ""))["verdict"]


def test_checks_by_code_alone_are_finished_on_the_agents_word(shop: Workshop) -> None:
    begun(shop, **checks(path_check()))
    shop.work()
    shop.finish()
    assert tell(shop)["outcome"] == shop.goal().outcome == shop.store.rows[-2]["outcome"]
    assert told_at_stop(shop) == (
        "omo: finished on the agent's word: verify: goal G1: 1 of 1 check passes; "
        "nothing that runs showed it: its checks look at the form of files. /omo:report shows what was seen."
    )


def test_an_answer_that_left_a_gap_is_an_exception(shop: Workshop) -> None:
    begun(shop, **checks("a user can log in"))
    shop.work()
    for question, data in (("q1", q1()), ("q1.5", checklist()), ("q2", {"failure_mode": ""}), ("q3", Q3)):
        shop.answer(question, data)
    shop.finish()
    tell(shop)
    assert told_at_stop(shop).startswith(
        "omo: ended with exceptions: goal G1: q2 was let pass without an answer "
        "(let through by the agent: it named no way"
    )


def test_what_the_user_was_told_belongs_to_a_run_that_is_over(shop: Workshop) -> None:
    begun(shop, "A", hypothesis="H1", **checks(path_check("speed.txt")))
    shop.finish("A", hypothesis="expired")
    summary = tell(shop)
    row = runtime.session(shop.state, "s1") or EMPTY
    after: Any = {**row, "work": {"verify": {**summary, "told": True}}}
    change = runtime.Change(None, after, [{"kind": "allowed"}])
    runtime.change_session(shop.state, "s1", lambda _: change, actor="hook", now=shop.now, wait=5)
    begun(shop, "B", **checks(path_check()))
    shop.work()
    shop.finish("B")
    assert tell(shop)["outcome"]["verdict"] == outcome.ATTESTED
