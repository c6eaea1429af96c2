"""`omo verify claim`: what it looks at, what it records, and which words of an answer call for one."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from omo.state.journal import Journal
from omo.table import BY_KIND
from omo.workflows.verify import claims, statements
from tests import texts
from tests.cli.test_verify import add, answer, begin
from tests.project import Project, Ran
from tests.verify.workshop import SUMMARY, checklist, path_check, q1, q2

RECORDS = '{"meta": {"tag": "a"}, "errors": 0}\n{"meta": {"tag": "b"}, "errors": 0}\n\n{"errors": 2}\n'


@pytest.fixture
def project(project: Project) -> Project:
    project.write("config.yaml", "debug: true\nport: 8080\n")
    project.write("a.jsonl", RECORDS)
    project.write("torn.jsonl", '{"errors": 0}\n{"err')
    return project


def claim(project: Project, *argv: str) -> Ran:
    return project.agent("verify", "claim", *argv, "--json")


def filed(project: Project) -> list[claims.FiledClaim]:
    return claims.recorded(project.state)


@pytest.mark.parametrize(
    ("options", "code", "verdict", "reason"),
    [
        ("--absent gone.py", 0, "pass", "gone.py is gone"),
        ("--absent '*.yaml'", 3, "fail", "must be gone and is there"),
        ("--contains 'debug: true' --in config.yaml", 0, "pass", "1 of 1 files"),
        ("--contains 'debug: false' --in config.yaml", 3, "fail", "0 of 1 files"),
        ("--contains 'a.c' --in config.yaml", 3, "fail", "0 of 1 files"),
        ("--contains x --in nowhere.py", 3, "fail", "no file is named by nowhere.py"),
        ("--lacks debug --in config.yaml", 3, "fail", "0 of 1 files without"),
        ("--lacks parse_v1 --in '**'", 0, "pass", "files without"),
        ("--lacks x --in 'src/**'", 3, "fail", "no file is named by src/**"),
        ("--count 2 --of '*.jsonl'", 0, "pass", "2 files counted, 2 claimed"),
        ("--count 0 --of '*.jsonl'", 3, "fail", "2 files counted, 0 claimed"),
        ("--count 2 --of a.jsonl --field meta.tag", 0, "pass", "2 records counted"),
        ("--count 1 --of a.jsonl --field meta.tag --value b", 0, "pass", "1 records counted"),
        ("--count 3 --of a.jsonl --field errors --value 0", 3, "fail", "2 records counted, 3 claimed"),
        ("--count 0 --of a.jsonl --field error", 4, "unknown", "none of the 3 records of a.jsonl has a field error"),
        ("--count 0 --of torn.jsonl --field errors --value 1", 4, "unknown", "torn.jsonl line 2 is no JSON"),
        ("--service name.invalid:80 --is down", 4, "unknown", "neither up nor down"),
    ],
)
def test_the_exit_code_is_what_code_saw(project: Project, options: str, code: int, verdict: str, reason: str) -> None:
    ran = claim(project, *shlex.split(options))
    assert (ran.code, ran.json["verdict"], ran.json["override"]) == (code, verdict, None)
    assert reason in ran.json["reason"]
    assert [(each.seen.verdict, each.statement) for each in filed(project)] == [(verdict, ran.json["claim"])]


@pytest.fixture
def listening() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_service_is_up_where_it_accepts_and_down_where_it_refuses(project: Project, listening: str) -> None:
    assert claim(project, "--service", listening, "--is", "up").code == 0
    assert claim(project, "--service", listening, "--is", "down").code == 3
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed = f"127.0.0.1:{server.getsockname()[1]}"
    assert claim(project, "--service", closed, "--is", "up").code == 3
    down = claim(project, "--service", closed, "--is", "down")
    assert (down.code, down.json["reason"]) == (0, f"{closed} refuses connections")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("", "required"),
        ("--absent a --contains b --in c", "not allowed with"),
        ("--contains b", "--contains needs --in"),
        ("--contains '' --in c", "--contains needs a text"),
        ("--count 1", "--count needs --of"),
        ("--count many --of a", "many"),
        ("--count -1 --of a", "--count needs 0 or more"),
        ("--absent a --goal G9", "there is no goal 'G9'"),
        ("--count 1 --of a --value 2", "--value needs --field"),
        ("--absent a --in b", "--in does not belong to --absent"),
        ("--service localhost:80", "--service needs --is"),
        ("--service localhost --is up", "is no address"),
        ("--service localhost:70000 --is up", "is no address"),
        ("--service localhost:http --is up", "is no address"),
        ("--absent ../outside", "leaves the project"),
        ("--count 1 --of /etc/*", "leaves the project"),
        ("--absent a --override no", "says too little"),
        (f"{'x' * 9000} --absent a", "at most 8000 characters"),
        ("--absent a --evidence 'I saw it'", "--evidence"),
    ],
)
def test_bad_input_is_refused_and_leaves_no_trace(project: Project, options: str, why: str) -> None:
    ran = project.agent("verify", "claim", *shlex.split(options))
    assert (ran.code, why in ran.err) == (2, True), ran.err
    assert filed(project) == []


def test_it_names_what_was_seen_and_the_remedy(project: Project) -> None:
    ran = project.agent("verify", "claim", "--contains", "debug: false", "--in", "config.yaml")
    assert ran.out.splitlines() == [
        "fail    config.yaml contains 'debug: false': 0 of 1 files with /debug: false/",
        "    saw  not: config.yaml",
        "Next: look again and restate it. If code is wrong: --override REASON, recorded and shown",
    ]


def test_an_override_lets_it_stand_and_is_recorded_as_whose_it_is(project: Project) -> None:
    begun(project)
    reason = "the release job writes it"
    argv = ("verify", "claim", "The wheel is there.", "--count", "1", "--of", "dist/a.whl", "--override", reason)
    ran = project.agent(*argv, "--goal", "G1", "--json")
    assert (ran.code, ran.json["verdict"]) == (0, "fail")
    assert ran.json["override"] == {"reason": reason, "by": "agent"}
    assert project.user(*argv).says("verify-overridden-by", actor="user", override=reason)
    assert [(each.by, each.goal, each.statement, each.override) for each in filed(project)] == [
        ("agent", "G1", "The wheel is there.", reason),
        ("user", "", "The wheel is there.", reason),
    ]
    assert Journal(str(Path(project.state, BY_KIND["verify"].claims)), project.state).problems() == []
    assert project.agent("status").says("verify-override-of-claim")
    assert project.agent("report", "--md").says("verify-claim-let-stand-in-report")


def test_status_names_a_claim_that_stands_once_also_beside_its_goal(project: Project) -> None:
    begun(project)
    claim = ("verify", "claim", "The wheel is there.", "--count", "1", "--of", "dist/a.whl", "--goal", "G1")
    project.check(*claim, "--override", "the release job writes it")
    assert project.agent("status").out.count("the release job writes it") == 1


def test_status_names_the_newest_claims_that_stand_and_counts_the_others(project: Project) -> None:
    for number in range(10):
        claim = ("verify", "claim", f"The wheel {number} is there.", "--count", "1", "--of", f"dist/{number}.whl")
        project.check(*claim, "--override", "the release job writes it")
    said = [line for line in project.check("status").out.splitlines() if line.startswith("override: ")]
    assert [line.split(" is there")[0] for line in said[:-1]] == [f"override: The wheel {9 - n}" for n in range(8)]
    assert texts.says(said[-1], "verify-override-and-more-omo-status", sentences=2)


def test_nothing_to_override_is_said_and_not_recorded_as_one(project: Project) -> None:
    ran = project.agent("verify", "claim", "--absent", "gone", "--override", "better safe than sorry")
    assert (ran.code, ran.says("verify-there-was-nothing-to-override")) == (0, True)
    assert [each.override for each in filed(project)] == [""]


@pytest.mark.parametrize(
    ("statement", "classes"),
    [
        ("`old_parser` isn't built because `make` exits 0.", ["absence"]),
        ("parse_v1 doesn’t exist because src/a.py was read.", ["absence"]),
        ("src/b.py cannot be done because a.py says so.", ["absence"]),
        ("There is no such function as `parse()` because a.py was read.", ["absence"]),
        ("`retry` is not implemented because client.py was read.", ["absence"]),
        ("The broker at localhost:5672 is down because `nc` exits 1.", ["service"]),
        ("It fails because connection refused came back from http://localhost:80/.", ["service"]),
        ("localhost:80: connection refused because `nc` exits 1.", ["service"]),
        ("client.py: no such function because it was read.", ["absence"]),
        ("100% have X=0 because a.jsonl was counted.", ["count"]),
        ("0 records have errors because a.jsonl was counted.", ["count"]),
        ("Zero-utilization is reported because a.jsonl was counted.", ["count"]),
        ("handoff.yaml reflects session 7 because it was read.", ["file state"]),
        (
            "config.yaml contains the port and old.yaml does not exist because both were read.",
            ["absence", "file state"],
        ),
        ("10 records have errors because a.jsonl was counted.", []),
        ("The suite is green because `grep -c contains` exits 0.", []),
        ("All is well because a.py was read. Unknown: whether localhost:80 is down.", []),
        ("The download is fast because a.py was run.", []),
        ("the error rate is down from 4% to 1% because `make rate` prints it in rate.py", []),
        ("the count of open issues is down because tokens.py closes them", []),
        ("the dead branch is unreachable because `tokens.py` returns first", []),
        ("a missing field is refused because `tokens.py` raises ValueError", []),
        ("the module contains three functions because tokens.py was read", []),
        ("the log has no such line because `grep -c x app.log` exits 1", []),
        ("TypeScript on Windows is not implemented because setup.py leaves it out", []),
        ("`split` raises on it, and there is no such case left, because a.py was run", []),
        ("90% of the time is spent in split because bench.py prints it", []),
    ],
)
def test_words_that_call_for_a_claim_about_what_is_named(statement: str, classes: list[str]) -> None:
    assert sorted(statements.triggers(statement, "/nonexistent")) == classes


def begun(project: Project, **fields: Any) -> None:
    assert add(project, **fields).code == 0
    begin(project)
    project.write("parser.py", "def parse(text): return [text]\n")


STATEMENT = "The parser is done because `parser.py` contains `def parse`."


def test_a_question_stays_open_until_its_statement_is_claimed_and_holds(project: Project) -> None:
    begun(project)
    data = {**q1(), "statement": STATEMENT}
    refused = answer(project, "q1", data)
    assert (refused.code, refused.json["error"]["details"]) == (
        3,
        ['"contains" (file state): unknown, no claim was filed for this statement'],
    )
    assert refused.json["error"]["fix"].startswith(
        f"omo verify claim '{STATEMENT}' --goal G1 --contains TEXT --in PATH"
    )
    for other in (
        ("Another statement.", "--goal", "G1", "--contains", "def parse", "--in", "parser.py"),
        (STATEMENT, "--contains", "def parse", "--in", "parser.py"),
        (STATEMENT, "--goal", "G1", "--contains", "tokenize", "--in", "parser.py"),
    ):
        claim(project, *other)
        assert answer(project, "q1", data).code == 3
    assert claim(project, STATEMENT, "--goal", "G1", "--contains", "def parse", "--in", "parser.py").code == 0
    assert answer(project, "q1", data).code == 0
    project.write("parser.py", "nothing\n")
    stale = answer(project, "q1", data)
    assert (
        stale.code,
        texts.says(stale.json["error"]["details"][0], "verify-file-state-fail-of-files-with-def", number=0, number2=1),
    ) == (3, True), "they are looked at again"
    nothing_to_look_at = "the dead branch is unreachable because `parser.py` returns first"
    assert answer(project, "q1", {**q1(), "statement": nothing_to_look_at}).code == 0


def test_a_claim_of_an_earlier_attempt_is_filed_again(project: Project) -> None:
    begun(project, verification={"checks": [path_check("more.py"), "Is it readable?"]})
    claim(project, STATEMENT, "--goal", "G1", "--contains", "def parse", "--in", "parser.py")
    project.check("verify", "finish", "G1", "--summary", SUMMARY, code=3)
    assert project.agent("verify", "begin", "G1").code == 0
    assert answer(project, "q1", {**q1(), "statement": STATEMENT}).code == 3


def test_another_kind_of_claim_answers_nothing(project: Project) -> None:
    begun(project)
    down = "The old broker at localhost:9 is down because `parser.py` was run."
    claim(project, down, "--goal", "G1", "--absent", "broker")
    assert answer(project, "q1", {**q1(), "statement": down}).code == 3


def test_q2_is_held_to_what_it_says_of_how_it_looked(project: Project) -> None:
    begun(project)
    answer(project, "q1", q1())
    how = "listed the directory: `old_module` does not exist"
    assert "absence" in answer(project, "q2", q2(how=how)).json["error"]["details"][0]
    claim(project, how, "--goal", "G1", "--absent", "old.py")
    assert answer(project, "q2", q2(how=how)).code == 0


def test_a_statement_let_stand_is_an_exception_of_the_end(project: Project) -> None:
    begun(project)
    reason = "the name is built at run time, see line 3"
    options = (STATEMENT, "--goal", "G1", "--contains", "tokenize", "--in", "parser.py", "--override", reason)
    assert claim(project, *options).code == 0
    assert answer(project, "q1", {**q1(), "statement": STATEMENT}).code == 0
    answer(project, "q1.5", checklist())
    answer(project, "q2", q2())
    done = project.agent("verify", "finish", "G1", "--summary", SUMMARY, "--json")
    assert (done.code, done.json["outcome"]["verdict"]) == (0, "waived")
    (let_through,) = done.json["outcome"]["exceptions"]
    assert (let_through["by"], let_through["why"]) == ("agent", reason)
    assert reason in project.agent("status", "--json").json["overrides"][0]["reason"]
    assert not project.agent("report", "--md").says("verify-claim-let-stand-in-report"), "the end names it"


@pytest.mark.parametrize("flags", [(), ("--override", "the name is built at run time, see line 3")])
def test_what_was_restated_is_no_exception_of_the_end(project: Project, flags: tuple[str, ...]) -> None:
    begun(project)
    claim(project, STATEMENT, "--goal", "G1", "--contains", "tokenize", "--in", "parser.py", *flags)
    for question, data in (("q1", q1()), ("q1.5", checklist()), ("q2", q2())):
        assert answer(project, question, data).code == 0
    ended = project.agent("verify", "finish", "G1", "--summary", SUMMARY, "--json").json["outcome"]
    assert (ended["verdict"], ended["exceptions"]) == ("attested", [])


def test_a_summary_is_handed_on_once_what_it_claims_was_looked_at(project: Project) -> None:
    begun(project, verification={"checks": [path_check()]})
    summary = "parser.py contains a splitter and old.py does not exist"
    finish = ("verify", "finish", "G1", "--summary", summary)
    refused = project.agent(*finish)
    assert (refused.code, "(absence)" in refused.err, "(file state)" in refused.err) == (3, True, True)
    claim(project, summary, "--goal", "G1", "--contains", "def parse", "--in", "parser.py")
    assert project.agent(*finish).code == 3
    claim(project, summary, "--goal", "G1", "--absent", "old.py")
    assert project.agent(*finish).code == 0


def test_a_last_claim_that_does_not_hold_is_an_exception_of_the_end(project: Project) -> None:
    begun(project, verification={"checks": [path_check()]})
    claim(project, "--goal", "G1", "--absent", "parser.py")
    done = project.agent("verify", "finish", "G1", "--summary", SUMMARY, "--json")
    assert done.json["outcome"]["verdict"] == "waived"
    assert texts.says(done.json["outcome"]["exceptions"][0]["what"], "verify-goal-last-claim-about-it")


def test_the_record_of_claims_outlives_a_damaged_line_in_it(project: Project) -> None:
    claim(project, "--absent", "gone")
    journal = Path(project.state, BY_KIND["verify"].claims, "ledger.jsonl")
    journal.write_text(journal.read_text().replace("pass", "fail"), encoding="utf-8")
    assert Journal(str(journal.parent), project.state).problems()
