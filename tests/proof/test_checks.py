"""A check is strict when it is filed: every defect is told, at once, with the nearest valid name."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.errors import BadInput
from omo.proof import checks, documents, patterns
from omo.proof.checks import Check, digest_of_check, dump, parse_checks
from tests import texts

EVERY_TYPE: list[Any] = [
    {"type": "path", "path": "dist/*.whl", "min_count": 1},
    {"type": "path", "path": "old.py", "absent": True},
    {"type": "content", "path": "README.md", "regex": "^## Install"},
    {"type": "command", "argv": ["python3", "-m", "pytest"], "cwd": ".", "exit": 0, "stdout": "passed", "timeout": 120},
    {"type": "syntax", "path": "run.sh", "language": "bash"},
    {"type": "commit", "subject": r"^feat\(x\):"},
    {"type": "forbidden", "paths": ["infra/**"]},
    {"type": "scope", "touch": ["src/**"]},
    {"type": "metric", "argv": ["sh", "size.sh"], "extract": "stdout_int", "max": 10},
    {"type": "judge", "question": "Does the error name the field?"},
]


def defects(data: object) -> list[str]:
    with pytest.raises(BadInput) as caught:
        parse_checks(data)
    found = caught.value.details["defects"]
    assert isinstance(found, list)
    return found


def loaded(path: Path) -> list[Check | str]:
    data = documents.load(path)
    assert isinstance(data, dict)
    return parse_checks(data["checks"])


def defects_of_file(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        loaded(path)
    assert caught.value.exit_code == 2
    return f"{caught.value.message} {caught.value.details.get('defects', '')}"


def test_every_type_is_understood_and_named_by_its_place() -> None:
    parsed = parse_checks([*EVERY_TYPE, "good?"])
    assert parsed[-1] == "good?"
    assert [one.id for one in parsed if not isinstance(one, str)] == [f"check-{n}" for n in range(1, 11)]
    assert {one.type for one in parsed if not isinstance(one, str)} == set(checks.MODELS)


def test_what_is_dumped_is_parsed_to_the_same() -> None:
    parsed = parse_checks(EVERY_TYPE)
    assert parse_checks([dump(one) for one in parsed]) == parsed


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ({"type": "content", "regx": "b"}, "checks[0].regx: no such field of a content check; did you mean regex?"),
        ({"type": "content", "path": "a"}, "checks[0].regex: is missing"),
        ({"type": "contents", "path": "a", "regex": "b"}, "did you mean content?"),
        ({"type": "xyzzy"}, "there are path, content, command, syntax, commit, forbidden, scope, metric, judge"),
        ({"path": "a"}, "checks[0].type: missing"),
        ({"type": 3}, "checks[0].type: missing or no text"),
        ({"type": "command", "command": ["make"]}, "no such field of a command check; there are id, guard,"),
        ({"type": "command", "argv": "make test"}, "checks[0].argv: must be a list, got 'make test'"),
        ({"type": "command", "argv": []}, "must begin with a program"),
        ({"type": "command", "argv": ["PYTHONPATH=src", "pytest"]}, "must begin with a program"),
        ({"type": "command", "argv": ["cd", "api", "&&", "pytest"]}, "or [sh, -c, LINE]"),
        ({"type": "command", "argv": ["a\0b"]}, "NUL"),
        ({"type": "command", "argv": ["a", 1]}, "checks[0].argv[1]: must be a text, got 1"),
        ({"type": "command", "argv": ["a"], "timeout": 601}, "checks[0].timeout: must be less than or equal to 600"),
        ({"type": "command", "argv": ["a"], "timeout": 0}, "greater than 0"),
        ({"type": "command", "argv": ["a"], "exit": True}, "checks[0].exit: must be a whole number"),
        ({"type": "command", "argv": ["a"], "exit": "0"}, "checks[0].exit: must be a whole number"),
        ({"type": "command", "argv": ["a"], "cwd": "../x"}, "checks[0].cwd: leaves the project"),
        ({"type": "path", "path": "/etc/passwd"}, "checks[0].path: leaves the project"),
        ({"type": "path", "path": "a/../../b"}, "checks[0].path: leaves the project"),
        ({"type": "path", "path": "C:/x"}, "leaves the project"),
        ({"type": "path", "path": " "}, "checks[0].path: must be a path of 1 to"),
        ({"type": "path", "path": "~/x"}, "leaves the project"),
        ({"type": "path", "path": "a\\b"}, "without backslash"),
        ({"type": "path", "path": "."}, "names the project itself"),
        ({"type": "path", "path": ".sisyphus/cc-omo/verify/result.json"}, "nothing in there is proof"),
        ({"type": "path", "path": "x", "absent": True, "min_count": 2}, "contradict each other"),
        ({"type": "path", "path": "x", "min_count": 0}, "greater than or equal to 1"),
        ({"type": "content", "path": "a", "regex": "("}, "checks[0].regex: not a regular expression"),
        ({"type": "content", "path": "a", "regex": "(" * 300 + ")" * 300}, "nested too deeply"),
        ({"type": "content", "path": "a", "regex": ""}, "matches any text"),
        ({"type": "content", "path": "a", "regex": ".*"}, "matches any text"),
        ({"type": "commit", "subject": "."}, "matches any text"),
        ({"type": "command", "argv": ["a"], "stdout": "^$"}, r"\A\Z"),
        ({"type": "content", "path": "a", "regex": "a" * 1001}, "at most 1000"),
        ({"type": "syntax", "path": "a", "language": "pyton"}, "'python', 'json' or 'yaml', got 'pyton'"),
        ({"type": "forbidden", "paths": []}, "at least 1 item"),
        ({"type": "forbidden", "path": "a"}, "did you mean paths?"),
        ({"type": "scope", "touch": "src/**"}, "must be a list"),
        ({"type": "metric", "argv": ["a"], "extract": "stdout_int"}, "needs min, max or both"),
        ({"type": "metric", "argv": ["a"], "extract": "stdout_int", "min": 2, "max": 1}, "nothing can pass"),
        ({"type": "metric", "argv": ["a"], "extract": "stdout_int", "max": float("nan")}, "finite"),
        ({"type": "judge", "question": "  "}, "must be a question"),
        ({"type": "path", "path": "a", "id": "../x"}, "checks[0].id: must be"),
        ({"type": "path", "path": "a", "guard": "yes"}, "checks[0].guard: must be true or false"),
        ("", "checks[0]: must be a question"),
        (3, "must be an object with a type"),
        (None, "must be an object with a type"),
    ],
)  # fmt: skip
def test_a_defect_names_its_place_and_what_would_be_right(item: object, said: str) -> None:
    (found,) = [one for one in defects([item]) if said in one] or [f"{defects([item])} do not say {said!r}"]
    assert said in found


def test_ids_are_unique_the_given_ones_too() -> None:
    one = {"type": "path", "path": "a"}
    for first, second, taken in (("x", {**one, "id": "x"}, "x"), ("check-2", "a question", "check-2")):
        said = defects([{**one, "id": first}, second])[0]
        assert texts.says(said, "check-id-taken", place="checks[1]", id=taken, other="checks[0]")


@pytest.mark.parametrize("data", [None, {}, "x", 3, {"checks": []}])
def test_only_a_list_is_a_list(data: object) -> None:
    assert texts.says(defects(data)[0], "check-list-expected")


def test_a_list_has_an_end() -> None:
    assert "at most 200" in defects(["q"] * 201)[0]


def test_the_digest_is_of_the_meaning() -> None:
    def digest(**fields: Any) -> str:
        return digest_of_check(parse_checks([{"type": "command", **fields}])[0])

    plain = digest(argv=["a", "b"])
    assert plain == digest(timeout=120, argv=["a", "b"], id="named", cwd="./", exit=0)
    for other in ({"argv": ["a b"]}, {"argv": ["a", "b"], "exit": 1}, {"argv": ["a", "b"], "guard": True}):
        assert digest(**other) != plain
    assert digest_of_check("a") != digest_of_check("b")


YAML = """\
checks:
  - {id: built, type: path, path: "dist/*.whl", min_count: 1}
  - {id: committed, type: commit, subject: "^feat\\\\(x\\\\):"}
  - Is it good?
"""


@pytest.mark.parametrize("name", ["c.yaml", "c.yml", "c.txt", "c.json", "noext"])
def test_json_and_yaml_say_the_same(tmp_path: Path, name: str) -> None:
    same = {
        "checks": [
            {"id": "built", "type": "path", "path": "dist/*.whl", "min_count": 1},
            {"id": "committed", "type": "commit", "subject": r"^feat\(x\):"},
            "Is it good?",
        ]
    }
    (tmp_path / name).write_text(json.dumps(same) if name in ("c.json", "noext") else YAML, encoding="utf-8")
    assert loaded(tmp_path / name) == parse_checks(same["checks"])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.yaml", "checks: &a [*a]", "anchors and aliases are not allowed"),
        ("a.yaml", "a: &a [x]\nchecks: [*a, *a]", "anchors and aliases"),
        ("a.yaml", "checks:\n- {<<: {type: path}, path: a}", "a key must be plain text"),
        ("a.yaml", "checks: []\nchecks: []", "'checks' is there twice (line 2)"),
        ("a.yaml", "checks:\n- {type: path, path: a, path: b}", "'path' is there twice"),
        ("a.yaml", "checks:\n- !!python/object/apply:os.system [id]", "not usable YAML"),
        ("a.yaml", "checks: [", "not usable YAML"),
        ("a.yaml", "checks: []\n---\nchecks: []", "not usable YAML"),
        ("a.yaml", "[" * sys.getrecursionlimit(), "not usable YAML"),
        ("a.yaml", "checks:\n- {? [a] : b}", "a key must be plain text"),
        ("a.yaml", "checks:\n- {type: path, path: 2024-01-01}", "checks[0].path: must be a text"),
        ("a.json", '{"checks": [], "checks": []}', "'checks' is there twice"),
        ("a.json", '{"checks": [{"type": "metric", "max": NaN}]}', "NaN is not JSON"),
        ("a.json", "{", "not valid JSON"),
        ("a.json", "[" * 100_000, "not valid JSON"),
        ("a.json", '{"checks": null}', "checks: must be a list"),
        ("a.json", " " * 1_000_001, "larger than 1000000 bytes"),
    ],
)
def test_a_file_that_cannot_be_used_is_bad_input(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert said in defects_of_file(tmp_path / name)


def test_a_file_of_too_many_values_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_YAML_NODES", 100)
    (tmp_path / "a.yaml").write_text("checks: [" + "a, " * 100 + "]", encoding="utf-8")
    assert texts.says(defects_of_file(tmp_path / "a.yaml"), "check-file-too-many-values")


def test_a_file_that_cannot_be_read_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"checks: [\xff]")
    os.mkfifo(tmp_path / "pipe")
    assert texts.says(defects_of_file(tmp_path / "missing"), "check-file-unread")
    assert texts.says(defects_of_file(tmp_path / "pipe"), "check-file-no-file")
    assert texts.says(defects_of_file(tmp_path / "latin"), "check-file-not-utf8", byte=9)
    with pytest.raises(BadInput):
        documents.load(tmp_path)


@pytest.mark.parametrize("pattern", [r"\A\Z", "passed", "^## Install", r"\d+", "^a", "[a-z]$", r"\w"])
def test_patterns_that_say_something(pattern: str) -> None:
    assert patterns.defect(pattern) is None


@pytest.mark.parametrize(
    "pattern", ["", ".", ".*", ".+", "^", "$", "a*", r"\S", r"[\s\S]", "(?s).", "^$", "^.*$", "x?|y"]
)
def test_patterns_that_say_nothing(pattern: str) -> None:
    assert texts.says(str(patterns.defect(pattern)), "check-pattern-any-text")


names = st.sampled_from(
    [*checks.MODELS, "file_check", "path", "argv", "regex", "paths", "touch", "type", "id", "x", "min"]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20) | names,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names | st.text(max_size=5), inner, max_size=6),
    max_leaves=15,
)
typed = st.fixed_dictionaries({"type": st.sampled_from(list(checks.MODELS))}, optional=dict.fromkeys(
    ["path", "regex", "argv", "paths", "touch", "subject", "question", "min", "max", "extract", "cwd", "id", "exit"],
    json_values,
))  # fmt: skip


@given(json_values | st.lists(json_values | typed, max_size=4))
def test_arbitrary_json_is_parsed_or_bad_input(data: object) -> None:
    found: object = ["parsed"]
    try:
        parse_checks(data)
    except BadInput as error:
        found = error.details["defects"]
    assert found
    assert json.dumps(found, ensure_ascii=False).encode()


@pytest.mark.parametrize("text", ["\ud800", "a\ud800b"])
def test_what_is_no_text_is_bad_input(text: str) -> None:
    for item in (text, {"type": "path", "path": text}, {"type": "command", "argv": [text]}, {"type": text}, {text: 1}):
        assert defects([item])
