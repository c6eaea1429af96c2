"""A budget, through the hooks: who sets it, what is counted, what the user is told, what happens when it is spent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omo.clock import stamp
from omo.hooks import main as hooks
from omo.views import session, statusline
from tests.project import SESSION, Answer, Project


class Record:
    """The client's transcript of the session, as far as it tells of tokens."""

    def __init__(self, project: Project, path: Path) -> None:
        self.project = project
        self.path = path
        self.number = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def row(self, **fields: Any) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(fields, separators=(",", ":")) + "\n")

    def call(self, *tokens: int, rows: int = 3, key: str = "") -> None:
        """One answer of the model: input, cache write, cache read, output; what it has written by then grows."""
        self.number += 1
        given, written, read, output = (*tokens, 0, 0, 0)[:4]
        for part in range(1, rows + 1):
            usage = {"input_tokens": given, "cache_creation_input_tokens": written, "cache_read_input_tokens": read}
            usage["output_tokens"] = output * part // rows
            message = {"id": key or f"msg_{self.path.stem}_{self.number}", "role": "assistant", "usage": usage}
            self.row(type="assistant", message=message, requestId="req_1", timestamp=stamp(self.project.now))

    def total(self, tokens: int) -> None:
        zero = {"outputTokens": 0, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0}
        self.row(type="cost-state", modelUsage={"a-model": {"inputTokens": tokens, **zero}})

    def agent(self, name: str) -> Record:
        return Record(self.project, self.path.with_suffix("") / "subagents" / f"agent-{name}.jsonl")


@pytest.fixture
def record(project: Project, tmp_path: Path) -> Record:
    return Record(project, tmp_path / "transcripts" / "s1.jsonl")


def prompt(record: Record, text: str) -> Answer:
    record.project.now += 1
    return record.project.prompt(text, transcript_path=str(record.path), env={"CLAUDECODE": "1"})


def stop(record: Record, *, after: float = 60, **fields: Any) -> Answer:
    record.project.now += after
    return record.project.stop(transcript_path=str(record.path), env={"CLAUDECODE": "1"}, **fields)


def start_agent(record: Record) -> Answer:
    fields: dict[str, Any] = {
        "tool_name": "Agent",
        "tool_input": {"prompt": "look"},
        "transcript_path": str(record.path),
    }
    return record.project.hook("pre-tool-use", **fields)


def denies(answer: Answer) -> bool:
    return bool(answer.json["hookSpecificOutput"]["permissionDecision"] == "deny")


def began_agent(record: Record, name: str = "a1", **fields: Any) -> None:
    record.project.hook("subagent-start", agent_id=name, agent_type="omo:explorer", **fields)


def spent(project: Project) -> Any:
    return project.row()["spent"].get("tokens")


# Who sets it


@pytest.mark.parametrize(
    ("typed", "ceilings"),
    [
        ("1.5m tokens", {"tokens": 1_500_000}),
        ("1.5 hours", {"minutes": 90}),
        ("1 agent", {"agents": 1}),
        ("2M tokens 90 min 20 agents", {"tokens": 2_000_000, "minutes": 90, "agents": 20}),
    ],
)
def test_the_user_types_it_and_reads_what_holds(record: Record, typed: str, ceilings: dict[str, float]) -> None:
    prompt(record, "ulw mend it")
    said = prompt(record, f"/omo:budget {typed}")
    assert said.blocks
    assert said.says_to_user("prompt-budget")
    assert {kind: record.project.row()["budget"].get(kind) for kind in ceilings} == ceilings


def test_what_makes_no_sense_is_refused_with_the_form_and_changes_nothing(record: Record) -> None:
    prompt(record, "/omo:budget 3 agents")
    for typed in ("2M", "0 tokens", "-5 min", "2.5 agents", "2M dollars", "90 min 5", "nan min", "１ x"):
        said = prompt(record, f"/omo:budget {typed}")
        assert said.says_to_user("typed-no-budget", text=repr(typed))
        assert said.says_to_user("budget-for-example")
        assert record.project.row()["budget"] == {"agents": 3, "by": "user"}


@pytest.mark.parametrize("over", ["done", "cancelled", "never begun"])
def test_after_a_run_nothing_of_the_next_ones_is_spent(record: Record, over: str) -> None:
    if over != "never begun":
        prompt(record, "ulw mend it")
        prompt(record, "/omo:budget 100 tokens")
        record.call(24)
    if over == "done":
        record.project.check("ulw", "done", "--because", "the section is there")
        assert stop(record).says_to_user("end-on-agents-word")
    elif over == "cancelled":
        prompt(record, "/omo:stop-continuation")
    assert prompt(record, "/omo:budget 8 tokens").situations == {"prompt-budget-of-next-run"}
    asked = prompt(record, "/omo:budget")
    assert asked.says_to_user("prompt-budget-of-next-run", ceilings="8 tokens")
    assert asked.says_to_user("budget-for-example")
    prompt(record, "ulw mend the rest")
    assert prompt(record, "/omo:budget").says_to_user("prompt-budget-spent", spent="0 of 8 tokens")


def test_without_one_there_is_none_and_nothing_is_read(record: Record) -> None:
    prompt(record, "ulw mend it")
    record.path.unlink()
    assert stop(record).blocks
    asked = prompt(record, "/omo:budget")
    assert asked.says_to_user("prompt-budget", ceilings="none")
    assert asked.says_to_user("budget-for-example")


def test_it_is_of_the_settings_as_they_were_when_the_run_was_armed(record: Record) -> None:
    settings = record.project.root / ".sisyphus" / "omo.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{"budget_tokens": "1k", "budget_agents": 4}', "utf-8")
    assert prompt(record, "ulw mend").says_to_user("prompt-budget", ceilings="1k tokens, 4 agents")
    settings.write_text('{"budget_tokens": "9M"}', "utf-8")
    record.call(1500)
    assert stop(record).says_to_user("end-budget-spent", spent="1.5k of 1k tokens")


def test_an_agent_sets_none(record: Record) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 1k tokens")
    assert record.project.agent("budget", "9M tokens").code == 2  # there is no such command
    path = str(record.project.root / ".sisyphus" / "omo.json")
    assert record.project.tool_use("Write", file_path=path).says_to_user("tool-settings-are-the-users")
    denied = [event for event in record.project.events() if event["kind"] == "denied"]
    assert [event["gate"] for event in denied] == ["own-state"]
    record.call(1000)
    assert stop(record).says_to_user("end-budget-spent", spent="1k of 1k tokens")


def test_an_agents_shell_brings_none_into_the_run_that_it_starts(record: Record) -> None:
    record.project.omo("ulw", "start", env={"OMO_BUDGET_TOKENS": "9M"})
    record.project.now += 1
    record.call(50)
    answer = record.project.stop(transcript_path=str(record.path), env={"OMO_BUDGET_TOKENS": "40"})
    assert answer.says_to_user("end-budget-spent", spent="50 of 40 tokens")


# What is counted


def test_a_call_is_counted_once_with_the_most_that_its_rows_say_and_agents_with_it(record: Record) -> None:
    record.call(9_000_000)  # before the run
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 1M tokens")
    record.call(100, 20, 3000, 30)
    record.agent("a1").call(10, 0, 0, 5)
    record.agent("b2").call(7)
    stop(record)
    assert spent(record.project) == 3150 + 15 + 7
    record.call(1000, rows=1, key="msg_later")
    stop(record)
    record.call(1000, 0, 0, 60, rows=2, key="msg_later")  # its other rows come after the Stop
    record.agent("a1").call(2, rows=1, key="msg_a1_later")
    stop(record)
    assert spent(record.project) == 3172 + 1060 + 2


def test_what_was_counted_is_counted_again_where_it_was_lost_or_forged(record: Record) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 1M tokens")
    record.call(100)
    stop(record)
    (kept,) = Path(record.project.state).rglob("spending.json")
    for text in ('{"of": 1}', "no json", '{"of": [], "files": 3}'):
        kept.write_text(text, "utf-8")
        record.call(10)
        stop(record)
    kept.unlink()
    stop(record)
    assert spent(record.project) == 130


def test_a_compaction_is_counted_by_what_it_read_until_the_client_writes_its_sum(record: Record) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 1M tokens")
    record.call(1000)
    record.row(
        type="system",
        subtype="compact_boundary",
        compactMetadata={"preTokens": 900},
        timestamp=stamp(record.project.now),
    )
    stop(record)
    assert spent(record.project) == 1900
    record.total(1000 + 950 + 20)  # with a title that is in no row
    record.call(100)
    stop(record)
    assert spent(record.project) == 1970 + 100


@pytest.mark.parametrize("harm", ["gone", "cut", "no usage", "other rows"])
def test_what_cannot_be_counted_is_unknown_and_never_nothing(record: Record, harm: str) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 1M tokens")
    record.call(100)
    if harm != "other rows":
        assert stop(record).says_to_agent("prompt-budget", ceilings="100 of 1M tokens")
    if harm == "gone":
        record.path.unlink()
    elif harm == "cut":
        record.path.write_text("", "utf-8")
    elif harm == "no usage":
        record.row(type="assistant", message={"id": "msg_x"}, timestamp=stamp(record.project.now))
    else:
        record.path.write_text('{"kind":"answer","tokens":100}\n' * 200, "utf-8")
        stop(record)
    said = stop(record)
    assert said.says_to_user("end-budget-unknown", ceiling="1M tokens", again="/omo:budget 1M tokens")
    assert "0 of" not in said.message
    assert prompt(record, "/omo:budget 1M tokens").says_to_agent("prompt-budget-goes-on", work="ultrawork")


def test_it_goes_along_into_the_next_conversation(record: Record, tmp_path: Path) -> None:
    project = record.project
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 1k tokens")
    record.call(100)
    stop(record)
    record.call(50)  # and the client dies
    project.now += 3600
    there = Record(project, tmp_path / "transcripts" / "s2.jsonl")
    there.call(9000)  # said there before
    project.session = "the next"
    assert prompt(there, "/omo:resume").says_to_user("prompt-taken-up")
    there.call(500)
    assert stop(there).blocks
    assert spent(project) == 650
    assert project.row()["spent"]["seconds"] < 180  # and not the hour in which nothing ran
    there.call(400)
    assert stop(there).says_to_user("end-budget-spent", spent="1.05k of 1k tokens")


def test_what_the_conversation_before_spent_is_not_known_where_its_record_is_gone(
    record: Record, tmp_path: Path
) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 1k tokens")
    stop(record)
    record.path.unlink()
    record.project.now += 3600
    there = Record(record.project, tmp_path / "transcripts" / "s2.jsonl")
    record.project.session = "the next"
    prompt(there, "/omo:resume")
    there.call(5)
    assert stop(there).says_to_user("end-budget-unknown", ceiling="1k tokens")


# What the user is told


def test_the_marks_are_told_once_each_and_the_highest_alone(record: Record) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 1k tokens")
    stops = []
    for tokens in (490, 10, 100, 310, 80):
        record.call(tokens)
        stops.append(stop(record))
    assert [bool(answer.message) for answer in stops] == [False, True, False, True, False]
    assert stops[1].says_to_user("budget-mark", mark=50, spent="500 of 1k tokens")
    assert stops[3].says_to_user("budget-mark", mark=90, spent="910 of 1k tokens")


def test_it_is_in_status_status_line_and_explain(record: Record) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 1k tokens 30 min")
    record.call(610)
    record.project.now += 60
    (kept,) = Path(record.project.state).rglob("spending.json")
    before = kept.read_bytes()
    shown = record.project.omo("status", "--session", SESSION)
    spent_so_far = "610 of 1k tokens, 1 of 30 min"
    assert shown.says("status-budget", bar="██████░░░░", percent=61, spent=spent_so_far)
    explained = record.project.omo("explain", "stop", "--session", SESSION).out
    assert "budget" in explained
    view = session.session_view(record.project.state, SESSION, record.project.limits, record.project.now, {})
    assert "budget ██████░░░░ 61 %" in statusline.text(view)
    assert kept.read_bytes() == before, "a look writes nothing"


@pytest.mark.parametrize(("cost", "shown"), [({"total_cost_usd": 1.239}, " · $1.24 in this session\n"), ({}, "%\n")])
def test_money_is_shown_where_the_client_gives_a_figure(record: Record, cost: dict[str, float], shown: str) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 1M tokens")
    record.call(1)
    root = str(record.project.root)
    told = json.dumps({"session_id": SESSION, "cwd": root, "workspace": {"project_dir": root}, "cost": cost}).encode()
    line = hooks.answer("statusline", statusline.handle, told, {"NO_COLOR": "1"}, root, record.project.now).decode()
    assert "budget ░░░░░░░░░░ 0 %" in line
    assert line.endswith(shown)


def test_when_it_is_spent_the_run_ends_and_one_line_raises_it_and_goes_on(record: Record) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 1k tokens")
    run = record.project.summary("ulw")["run"]
    record.call(1200)
    said = stop(record)
    assert said.says_to_user("end-budget-spent", spent="1.2k of 1k tokens", more="/omo:budget 2k tokens")
    stop(record).assert_silent()
    status = record.project.omo("status", "--session", SESSION)
    assert status.says("status-let-go-by-budget", more="/omo:budget 2k tokens")
    assert prompt(record, "/omo:budget 1100 tokens").says_to_user("prompt-budget-too-small")
    goes_on = prompt(record, "/omo:budget 2k tokens")
    assert goes_on.says_to_agent("prompt-budget-goes-on", work="ultrawork")
    assert goes_on.says_to_user("prompt-budget-goes-on-told", spent="1.2k of 2k tokens")
    assert stop(record).blocks
    assert (record.project.summary("ulw")["run"], record.project.summary("ulw")["state"]) == (run, "active")


def test_a_new_run_counts_from_nothing_and_typing_ulw_again_does_not(record: Record) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 1k tokens")
    record.call(600)
    prompt(record, "ulw and the docs")
    stop(record)
    assert spent(record.project) == 600
    record.call(600)
    assert stop(record).says_to_user("end-budget-spent", spent="1.2k of 1k tokens")
    assert prompt(record, "ulw again").says_to_user("prompt-budget", ceilings="1k tokens")
    record.call(10)
    stop(record)
    assert spent(record.project) == 10
    assert prompt(record, "/omo:budget off").says_to_user("prompt-budget", ceilings="none")


# Minutes and agents


def test_minutes_are_those_in_which_turns_run(record: Record) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 10 min")
    stop(record, after=4 * 60)
    record.project.omo("ulw", "blocked", "--evidence", "there is no access to it", "--question", "may I?")
    stop(record, after=60)
    record.project.now += 5 * 3600  # nobody is there
    prompt(record, "yes, you may")
    assert stop(record, after=60).blocks
    assert stop(record, after=4 * 60).says_to_user("end-budget-spent", spent="10.1 of 10 min")


def test_after_an_error_of_the_server_nobodys_time_is_spent_until_the_next_message(record: Record) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 10 min")
    record.project.now += 4 * 60
    record.call(1)  # the last word: an overloaded server, and no Stop
    record.project.now += 3 * 3600
    prompt(record, "go on")
    stop(record, after=60)
    assert round(record.project.row()["spent"]["seconds"] / 60) == 5


def test_at_the_end_of_it_no_agent_is_started_and_several_at_once_are_counted(record: Record) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 4 agents")
    assert not any(start_agent(record).message for _ in range(4))  # none has started yet
    refused = start_agent(record)
    assert denies(refused)
    assert refused.says_to_user("tool-budget-spent", spent="4 of 4 agents", more="/omo:budget 8 agents")
    for name in ("a1", "a2", "a3"):
        began_agent(record, name)
    assert stop(record).says_to_user("budget-mark", mark=75, spent="3 of 4 agents")
    start_agent(record).assert_silent()  # one of the four was refused by the user, and never began
    began_agent(record, "a4")
    assert start_agent(record).says_to_user("tool-budget-spent", more="/omo:budget 8 agents")
    assert stop(record).says_to_user("end-budget-spent", spent="4 of 4 agents")


def test_tokens_that_are_spent_refuse_agents_in_the_middle_of_a_turn(record: Record) -> None:
    prompt(record, "ulw mend it")
    prompt(record, "/omo:budget 1k tokens")
    start_agent(record).assert_silent()
    record.agent("a1").call(760)
    assert start_agent(record).situations == {"budget-mark"}
    record.call(400)
    assert denies(start_agent(record))


def test_other_agents_are_none_of_its_business(record: Record) -> None:
    start_agent(record).assert_silent()
    began_agent(record)
    assert not Path(record.project.state).exists()
