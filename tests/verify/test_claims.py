"""Claims and the evidence code finds for them: when a gate triggers, what it runs, and what it makes of it."""

from __future__ import annotations

import http.server
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omo.errors import BadInput
from omo.verify import claims
from omo.verify.claims import ClaimReport, GateResult, Limits, run_claim, triggers
from omo.verify.triggers import MOST_TRIGGERS, AbsenceClaim, CountClaim, FileClaim, ServiceClaim
from omo.verify.wording import LONGEST_TEXT

FILE, SEARCH, INFRA, COUNT = "positive-state", "exhaustive-search", "infrastructure", "zero-count"

# What triggers, and the subject that is read out of it.
TRIGGERS: list[tuple[str, str, object]] = [
    ("config.yaml contains `timeout: 30`", FILE, ("config.yaml", "contains", ("timeout: 30",))),
    ('config.yaml now contains "debug" and "port"', FILE, ("config.yaml", "contains", ("debug", "port"))),
    ("config.yaml contains Y", FILE, ("config.yaml", "contains", ("Y",))),
    ("`config.yaml` has “x”", FILE, ("config.yaml", "contains", ("x",))),
    ("src/app.py defines `main` because I read it", FILE, ("src/app.py", "contains", ("main",))),
    ("src/app.py:12 shows `main`", FILE, ("src/app.py", "contains", ("main",))),
    ("Makefile\ncontains `build:`", FILE, ("Makefile", "contains", ("build:",))),
    ("handoff.yaml reflects session 12", FILE, ("handoff.yaml", "contains", ("session 12",))),
    ("report.md was written", FILE, ("report.md", "exists", ())),
    ("The file out/report.md has been created.", FILE, ("out/report.md", "exists", ())),
    ("dist/a.whl exists", FILE, ("dist/a.whl", "exists", ())),
    ("I wrote the results to out/results.json", FILE, ("out/results.json", "exists", ())),
    ("According to config.yaml, the timeout is `30`", FILE, ("config.yaml", "contains", ("30",))),
    ("according to config.yaml the port is 80", FILE, ("config.yaml", "contains", ())),
    ("`parse` is defined in src/parser.py", FILE, ("src/parser.py", "contains", ("parse",))),
    ('config.yaml does not contain "secret"', FILE, ("config.yaml", "lacks", ("secret",))),
    ("config.yaml no longer contains `debug`", FILE, ("config.yaml", "lacks", ("debug",))),
    ("config.yaml contains no `debug`", FILE, ("config.yaml", "lacks", ("debug",))),
    ('"config.yaml contains port"', FILE, ("config.yaml", "contains", ("port",))),
    ("README.md is empty", FILE, ("README.md", "empty", ())),
    ("README.md is not empty", FILE, ("README.md", "exists", ())),
    ("config.yaml has 7 lines", FILE, ("config.yaml", "lines", ("7",))),
    ("config.yaml contains exactly 7 lines.", FILE, ("config.yaml", "lines", ("7",))),
    ("config.yaml is not committed", FILE, ("config.yaml", "uncommitted", ())),
    ("config.yaml hasn't been committed yet", FILE, ("config.yaml", "uncommitted", ())),
    (
        "The config file config.yaml was updated to use port 9090",
        FILE,
        ("config.yaml", "contains", ("9090",)),
    ),
    ("config.yaml was changed to use `b` instead of `a`", FILE, ("config.yaml", "contains", ("b",))),
    ("`parse_args` is not used anywhere", SEARCH, ("parse_args", "")),
    ("parse_args() is never called in src/", SEARCH, ("parse_args", "src/")),
    ("it can't be done", SEARCH, (None, "")),
    ("That cannot be done.", SEARCH, (None, "")),
    ("It is not possible", SEARCH, (None, "")),
    ("localhost:8080: connection refused", INFRA, ("refused", "localhost", 8080)),
    ("`retry_policy` does not exist", SEARCH, ("retry_policy", "")),
    ("retry_policy doesn’t exist anywhere", SEARCH, ("retry_policy", "")),
    ("The function foo_bar isn't implemented", SEARCH, ("foo_bar", "")),
    ("the `foo` function does not exist", SEARCH, ("foo", "")),
    ("the scheduler isn't built", SEARCH, ("scheduler", "")),
    ("there is no rate limiter", SEARCH, ("rate limiter", "")),
    ("There is no `Cache` class in src/cache.py", SEARCH, ("Cache", "src/cache.py")),
    ("there is no function named parse_all in the codebase", SEARCH, ("parse_all", "")),
    ("There's no --dry-run option", SEARCH, ("--dry-run", "")),
    ("we don't have a retry_policy", SEARCH, ("retry_policy", "")),
    ("`foo` is absent from src/a.py", SEARCH, ("foo", "src/a.py")),
    ("`foo` does not exist in production", SEARCH, ("foo", None)),
    ("no references to old_name remain", SEARCH, ("old_name", "")),
    ("there are no references to `old_name` in the repo", SEARCH, ("old_name", "")),
    ("there are no other callers of parse_x", SEARCH, (None, "")),
    ("It could look done, but `foo` does not exist", SEARCH, ("foo", "")),
    ("the value is absent", SEARCH, (None, "")),
    ("old.py was deleted", SEARCH, ("old.py", "")),
    ("old.py no longer exists", SEARCH, ("old.py", "")),
    ("No such file or directory: 'missing.txt'", SEARCH, ("missing.txt", "")),
    ("The feature is not implemented yet", SEARCH, (None, "")),
    ("it doesn't exist", SEARCH, (None, "")),
    ("The server at localhost:8080 is down", INFRA, ("down", "localhost", 8080)),
    ("127.0.0.1:5432 is not responding", INFRA, ("silent", "127.0.0.1", 5432)),
    ("[::1]:5432 isn't listening", INFRA, ("silent", "::1", 5432)),
    ("connection refused at db.example.com:5432", INFRA, ("refused", "db.example.com", 5432)),
    ("http://127.0.0.1:8080/x timed out", INFRA, ("timeout", "127.0.0.1", 8080)),
    ("nothing is listening on port 8080", INFRA, ("silent", "127.0.0.1", 8080)),
    ("http://localhost:8080/health returns 503", INFRA, ("status", "localhost", 8080)),
    ("GET https://api.example.com/v1 -> 404", INFRA, ("status", "api.example.com", 443)),
    ("I curled http://localhost:1234/. Connection refused.", INFRA, ("refused", "localhost", 1234)),
    ("The redis service is down", INFRA, ("down", None, None)),
    ("The API is unhealthy", INFRA, ("unhealthy", None, None)),
    ("The database a:1 or b:2 is down", INFRA, ("down", None, None)),
    ("0 records have X", COUNT, (None, "X", "present", "records", "0")),
    ("0 records in events.jsonl have `error`", COUNT, ("events.jsonl", "error", "present", "records", "0")),
    ("none of the records in a.jsonl have meta.error", COUNT, ("a.jsonl", "meta.error", "present", "records", "0")),
    ("80% of records in a.jsonl have score = 0", COUNT, ("a.jsonl", "score", "equals", "percent", "80")),
    ("12.5% have latency = 0", COUNT, (None, "latency", "equals", "percent", "12.5")),
    ("field Y is missing in F.jsonl", COUNT, ("F.jsonl", "Y", "absent", "all", "")),
    ("`meta.id` is null in 3 of 10 records of a.jsonl", COUNT, ("a.jsonl", "meta.id", "absent", "records", "3")),
    ("score=0 across 200 records", COUNT, (None, "score", "equals", "all", "")),
    ("all 12 records in a.jsonl have score = 0", COUNT, ("a.jsonl", "score", "equals", "all", "")),
    ("F.jsonl contains 0 records with `x`", COUNT, ("F.jsonl", "x", "present", "records", "0")),
    ("no rows in users.csv have email", COUNT, ("users.csv", "email", "present", "records", "0")),
]

NOTHING = [
    "",
    "The plan is complete",
    "the parser has tests",
    "X is Y because Z",
    "README.md is up to date",
    "config.yaml has a bug",
    "Node.js has `fs`",
    "REFINE must NOT be skipped",
    "the test is not flaky any more",
    "404",
    "the page shows a 404",
    "The endpoint handles 404 correctly",
    "it returns 404 for unknown users",
    "if config.yaml contains `x`, we stop",
    "does config.yaml contain `x`?",
    "config.yaml should contain `x`",
    'the help says "config.yaml contains x"',
    "it fails when the file does not exist",
    "raises if `foo` is not defined",
    'prints "connection refused" when the server is gone',
    "there is no doubt",
    "there is no need to retry",
    "There are no failing tests",
    "There are no lint errors",
    "the bug does not exist any more",
    "a semicolon is missing",
    "the image is not built on CI",
    "the class is written in Python",
    "latency is down",
    "the count is down to 3",
    "the server load is down by 5%",
    "write it down",
    "the test timed out after 60 s",
    "api tests timed out",
    "if the server is down we retry",
    "is the server at localhost:80 down?",
    "the server is up",
    "none of the tests have failed",
    "no entries have expired",
    "no one has complained",
    "12 records have an id",
    "all records in a.jsonl have an id",
    "0 failures",
    "100% of the tests pass",
    "tests/test_a.py::test_x passes",
    "read/write access has `x`",
    "and/or contains `x`",
    "NotImplementedError is raised",
    "Unknown: the server at localhost:1 is down",
    "The failure mode is that the server at localhost:1 is down",
    "It could look done while config.yaml contains no `x`",
    "there are no tests that fail",
    "there are no uncommitted changes in src/a.py",
    "the server is not up to date",
    "the API is not available in Python 3.9",
    "no records have been lost",
    "no lines have trailing whitespace",
    "the diff is empty for a.json",
    "all tests have 0 failures",
    "the list is empty",
    "README.md is empty of jargon",
    "config.yaml has 7 lines of comments",
    "config.yaml has at least 7 lines",
    "the change is not committed",
    "config.yaml was updated",
    "config.yaml was updated to match the docs",
    "README.md was updated to mention the 3 new flags",
    "config.yaml was updated on 2024-01-01",
    "`parse_args` is not used to read files",
    "the option is not used",
    "if it is not possible, stop",
    "app.py:12: connection refused is logged",
]


def subject(claim: object) -> tuple[object, ...]:
    if isinstance(claim, FileClaim):
        return claim.path, claim.says, claim.values
    if isinstance(claim, AbsenceClaim):
        return claim.name, claim.scope
    if isinstance(claim, ServiceClaim):
        return claim.says, claim.address and claim.address.host, claim.address and claim.address.port
    assert isinstance(claim, CountClaim)
    return claim.file, claim.field, claim.test, claim.unit, claim.amount


@pytest.mark.parametrize(("text", "gate", "about"), TRIGGERS, ids=[row[0] for row in TRIGGERS])
def test_a_claim_triggers_its_gate_and_says_what_about(text: str, gate: str, about: object) -> None:
    found = triggers(text)
    assert [(one.gate, subject(one.claim)) for one in found] == [(gate, about)]
    assert found[0].words


@pytest.mark.parametrize("text", NOTHING)
def test_what_claims_nothing_triggers_nothing(text: str) -> None:
    assert triggers(text) == []


def test_several_gates_may_trigger_on_one_text() -> None:
    text = "config.yaml contains `x`. `foo` does not exist. localhost:1 is down. 0 records in a.jsonl have `y`."
    assert [one.gate for one in triggers(text)] == [FILE, SEARCH, INFRA, COUNT]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "the project"
    (project / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    (project / ".gitignore").write_text("ignored/\n")
    (project / "config.yaml").write_text('debug: true\ntimeout: 300\n"port": 80\nname: caf\u00e9\n', encoding="utf-8")
    (project / "src" / "app.py").write_text("def retry_policy():\n    return RateLimiter()\n")
    (project / "src" / "legacy_thing.py").write_text("pass\n")
    (project / "empty.txt").write_text("")
    (project / ".sisyphus" / "cc-omo").mkdir(parents=True)
    (project / ".sisyphus" / "cc-omo" / "x.jsonl").write_text("only_in_our_state\n")
    return project


def one(text: str, root: Path, **hints: str) -> GateResult:
    report = run_claim(text, root=root, limits=Limits(network_seconds=0.3), **hints)
    assert len(report.gates) == 1, report
    return report.gates[0]


FILES = [
    ("config.yaml contains `debug: true`", "holds"),
    ("config.yaml contains debug: true", "holds"),
    ("config.yaml contains debug, which is right", "holds"),
    ("config.yaml contains: `debug: true`", "holds"),
    ("config.yaml contains port: 80", "holds"),
    ("config.yaml contains `debug: false`", "contradicted"),
    ("config.yaml contains debug: false", "contradicted"),
    ("config.yaml contains DEBUG_MODE", "contradicted"),
    ('config.yaml contains debug: "true"', "holds"),
    ('config.yaml contains port = "true"', "contradicted"),
    ('config.yaml contains "debug" and "nothing"', "contradicted"),
    ("config.yaml contains `timeout: 30`", "insufficient"),
    ("config.yaml contains verbosity", "insufficient"),
    ("config.yaml contains the right settings for us", "not-probeable"),
    ("config.yaml contains", "not-probeable"),
    ("config.yaml reflects session 12", "not-probeable"),
    ("according to config.yaml the port is 80", "not-probeable"),
    ("config.yaml does not contain `verbosity`", "holds"),
    ("config.yaml does not contain `debug`", "contradicted"),
    ("`retry_policy` is defined in src/app.py", "holds"),
    ("app.py defines `retry_policy`", "holds"),
    ("gone.yaml contains `debug`", "contradicted"),
    ("src/ contains `debug`", "not-probeable"),
    ("src/ has 3 lines", "not-probeable"),
    ("config.yaml has 4 lines", "holds"),
    ("config.yaml has 7 lines", "contradicted"),
    ("config.yaml is empty", "contradicted"),
    ("empty.txt is empty", "holds"),
    ("empty.txt is not empty", "contradicted"),
    ("config.yaml was updated to use port 80", "holds"),
    ("config.yaml was updated to use port 9090", "contradicted"),
    ("config.yaml is not committed", "holds"),
    ("config.yaml exists", "holds"),
    ("src/app.py was written", "holds"),
    ("empty.txt was written", "contradicted"),
    ("gone.txt was written", "contradicted"),
    ("/etc/passwd contains `root`", "not-probeable"),
    ("../outside.txt contains `x`", "not-probeable"),
    ("~/.bashrc contains `x`", "not-probeable"),
]


@pytest.mark.parametrize(("text", "outcome"), FILES, ids=[row[0] for row in FILES])
def test_a_file_is_read_now(text: str, outcome: str, root: Path) -> None:
    result = one(text, root)
    assert (result.gate, result.outcome) == (FILE, outcome), result
    assert result.holds is {"holds": True, "contradicted": False}.get(outcome)
    assert result.reason


def test_what_is_committed_is_asked_of_git(root: Path, tmp_path: Path) -> None:
    claim = "config.yaml is not committed"
    subprocess.run(["git", "add", "config.yaml"], cwd=root, check=True)
    assert one(claim, root).outcome == "holds"
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *who, "commit", "-q", "-m", "x"], cwd=root, check=True)
    assert one(claim, root).outcome == "contradicted"
    (root / "config.yaml").write_text("other\n")
    assert one(claim, root).outcome == "holds"
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "config.yaml").write_text("x\n")
    assert one(claim, tmp_path / "bare").outcome == "insufficient"


def test_what_changed_since_the_last_claim_is_seen(root: Path) -> None:
    assert one("config.yaml contains `debug: true`", root).holds
    (root / "config.yaml").write_text("debug: false\n")
    assert one("config.yaml contains `debug: true`", root).holds is False


def test_a_link_out_of_the_project_proves_nothing(root: Path) -> None:
    (root.parent / "outside.yaml").write_text("debug: true\n")
    (root / "link.yaml").symlink_to(root.parent / "outside.yaml")
    (root / "linked").symlink_to(root.parent)
    for text in ("link.yaml contains `debug: true`", "linked/outside.yaml contains `debug: true`", "link.yaml exists"):
        result = one(text, root)
        assert (result.outcome, result.holds) == ("insufficient", None)
        assert "out of the project" in result.reason
    assert one("link.yaml does not exist", root).holds is False


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(root: Path) -> None:
    os.mkfifo(root / "pipe.txt")
    assert one("pipe.txt contains `x`", root).outcome == "insufficient"
    assert one("`unheard_of` does not exist", root).holds is True


def test_one_of_several_files_of_a_name_must_be_named(root: Path) -> None:
    for name in ("a", "b"):
        (root / name).mkdir()
        (root / name / "same.txt").write_text(name)
    several = one("same.txt contains `a`", root)
    assert (several.outcome, several.saw) == ("not-probeable", "a/same.txt, b/same.txt")
    assert one("same.txt contains `a`", root, file="a/same.txt").holds is True
    assert one("a/same.txt contains `a`", root).holds is True


def test_a_hint_cannot_put_another_file_in_the_place_of_the_one_claimed(root: Path) -> None:
    (root / "other.yaml").write_text("verbosity\n")
    assert one("config.yaml contains `verbosity`", root, file="other.yaml").holds is False


def test_a_hint_says_what_it_is(root: Path) -> None:
    assert one("it contains `debug: true`", root, file="config.yaml").holds is True
    assert one("The file contains `verbosity`", root, file="config.yaml").holds is False
    assert run_claim("it contains `debug: true`", root=root).verdict == "nothing-to-gate"


def test_a_file_larger_than_the_limit_is_not_said_to_lack_anything(root: Path) -> None:
    (root / "big.txt").write_text("a\n" * 1000 + "needle\n")
    report = run_claim("big.txt contains `needle`", root=root, limits=Limits(file_bytes=100))
    assert [result.outcome for result in report.gates] == ["insufficient"]


SEARCHES = [
    ("`retry_policy` does not exist", "contradicted"),
    ("RETRY_POLICY does not exist", "contradicted"),
    ("there is no rate limiter", "contradicted"),
    ("there is no circuit breaker", "insufficient"),
    ("`legacy` is not implemented", "insufficient"),
    ("`legacy_thing` is not implemented", "contradicted"),
    ("`unheard_of` does not exist", "holds"),
    ("`only_in_our_state` does not exist", "holds"),
    ("`retry_policy` is absent from config.yaml", "holds"),
    ("`retry_policy` is absent from src/", "contradicted"),
    ("`retry_policy` is absent from gone.py", "insufficient"),
    ("`retry_policy` does not exist in production", "not-probeable"),
    ("legacy_thing.py was deleted", "contradicted"),
    ("src/legacy_thing.py no longer exists", "contradicted"),
    ("src/gone.py no longer exists", "holds"),
    ("gone.py does not exist", "holds"),
    ("/etc/passwd does not exist", "not-probeable"),
    ("The feature is not implemented yet", "not-probeable"),
    ("`café` does not exist", "contradicted"),
    ("`retry_policy` is not used anywhere", "holds"),
    ("`RateLimiter` is not used anywhere", "contradicted"),
    ("`legacy_thing.py` is not used anywhere", "holds"),
    ("it can't be done", "not-probeable"),
]


@pytest.mark.parametrize(("text", "outcome"), SEARCHES, ids=[row[0] for row in SEARCHES])
def test_the_search_is_run(text: str, outcome: str, root: Path) -> None:
    result = one(text, root)
    assert (result.gate, result.outcome) == (SEARCH, outcome), result


def test_a_search_says_where_and_how_much(root: Path) -> None:
    assert "src/app.py:1" in one("`retry_policy` does not exist", root).saw
    assert "src/legacy_thing.py" in one("`legacy_thing` is not implemented", root).saw
    assert one("`unheard_of` does not exist", root).saw.startswith("5 files searched")


def test_a_name_is_found_across_the_border_of_two_reads(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omo.verify.probes.search.CHUNK", 7)
    (root / "long.txt").write_text("\n" * 20 + "here is a split_name for you\n")
    assert "long.txt:21" in one("`split_name` does not exist", root).saw


def test_what_git_ignores_is_not_searched_but_can_be_asked_for_by_path(root: Path) -> None:
    (root / "ignored").mkdir()
    (root / "ignored" / "built.js").write_text("secret_name\n")
    assert one("`secret_name` does not exist", root).holds is True
    assert one("`secret_name` is absent from ignored/built.js", root).holds is False
    assert one("ignored/built.js does not exist", root).holds is False


def test_without_git_the_files_are_walked(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_text("find_me\n")
    assert one("`find_me` does not exist", tmp_path).holds is False
    assert one("`not_me` does not exist", tmp_path).holds is True


def test_a_repository_inside_the_project_is_searched(root: Path) -> None:
    (root / "nested").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root / "nested", check=True)
    (root / "nested" / "n.txt").write_text("deep_name\n")
    assert "nested/n.txt:1" in one("`deep_name` does not exist", root).saw


@pytest.mark.parametrize("limits", [Limits(files=2), Limits(bytes=10), Limits(seconds=1e-6)])
def test_a_search_that_was_cut_off_proves_nothing(root: Path, limits: Limits) -> None:
    report = run_claim("`unheard_of` does not exist", root=root, limits=limits)
    assert [(result.outcome, report.exit_code) for result in report.gates] == [("insufficient", 3)]


def test_an_empty_project_proves_no_absence(tmp_path: Path) -> None:
    assert one("`unheard_of` does not exist", tmp_path).outcome == "insufficient"


class Handler(http.server.BaseHTTPRequestHandler):
    seen: list[str]

    def do_HEAD(self) -> None:
        type(self).seen.append(self.path)
        status = int(self.path.strip("/") or 200)
        self.send_response(status)
        self.send_header("Location", "/200")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def web() -> Iterator[str]:
    Handler.seen = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture
def closed() -> Iterator[str]:
    """A port nobody listens on, and nobody else can take meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{held.getsockname()[1]}"


@pytest.fixture
def silent() -> Iterator[str]:
    """Accepts, and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


ANSWERS = [
    ("The server {} is down", "contradicted"),
    ("{} is not responding", "contradicted"),
    ("connection refused at {}", "contradicted"),
    ("{} timed out", "contradicted"),
    ("{} is unhealthy", "insufficient"),
    ("http://{}/200 returns 200", "holds"),
    ("http://{}/503 returns 503", "holds"),
    ("http://{}/200 returns 503", "contradicted"),
    ("http://{}/405 returns 200", "insufficient"),
    ("http://{}/302 returns 302", "holds"),
    ("http://{}/200 is down", "contradicted"),
    ("http://{}/503 is down", "holds"),
    ("http://{}/503 is unhealthy", "holds"),
    ("http://{}/404 is unhealthy", "insufficient"),
    ("http://{}/200 is unhealthy", "contradicted"),
    ("{} returns 200", "insufficient"),
]


@pytest.mark.parametrize(("text", "outcome"), ANSWERS, ids=[row[0] for row in ANSWERS])
def test_a_service_that_answers(text: str, outcome: str, web: str, root: Path) -> None:
    result = one(text.format(web), root)
    assert (result.gate, result.outcome) == (INFRA, outcome), result


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("The server {} is down", "holds"),
        ("{} is not responding", "holds"),
        ("connection refused at {}", "holds"),
        ("{} timed out", "contradicted"),
        ("http://{}/ is unhealthy", "holds"),
        ("http://{}/ returns 200", "contradicted"),
    ],
)
def test_a_service_that_refuses(text: str, outcome: str, closed: str, root: Path) -> None:
    assert one(text.format(closed), root).outcome == outcome


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("http://{}/ timed out", "holds"), ("http://{}/ is down", "holds"), ("http://{}/ returns 200", "contradicted")],
)
def test_a_service_that_is_silent_is_left_after_the_limit(text: str, outcome: str, silent: str, root: Path) -> None:
    started = time.monotonic()
    assert one(text.format(silent), root).outcome == outcome
    assert time.monotonic() - started < 10


def test_one_request_is_made_and_no_redirect_followed(web: str, root: Path) -> None:
    assert one(f"http://user:secret@{web}/302 returns 302", root).ran == f"HEAD http://{web}/302"
    assert Handler.seen == ["/302"]


def test_a_service_without_an_address_is_not_guessed(root: Path) -> None:
    result = one("The redis service is down", root)
    assert (result.outcome, result.ran) == ("not-probeable", "")
    assert "address" in result.reason


def test_a_name_that_does_not_resolve_says_nothing_about_the_service(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    assert one("db.invalid:5432 is down", root).outcome == "insufficient"


ROWS = [{"id": n, "score": 0 if n < 8 else n, "meta": {"tag": "a" if n % 2 else None}, "gone": None} for n in range(10)]


@pytest.fixture
def data(root: Path) -> Path:
    (root / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (root / "a.json").write_text(json.dumps({"version": 1, "rows": ROWS}))
    (root / "package.json").write_text(json.dumps({"name": "x", "nested": {"license": "MIT"}}))
    (root / "a.csv").write_text("id,email\n1,\n2,b@example.com\n3,\n")
    (root / "bad.jsonl").write_text('{"id": 1}\n{"id": \n')
    (root / "none.jsonl").write_text("")
    return root


COUNTS = [
    ("80% of records in a.jsonl have score = 0", "holds"),
    ("75% of records in a.jsonl have score = 0", "contradicted"),
    ("80% of the rows in a.json have score = 0", "holds"),
    ("8 of 10 records in a.jsonl have score = 0", "holds"),
    ("8 of 12 records in a.jsonl have score = 0", "contradicted"),
    ("7 records in a.jsonl have score = 0", "contradicted"),
    ("all records in a.jsonl have score = 0", "contradicted"),
    ("0 records in a.jsonl have score = 77", "holds"),
    ("0 records in a.jsonl have `score`", "contradicted"),
    ("0 records in a.jsonl have `socre`", "contradicted"),
    ("0 records in a.jsonl have `tag`", "contradicted"),
    ("0 records in a.jsonl have `gone`", "contradicted"),
    ("none of the records in a.jsonl have meta.tag = b", "holds"),
    ("none of the last 2 records in a.jsonl have score = 0", "holds"),
    ("`meta.tag` is null in 5 of 10 records of a.jsonl", "holds"),
    ("meta.tag is missing in a.jsonl", "contradicted"),
    ("field Y is missing in a.jsonl", "contradicted"),
    ("5 records in a.jsonl lack meta.tag = 0", "holds"),
    ("`description` is missing in package.json", "holds"),
    ("`license` is missing in package.json", "contradicted"),
    ("no rows in a.csv have email", "contradicted"),
    ("email is missing in 2 of 3 rows of a.csv", "holds"),
    ("0 records in bad.jsonl have `x`", "insufficient"),
    ("0 records in none.jsonl have `x`", "insufficient"),
    ("0 records in gone.jsonl have `x`", "insufficient"),
    ("0 records have X", "not-probeable"),
    ("12.5% have latency = 0", "not-probeable"),
]


@pytest.mark.parametrize(("text", "outcome"), COUNTS, ids=[row[0] for row in COUNTS])
def test_the_field_is_probed_before_a_count_is_believed(text: str, outcome: str, data: Path) -> None:
    result = one(text, data)
    assert (result.gate, result.outcome) == (COUNT, outcome), result


def test_a_field_that_never_occurs_is_told_with_the_nearest_one(data: Path) -> None:
    drift = one("0 records in a.jsonl have `socre`", data)
    assert "the count proves nothing" in drift.reason
    assert "nearest: score" in drift.saw
    assert "nearest: meta.tag" in one("0 records in a.jsonl have `tag`", data).saw


def test_a_wrong_count_is_told_with_the_real_one(data: Path) -> None:
    assert "8 of 10" in one("7 records in a.jsonl have score = 0", data).reason
    assert "80% (8 of 10)" in one("75% of records in a.jsonl have score = 0", data).reason


def test_hints_say_where_for_a_count_that_does_not(data: Path) -> None:
    assert one("80% have score = 0", data, file="a.jsonl").holds is True
    assert one("0 records have `tag` = b", data, file="a.jsonl", field="meta.tag").holds is True
    assert one("0 records have `tag` = a", data, file="a.jsonl", field="meta.tag").holds is False


def test_all_gates_must_hold_and_a_contradiction_outranks_an_unknown(data: Path) -> None:
    def verdict(text: str) -> tuple[str, int]:
        report = run_claim(text, root=data)
        return report.verdict, report.exit_code

    assert verdict("all is well") == ("nothing-to-gate", 0)
    assert verdict("config.yaml exists. `unheard_of` does not exist.") == ("holds", 0)
    assert verdict("config.yaml exists. The redis service is down.") == ("not-probeable", 4)
    assert verdict("The redis service is down. gone.yaml exists.") == ("contradicted", 3)
    assert verdict("The redis service is down. `legacy` does not exist.") == ("insufficient", 3)


def test_a_text_of_too_many_claims_or_letters_is_not_passed(root: Path) -> None:
    many = run_claim("config.yaml exists. " * (MOST_TRIGGERS + 5), root=root)
    assert (len(many.gates), many.verdict) == (MOST_TRIGGERS + 1, "not-probeable")
    assert run_claim("x" * (LONGEST_TEXT + 1), root=root).verdict == "not-probeable"


def test_what_was_claimed_and_overridden_is_kept(root: Path, state: str) -> None:
    first = run_claim("gone.yaml exists", root=root)
    claims.record(state, first, actor="agent", now=1.0, wait=1, goal="G1", override="it is made by the release job")
    claims.record(state, run_claim("config.yaml exists", root=root), actor="user", now=2.0, wait=1, goal="G2")
    assert [(row["kind"], row["actor"], row["goal"]) for row in claims.recorded(state)] == [
        ("claim", "agent", "G1"),
        ("claim", "user", "G2"),
    ]
    (overridden,) = claims.recorded(state, overridden=True)
    assert (overridden["override"], overridden["verdict"]) == ("it is made by the release job", "contradicted")
    assert claims.recorded(state, goal="G2", overridden=True) == []


def test_an_override_takes_a_reason() -> None:
    assert claims.checked_override(None) is None
    assert claims.checked_override("  long enough  ") == "long enough"
    for short in ("", "no", "         x"):
        with pytest.raises(BadInput, match="explains nothing"):
            claims.checked_override(short)


PIECES = st.sampled_from(
    [
        *("config.yaml", "`x`", '"', "'", "`", "contains", "does not exist", "there is no", "is down", "a.jsonl"),
        *("0 records", "have", "in", "80%", "=", "0", "\n", ". ", "port 99999", "\ue000", "\udc80", "../..", "\0", "~"),
        *("/", "was written", "is missing", "according to", "no such file", "not", "of", "the", "last 3", "because"),
    ]
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map(" ".join)))
def test_any_text_gets_a_report(root: Path, text: str) -> None:
    assert all(one.words and one.gate in (FILE, SEARCH, INFRA, COUNT) for one in triggers(text))
    report = run_claim(text, root=root, limits=Limits(network_seconds=0.01))
    assert isinstance(report, ClaimReport)
    assert report.exit_code in (0, 3, 4)
    json.dumps(report.data()).encode()


@pytest.mark.parametrize(
    "unit",
    [
        *("a", " ", "\n", '"', "'", "`", "```", ".", "/", "a.", "a/", "a b ", "no ", "no a b c ", "is ", "0 ", "1 of "),
        *("config.yaml ", "contains ", "does not exist ", "there is no x ", "`x` ", "http://a ", "a:1 ", "80% ", "in "),
        *("according to a.py `x` ", "wrote a.py ", "localhost:1 is down ", "`x` is defined in a.py ", "a.py has `x` "),
        *("x is missing in a.jsonl ", "0 records have x ", "http://a returns 200 ", "(", ", ", "- ", "if ", "x_y "),
    ],
)
def test_a_long_text_is_read_in_bounded_time(unit: str) -> None:
    started = time.process_time()
    triggers((unit * LONGEST_TEXT)[:LONGEST_TEXT])
    assert time.process_time() - started < 2
