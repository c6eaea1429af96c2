"""The checks of a goal, the examples of docs/checks.md among them, run for real; and `omo evidence`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from omo.proof.checks import MODELS
from omo.state import paths
from tests.project import Project, Ran

PAGE = Path(__file__).resolve().parents[2] / "docs" / "checks.md"
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture
def repo(project: Project) -> Project:
    project.commit("start")
    return project


def filed(project: Project, *checks: Any, **fields: Any) -> Ran:
    goal = {"id": "G1", "title": "Some work", "verification": {"checks": list(checks)}, **fields}
    file = project.root.parent / "goal.json"
    file.write_text(json.dumps(goal), encoding="utf-8")
    return project.user("verify", "add", "--file", str(file), "--json")


def looked_at(project: Project) -> tuple[str, list[str], dict[str, str]]:
    """The verdict, its flags, and what each check says."""
    begun = project.agent("verify", "begin", "G1", "--json").json
    return begun["verdict"], begun["flags"], {check["id"]: check["result"] for check in begun["checks"]}


def test_an_honest_run_goes_through(repo: Project) -> None:
    checks = (
        {"id": "made", "type": "path", "path": "src/made.py"},
        {"id": "runs", "type": "command", "argv": ["sh", "-c", "test -f src/made.py && echo fine"], "stdout": "fine"},
        {"id": "committed", "type": "commit", "subject": "^feat: made"},
        {"id": "fenced", "type": "scope", "touch": ["src/**"], "guard": True},
    )
    assert filed(repo, *checks).json["pinned"] == ["made", "runs", "committed", "fenced"]
    assert looked_at(repo)[0] == "fail"
    repo.write("src/made.py", "")
    repo.git("add", "src")
    repo.git("commit", "-q", "-m", "feat: made")
    assert looked_at(repo)[:2] == ("pass", [])


HELD, OPEN = {"type": "path", "path": "value"}, {"type": "path", "path": "no"}
JUDGED = {"type": "judge", "question": "?"}


@pytest.mark.parametrize(
    ("checks", "verdict", "flags"),
    [
        ([], "unknown", ["checks_empty"]),
        ([HELD], "pass", []),
        ([HELD, OPEN], "fail", ["checks_failed"]),
        ([HELD, JUDGED], "unknown", ["checks_unevaluable"]),
        ([JUDGED, OPEN], "fail", ["checks_failed", "checks_unevaluable"]),
        ([HELD, "good?"], "unknown", ["has_string_checks"]),
        (["good?", OPEN, JUDGED], "fail", ["checks_failed", "checks_unevaluable", "has_string_checks"]),
        (["good?", "nice?"], "unknown", ["checks_empty", "has_string_checks"]),
    ],
)
def test_verdicts(project: Project, checks: list[Any], verdict: str, flags: list[str]) -> None:
    filed(project, *checks, guard=True)
    assert looked_at(project)[:2] == (verdict, flags)


SYNTAX: list[tuple[str, str, str]] = [
    ("bash", "if true; then echo; fi\n", "pass"),
    ("bash", "if true; then echo\n", "fail"),
    ("sh", "f() { echo; }\n", "pass"),
    ("sh", "case x in\n", "fail"),
    ("python", "x = '\\d'\n", "pass"),
    ("python", "def f(:\n", "fail"),
    ("python", "x = '\0'\n", "fail"),
    ("json", '{"a": [1]}', "pass"),
    ("json", '{"a": NaN}', "fail"),
    ("json", "", "fail"),
    ("yaml", "a: &x [1]\nb: *x\n", "pass"),
    ("yaml", "a: [\n", "fail"),
    ("python", "(" * 50_000, "fail|unknown"),
    ("json", "[" * 500_000, "unknown"),
]


def test_syntax_in_five_languages(project: Project) -> None:
    checks = []
    for number, (language, text, _) in enumerate(SYNTAX):
        project.write(f"{number}.txt", text)
        checks.append({"id": str(number), "type": "syntax", "path": f"{number}.txt", "language": language})
    filed(project, *checks)
    _, _, results = looked_at(project)
    for number, (language, text, wanted) in enumerate(SYNTAX):
        assert results[str(number)] in wanted.split("|"), (language, text[:80])


def test_defects_come_all_at_once_and_nothing_is_pinned(project: Project) -> None:
    ran = filed(project, {"type": "file_exists", "path": "x"}, {"type": "path", "pth": "x"}, {"type": "command"})
    assert ran.code == 2
    text = "\n".join(ran.json["error"]["details"])
    for part in ("did you mean path?", "pth: no such field", "checks[2].argv"):
        assert part in text
    assert not Path(paths.pins_dir(project.state)).exists()


def test_what_is_vacuous_is_said(repo: Project) -> None:
    ran = filed(repo, {"id": "old", "type": "path", "path": "value"}, {"id": "new", "type": "path", "path": "x"})
    assert ran.json["vacuous"] == ["old"]


def test_what_a_damaged_ledger_of_pins_has_lost_is_pinned_anew(repo: Project) -> None:
    check = {"id": "t", "type": "command", "argv": ["test", "-f", "made"]}
    filed(repo, check)
    pins = Path(paths.pins_dir(repo.state), "ledger.jsonl")
    pins.write_text(pins.read_text().replace("made", "value"), encoding="utf-8")
    assert filed(repo, check).code == 0
    assert looked_at(repo)[2] == {"t": "fail"}


def test_evidence_is_added_for_one_goal(repo: Project) -> None:
    repo.write("log.txt", "42 passed\n")
    ran = repo.agent("evidence", "add", "log.txt", "--goal", "G1", "--json")
    assert ran.code == 0
    assert {"path", "digest", "size", "goal"} <= set(ran.json["artifact"])
    assert repo.agent("evidence", "add", "log.txt", "--goal", "G2").code == 3
    assert repo.agent("evidence", "add", "nowhere", "--goal", "G1").code == 3
    assert repo.agent("evidence", "add", "log.txt").code == 2


def test_evidence_older_than_the_pins_of_its_goal_is_refused(repo: Project) -> None:
    repo.now = 4_000_000_000.0
    repo.write("log.txt", "42 passed\n")
    filed(repo, {"type": "path", "path": "x"})
    ran = repo.agent("evidence", "add", "log.txt", "--goal", "G1")
    assert ran.code == 3
    assert ran.says("proof-cannot-be-evidence-its-content-is")


def test_the_page_has_an_example_of_every_type() -> None:
    for kind in MODELS:
        assert f"\n## {kind}\n" in PAGE.read_text(encoding="utf-8")
        assert any(f"type: {kind}" in example for example in EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_examples_of_the_page_run(repo: Project, example: str) -> None:
    repo.write("README.md", "# x\n\n## Install\n")
    repo.write("size.sh", "echo 7\n")
    repo.git("add", "README.md", "size.sh")
    repo.git("commit", "-q", "-m", "ground")
    shown = yaml.safe_load(example)
    checks = shown.get("verification", shown)["checks"]
    assert filed(repo, *checks, guard=True).code == 0
    for name in ("dist/x.whl", "src/a.py"):
        repo.write(name, "print(1)\n")
    repo.write("run.sh", "echo run\n")
    repo.git("commit", "-q", "--allow-empty", "-m", "feat(x): work")
    found = looked_at(repo)[2]
    assert found == {name: "unknown" if name == "clear" else "pass" for name in found}
