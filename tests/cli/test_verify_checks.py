"""`omo verify pin`, `omo verify checks` and `omo evidence`, and the examples of docs/checks.md run for real."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from omo.proof.checks import MODELS, load_checks_file
from omo.state import paths
from tests.cli.conftest import Ran, Shell

PAGE = Path(__file__).resolve().parents[2] / "docs" / "checks.md"
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture
def repo(shell: Shell) -> Shell:
    git(shell, "add", "--all")
    git(shell, "commit", "-q", "-m", "start")
    return shell


def git(shell: Shell, *arguments: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=shell.project, check=True)


def file(shell: Shell, *checks: Any) -> str:
    shell.write("checks.json", json.dumps({"checks": checks}))
    return "checks.json"


def results(ran: Ran) -> dict[str, str]:
    return {one["id"]: one["result"] for one in ran.json["checks"]}


def test_an_honest_run_goes_through(repo: Shell) -> None:
    name = file(
        repo,
        {"id": "made", "type": "path", "path": "src/made.py"},
        {"id": "runs", "type": "command", "argv": ["sh", "-c", "test -f src/made.py && echo fine"], "stdout": "fine"},
        {"id": "committed", "type": "commit", "subject": "^feat: made"},
        {"id": "fenced", "type": "scope", "touch": ["src/**"], "guard": True},
    )
    pinned = repo.agent("verify", "pin", "--file", name)
    assert pinned.code == 0
    assert "4 checks pinned by the agent, base " in pinned.out
    assert "vacuous" not in pinned.err
    assert repo.agent("verify", "checks", "--file", name, "--json").code == 3
    (repo.project / "src").mkdir()
    repo.write("src/made.py", "")
    git(repo, "add", "src")
    git(repo, "commit", "-q", "-m", "feat: made")
    ran = repo.agent("verify", "checks", "--file", name, "--json")
    assert ran.code == 0, ran.out
    assert ran.json["ok"] is True
    assert (ran.json["verdict"], ran.json["flags"]) == ("pass", [])
    assert set(ran.json) == {"ok", "verdict", "flags", "checks"}
    assert all(set(one) == {"id", "result", "reason", "observed"} for one in ran.json["checks"])
    assert "Verdict: pass" in repo.agent("verify", "checks", "--file", name).out


@pytest.mark.parametrize(
    ("checks", "code", "verdict", "flags"),
    [
        ([], 4, "unknown", ["checks_empty"]),
        ([{"type": "path", "path": "value"}], 0, "pass", []),
        ([{"type": "path", "path": "no"}, {"type": "judge", "question": "?"}], 3, "fail", None),
        ([{"type": "command", "argv": ["true"]}], 4, "unknown", ["checks_unevaluable"]),
        ([{"type": "path", "path": "value"}, "good?"], 4, "unknown", ["has_string_checks"]),
    ],
)
def test_exit_codes(shell: Shell, checks: list[Any], code: int, verdict: str, flags: list[str] | None) -> None:
    ran = shell.agent("verify", "checks", "--file", file(shell, *checks), "--json")
    assert (ran.code, ran.json["ok"], ran.json["verdict"]) == (code, code == 0, verdict)
    assert flags is None or ran.json["flags"] == flags


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


def test_syntax_in_five_languages(shell: Shell) -> None:
    checks = []
    for number, (language, text, _) in enumerate(SYNTAX):
        shell.write(f"{number}.txt", text)
        checks.append({"id": str(number), "type": "syntax", "path": f"{number}.txt", "language": language})
    looked = results(shell.agent("verify", "checks", "--file", file(shell, *checks), "--json"))
    for number, (language, text, wanted) in enumerate(SYNTAX):
        assert looked[str(number)] in wanted.split("|"), (language, text[:80])


@pytest.mark.parametrize("verb", ["pin", "checks"])
def test_defects_come_all_at_once_and_nothing_is_pinned(shell: Shell, verb: str) -> None:
    good = {"type": "command", "argv": ["true"]}
    name = file(shell, good, {"type": "content", "path": "a", "regx": "b"}, {"type": "file_check", "path": "a"})
    ran = shell.agent("verify", verb, "--file", name, "--json")
    assert ran.code == 2
    details = ran.json["error"]["details"]
    assert "checks[1].regx: no such field of a content check; did you mean regex?" in details
    assert any("did you mean path?" in one for one in details)
    assert "  - checks[1].regx" in shell.agent("verify", verb, "--file", name).err
    assert not Path(paths.verify_dir(shell.state)).exists()


def test_a_missing_file_is_bad_input(shell: Shell) -> None:
    for verb in ("pin", "checks"):
        assert shell.agent("verify", verb, "--file", "nowhere.yaml").code == 2
    assert shell.agent("verify", "checks").code == 2


def test_who_pins_and_what_is_vacuous_is_said(repo: Shell) -> None:
    name = file(repo, {"id": "there", "type": "path", "path": "value"})
    ran = repo.user("verify", "pin", "--file", name)
    assert ran.code == 0
    assert "pinned by the user" in ran.out
    assert "vacuous: there" in ran.err
    assert "nothing here could show work" in ran.err
    again = repo.agent("verify", "pin", "--file", name, "--json").json
    assert (again["pinned"], again["kept"]["there"]["by"], again["all_vacuous"]) == ([], "user", True)


def test_the_base_is_head_when_pinned_unless_another_is_named(repo: Shell) -> None:
    name = file(repo, {"id": "untouched", "type": "forbidden", "paths": ["value"]})
    assert repo.agent("verify", "checks", "--file", name).code == 4
    repo.agent("verify", "pin", "--file", name)
    assert repo.agent("verify", "checks", "--file", name).code == 0
    repo.write("value", "new\n")
    git(repo, "commit", "-q", "-a", "-m", "change")
    assert repo.agent("verify", "checks", "--file", name).code == 3
    assert repo.agent("verify", "checks", "--file", name, "--base", "HEAD").code == 0
    assert repo.agent("verify", "checks", "--file", name, "--base", "nonsense").code == 4


def test_a_command_edited_after_pinning_is_not_run(repo: Shell) -> None:
    name = file(repo, {"id": "t", "type": "command", "argv": ["sh", "-c", "exit 0"]})
    repo.agent("verify", "pin", "--file", name)
    assert repo.agent("verify", "checks", "--file", name).code == 0
    name = file(repo, {"id": "t", "type": "command", "argv": ["sh", "-c", "touch ran; exit 0"]})
    ran = repo.agent("verify", "checks", "--file", name)
    assert ran.code == 4
    assert "edited after it was; omo verify pin --file FILE" in ran.out
    assert not (repo.project / "ran").exists()


def test_a_damaged_ledger_of_pins_refuses_and_can_be_set_aside(repo: Shell) -> None:
    name = file(repo, {"id": "t", "type": "command", "argv": ["true"]})
    repo.agent("verify", "pin", "--file", name)
    ledger = Path(paths.verify_dir(repo.state), "pins", "ledger.jsonl")
    ledger.write_text(ledger.read_text().replace('"true"', '"false"'))
    ran = repo.agent("verify", "checks", "--file", name)
    assert (ran.code, "--repair" in ran.err) == (3, True)
    assert repo.agent("verify", "pin", "--file", name, "--repair").code == 3
    assert repo.user("verify", "pin", "--file", name, "--repair").code == 0
    assert repo.agent("verify", "checks", "--file", name).code == 0


def test_what_is_printed_is_clean(shell: Shell) -> None:
    noisy = "print('\\x1b[31m' + 'x' * 9000); raise SystemExit(1)"
    name = file(shell, {"type": "command", "argv": ["python3", "-c", noisy]}, "\x1b[31mred?")
    shell.agent("verify", "pin", "--file", name)
    for ran in (
        shell.agent("verify", "checks", "--file", name),
        shell.agent("verify", "checks", "--file", name, "--json"),
    ):
        assert "\x1b" not in ran.out
        assert len(ran.out) < 3000


def test_evidence_is_added_and_listed(repo: Shell) -> None:
    repo.write("log.txt", "42 passed\n")
    ran = repo.agent("evidence", "add", "log.txt", "--goal", "G1", "--json")
    assert ran.code == 0
    assert {"path", "digest", "size", "goal"} <= set(ran.json["artifact"])
    assert repo.agent("evidence", "add", "log.txt", "--goal", "G2").code == 3
    assert "holds" in repo.agent("evidence", "list").out
    repo.write("log.txt", "43 passed\n")
    assert repo.agent("evidence", "list", "--goal", "G1", "--json").json["artifacts"][0]["holds"] is False
    assert "CHANGED" in repo.agent("evidence", "list").out
    assert "No evidence" in repo.agent("evidence", "list", "--goal", "G9").out
    assert repo.agent("evidence", "add", "nowhere", "--goal", "G1").code == 3
    assert repo.agent("evidence", "add", "log.txt").code == 2


def test_evidence_older_than_the_pins_of_its_goal_is_refused(repo: Shell) -> None:
    repo.now = 4_000_000_000.0
    repo.write("log.txt", "42 passed\n")
    repo.agent("verify", "pin", "--goal", "G1", "--file", file(repo, {"type": "path", "path": "x"}))
    ran = repo.agent("evidence", "add", "log.txt", "--goal", "G1")
    assert ran.code == 3
    assert "older than the work" in ran.err


def test_the_page_has_an_example_of_every_type() -> None:
    for kind in MODELS:
        assert f"\n## {kind}\n" in PAGE.read_text(encoding="utf-8")
        assert any(f"type: {kind}" in example for example in EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_examples_of_the_page_run(repo: Shell, example: str) -> None:
    project = repo.project
    repo.write("checks.yaml", example)
    repo.write("README.md", "# x\n\n## Install\n")
    repo.write("size.sh", "echo 7\n")
    git(repo, "add", "README.md", "size.sh")
    git(repo, "commit", "-q", "-m", "ground")
    assert load_checks_file(project / "checks.yaml")
    assert repo.user("verify", "pin", "--file", "checks.yaml").code == 0
    for name in ("dist/x.whl", "src/a.py"):
        (project / name).parent.mkdir()
        repo.write(name, "print(1)\n")
    repo.write("run.sh", "echo run\n")
    git(repo, "commit", "-q", "--allow-empty", "-m", "feat(x): work")
    found = results(repo.user("verify", "checks", "--file", "checks.yaml", "--json"))
    needs_a_judge = {"clear", "check-4"} & set(found)
    expected = {name: "unknown" if name in needs_a_judge else "pass" for name in found}
    assert found == expected
