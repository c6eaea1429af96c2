"""What a hook saw an agent say: what in it is an answer, and which of several words counts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.work import agents
from omo.work.agents import AgentMessage, NoAnswer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Base

NONCE = "0123456789abcdef0123456789abcdef"
OBJECT = {"nonce": NONCE, "answers": [{"result": "pass"}]}
TEXT = json.dumps(OBJECT)


# Objects in prose


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"  {TEXT}  ",
        f"I looked.\n\n```json\n{json.dumps(OBJECT, indent=2)}\n```\nThat is all.",
        f"{{ not json\n{TEXT}",
        f"{{'nonce': '{NONCE}'}}\n{TEXT}",
        f'{{"nonce": "another", "answers": []}}\n{TEXT}',
        f"The nonce is {NONCE}.\n{TEXT}",
    ],
    ids=["bare", "indented", "fenced", "broken-before", "python-before", "other-nonce", "prose-too"],
)
def test_the_one_object_with_the_key_is_the_answer(text: str) -> None:
    assert agents.answer(text, "nonce", NONCE) == OBJECT


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"C1 passes, and the nonce is {NONCE}.",
        f"{TEXT}\n{TEXT}",
        f"{TEXT}\n" + TEXT.replace("pass", "fail"),
        TEXT.replace(NONCE, "f" * 32),
        TEXT[:-1],
        f"So: {TEXT}",
        f"> {TEXT}",
        f"[{TEXT}]",
        TEXT.replace('"answers"', f'"nonce": "{NONCE}", "answers"'),
        TEXT.replace('"result": "pass"', '"result": "fail", "result": "pass"'),
        TEXT.replace('"pass"', "NaN"),
        TEXT.replace('"pass"', "-Infinity"),
        TEXT.replace('"pass"', "[" * 50_000 + "]" * 50_000),
        TEXT.replace(f'"{NONCE}"', "7"),
        json.dumps({"answer": OBJECT}),
        json.dumps(json.dumps(OBJECT)),
        "{\n  broken,\n  " + TEXT + "\n}",
    ],
    ids=[
        "empty", "prose", "twice", "two-that-differ", "other-nonce", "cut", "after-words", "quoted", "in-a-list",
        "nonce-twice", "result-twice", "NaN", "infinity", "deep", "number", "inside-another", "as-text",
        "inside-a-broken-one",
    ],
)  # fmt: skip
def test_anything_else_is_no_answer(text: str) -> None:
    with pytest.raises(NoAnswer):
        agents.answer(text, "nonce", NONCE)


@given(st.text() | st.text('{}[]":, \n\taN1').map(lambda text: "{" + text))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert all(isinstance(each, dict) for each in agents.objects(text))


# Asked again


def said(word: str, files: str) -> AgentMessage:
    return AgentMessage("omo:architect", word, 7, "2026-01-01T00:00:00.000Z", files={"head": files, "files": {}})


@pytest.mark.parametrize(
    ("words", "counting"),
    [
        ("good@a", "good@a"),
        ("bad@a good@a", "bad@a"),
        ("bad@a good@b", "bad@a good@b"),
        ("bad@a hm@a good@a", "bad@a hm@a"),
        ("bad@a good@b good@a", "bad@a good@b"),
        ("good@a bad@a good@a", "good@a bad@a"),
    ],
)
def test_a_good_word_after_a_bad_one_counts_only_on_other_files(words: str, counting: str) -> None:
    verdicts = {"good": True, "bad": False, "hm": None}
    reported = [said(*each.split("@")) for each in words.split()]
    counted = agents.words_that_count(
        reported,
        lambda message: verdicts[message.text],
        lambda first, second: agents.same_files(first.files, second.files),
    )
    assert [f"{message.text}@{message.files['head']}" for message in counted if message.files] == counting.split()


def test_evidence_is_no_other_file_and_unknown_files_are_never_the_same() -> None:
    plain: Base = {"head": "a", "files": {"x.py": "1"}}
    assert agents.same_files(plain, {"head": "a", "files": {"x.py": "1", ".sisyphus/evidence/G001/r.txt": "2"}})
    assert not agents.same_files(plain, {"head": "a", "files": {"x.py": "2"}})
    unknown: Base = {**plain, "unknown": "no git"}
    assert not agents.same_files(unknown, unknown)
