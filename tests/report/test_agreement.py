"""No two views disagree: status, the status line, `explain stop` and the Stop hook itself, on random states."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from omo import table
from omo.cli.main import main
from omo.clock import stamp
from omo.hooks import main as hook
from omo.hooks import prompt, stop
from omo.state import ledger, ownership, paths, runtime, store
from omo.stop import rules as stop_rules
from omo.stop import sentences
from omo.views import statusline
from omo.work import outcome
from tests import texts

NOW = 1_790_000_000.0
NAME = "s-1"
Row = dict[str, Any]

words = st.sampled_from(["", "G001 Log in", "tests, lint", "\x1b[31mred", "a" * 400, "omo gate run"])
verdicts = st.sampled_from(outcome.VERDICTS)
outcomes = st.builds(outcome.outcome, verdicts, st.sampled_from(["2 of 2 goals complete", "gates passed: tests"]))
states = st.sampled_from(["active", "active", "active", "waiting", "paused", "ended"])
ago = [0.0, 0.5, 2.9, 3.0, 60.0, 3600.0, 9 * 3600.0]


def some_of(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Row]:
    return st.fixed_dictionaries({}, optional=fields)


def rows_of(
    counts: st.SearchStrategy[Any], moments: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]
) -> st.SearchStrategy[Row]:
    """Sessions' rows; `odd` is what may stand in the place of an object."""
    limits = some_of(max_stop_blocks=counts, cooldown_seconds=counts, max_total_blocks=counts, max_hours=counts)
    ulw = st.fixed_dictionaries(
        {"enabled": st.sampled_from([True, True, True, False]) | odd},
        optional={
            "stopBlocks": counts,
            "totalBlocks": st.integers(0, 70) | counts,
            "shellExcuses": counts,
            "lastStopAt": moments,
            "armedAt": moments,
            "by": st.sampled_from(["user", "agent", "ultragoal", "laps"]),
            "limits": limits | odd,
            "unanswered": st.booleans(),
        },
    )
    work = st.fixed_dictionaries(
        {"state": states},
        optional={
            "open": counts,
            "total": counts,
            "next": words,
            "why": words,
            "question": words,
            "outcome": outcomes,
            "told": st.booleans(),
            "own": st.booleans(),
            "cleared": st.booleans(),
            "run": words,
            "fence": some_of(touch=st.just(["src/**"]), root=words) | odd,
        },
    )
    works = st.dictionaries(st.sampled_from(list(table.BY_KIND)), work | odd, max_size=3)
    budget = some_of(tokens=counts, minutes=counts, agents=counts, by=words)
    spent = some_of(tokens=counts, seconds=counts, agents=counts, told=counts, runningSince=moments, unknown=words)
    cancelled = some_of(disabled=st.booleans(), told=st.booleans(), disabledReason=words)
    return st.fixed_dictionaries(
        {"ulw": ulw | odd, "work": works | odd},
        optional={
            "stopContinuation": cancelled | odd,
            "budget": budget | odd,
            "spent": spent | odd,
            "lastUsedAt": moments,
            "denials": odd,
            "awaits": odd,
        },
    )


nothing: st.SearchStrategy[Any] = st.nothing()
sane = rows_of(st.integers(0, 12), st.sampled_from([stamp(NOW - one) for one in ago]), nothing)
nonsense: st.SearchStrategy[Any] = st.sampled_from([None, "x", -1, 2.5, True, [], {}, "2026-13-45T99:99:99Z"])
wild = rows_of(st.integers(0, 12) | nonsense, st.just(stamp(NOW + 5)) | nonsense, nonsense)
rows = st.one_of(sane, sane, sane, sane, wild)


@contextlib.contextmanager
def project(row: Row, ahead: Row | None) -> Iterator[str]:
    """A project with one session, and perhaps a ledger that a crash left ahead of its row."""
    with tempfile.TemporaryDirectory() as root:
        state = paths.state_dir(root, {})
        ownership.make_state_dir(state)
        mark: Row = {}
        if ahead is not None:
            store.make_dir(paths.session_dir(state, NAME), state)
            events = paths.events_file(state, NAME)
            _, head = ledger.append(events, [{"kind": "activated"}], actor="hook", now=NOW - 9, mark=None)
            mark = {"ledger": {"seq": head.seq, "digest": head.digest}}
            ledger.append(events, [{"kind": "resumed", "after": ahead}], actor="hook", now=NOW - 8, mark=mark["ledger"])
        text = runtime.render({"version": 4, "sessions": {NAME: {**row, **mark}}})
        store.replace(paths.runtime_file(state), text)
        yield root


def asked(root: str, environ: dict[str, str], *argv: str) -> Row:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main([*argv, "--json"], environ, root, NOW, has_terminal=True) == 0
    found: Row = json.loads(out.getvalue())
    return found


def sent(root: str, environ: dict[str, str], name: str, **fields: object) -> str:
    raw = json.dumps({"session_id": NAME, "cwd": root, **fields}).encode()
    stop_at_once = functools.partial(stop.handle, wait=lambda seconds: None)
    handlers: dict[str, hook.Handler] = {
        "stop": stop_at_once,
        "statusline": statusline.handle,
        "user-prompt-submit": prompt.handle,
    }
    return hook.answer(name, handlers[name], raw, environ, root, NOW).decode()


def rules(state: str) -> list[str]:
    path = paths.events_file(state, NAME)
    return [str(row["rule"]) for row in ledger.rows(path) if row["kind"] in ("blocked", "allowed")]


blocked_now = {"ulw": {"enabled": True, "lastStopAt": stamp(NOW)}, "work": {}}
blocked_in_the_future = {"ulw": {"enabled": True, "lastStopAt": stamp(NOW + 5)}, "work": {}}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(row=blocked_now, ahead=blocked_in_the_future, disabled=False)
@given(row=rows, ahead=st.none() | rows, disabled=st.sampled_from([False] * 19 + [True]))
def test_every_view_says_what_the_stop_hook_then_does(row: Row, ahead: Row | None, disabled: bool) -> None:
    environ = {"NO_COLOR": "1", **({"OMO_DISABLE": "1"} if disabled else {})}
    with project(row, ahead) as root:
        before = Path(paths.runtime_file(paths.state_dir(root, {}))).read_bytes()
        told = asked(root, environ, "explain", "stop", "--session", NAME)
        (seen,) = asked(root, environ, "status", "--session", NAME)["sessions"]
        line = sent(root, environ, "statusline") if not disabled else ""
        assert Path(paths.runtime_file(paths.state_dir(root, {}))).read_bytes() == before, "a view wrote"
        answer = sent(root, environ, "stop", hook_event_name="Stop")
        done = "block" if '"decision"' in answer else "allow"
        assert not os.path.exists(paths.log_file(paths.state_dir(root, {}))), "a hook failed, and let go for that alone"

        event(told["rule"])
        if told["rule"] == "cooldown":  # over in seconds, and what is shown stays: only `explain` tells of it
            assert (done, rules(paths.state_dir(root, {}))[-1:]) == ("allow", ["cooldown"])
            return
        assert (seen["nextStop"]["decision"], seen["nextStop"]["rule"]) == (told["decision"], told["rule"])
        assert done == told["decision"]
        if decided := rules(paths.state_dir(root, {})):
            assert decided[-1] == told["rule"]
        agree_on_the_line(line.strip(), seen, told["rule"])
        if told["rule"] == "done":
            agree_on_the_proof(line, json.loads(answer or "{}").get("systemMessage", ""), seen)
        if done == "block":
            agree_on_the_counts(json.loads(answer)["reason"], line, seen)


def agree_on_the_line(line: str, seen: Row, rule: str) -> None:
    if stop_rules.BY_NAME[rule].turn == stop_rules.OFF:
        assert "next stop" not in line
        assert bool(line) == (seen["fenced"] and rule != "switched-off")
        return
    assert line.startswith("omo ")
    assert ("next stop lets go" in line) == (rule != "block")


def agree_on_the_proof(line: str, message: str, seen: Row) -> None:
    """What the line calls done without a proof, the message does not call done, nor the other way round."""
    kind, *_ = line.removeprefix("omo ").split()
    is_proven = " done, " in line
    event(f"proven: {is_proven}, told: {bool(message)}")
    if all(one["kind"] == kind for one in seen["work"]) and message:
        assert (sentences.EVIDENCE in message) is is_proven
        assert message.startswith(("omo: done, proven: ", "omo: done, judged: ")) is is_proven


def agree_on_the_counts(reason: str, line: str, seen: Row) -> None:
    used, most = seen["breakers"]["blocks"]["used"], seen["breakers"]["blocks"]["of"]
    assert f"Block {used + 1} of {most}." in reason
    if used:
        assert f"block {used} of {most}" in line
    active = [one for one in seen["work"] if one["state"] == "active"]
    assert line.startswith(f"omo {active[0]['kind']}")


@pytest.mark.parametrize("again", ["ulw b", "omo ulw start"])
def test_gates_that_outlive_a_cancel_are_counted_alike_by_all(tmp_path: Path, again: str) -> None:
    root, environ = str(tmp_path), {"NO_COLOR": "1"}
    (tmp_path / ".git").mkdir()
    for typed in ("ulw a", "/omo:pin check -- true", "/omo:stop-continuation"):
        sent(root, environ, "user-prompt-submit", hook_event_name="UserPromptSubmit", prompt=typed)
    if again == "ulw b":
        sent(root, environ, "user-prompt-submit", hook_event_name="UserPromptSubmit", prompt=again)
    else:
        asked(root, environ, "ulw", "start", "--session", NAME)
    (seen,) = asked(root, environ, "status")["sessions"]
    assert [(one["done"], one["total"]) for one in seen["work"]] == [(0, 1)]
    assert sent(root, environ, "statusline").strip().split(" · ")[0] == "omo ulw 0/1"
    reason = json.loads(sent(root, environ, "stop", hook_event_name="Stop"))["reason"]
    said = "stop-gates-open" if again == "ulw b" else "stop-gates-open-not-looked-at"
    assert texts.says(reason, said, left=1, total=1)


def forged(root: str) -> None:
    read = runtime.read(paths.state_dir(root, {}))
    ended_as = outcome.outcome(outcome.PROVEN, "gates passed: check")
    end = {"state": "ended", "outcome": ended_as, "total": 4, "told": False}
    read["sessions"][NAME]["work"] = {"ulw": end}
    store.replace(paths.runtime_file(paths.state_dir(root, {})), runtime.render(read))


def test_an_end_that_the_ledger_does_not_know_is_proven_by_no_view(tmp_path: Path) -> None:
    root, environ = str(tmp_path), {"NO_COLOR": "1"}
    (tmp_path / ".git").mkdir()
    sent(root, environ, "user-prompt-submit", hook_event_name="UserPromptSubmit", prompt="ulw a")
    forged(root)
    assert sent(root, environ, "statusline") == "omo ulw 4/4 ended, not proven · next stop lets go\n"
    problem = "the state says that ultrawork is done, and the session's ledger does not"
    for _ in range(2):
        assert problem in json.dumps(asked(root, environ, "status", "--session", NAME))
        with contextlib.redirect_stdout(io.StringIO()):
            assert main(["ledger", "verify", "--session", NAME], environ, root, NOW) == 3
        assert "done, proven" not in sent(root, environ, "stop", hook_event_name="Stop")


@pytest.mark.parametrize("what", ["state", "ledger"])
def test_what_nobody_can_read_lets_go_and_is_said_by_all(what: str) -> None:
    row = {"ulw": {"enabled": True}, "work": {"ulw": {"state": "active"}}}
    environ = {"NO_COLOR": "1"}
    with project(row, None) as root:
        state = paths.state_dir(root, {})
        if what == "state":
            Path(paths.runtime_file(state)).write_text("{ not JSON", encoding="utf-8")
        else:
            os.makedirs(paths.events_file(state, NAME))
        assert asked(root, environ, "explain", "stop", "--session", NAME)["rule"] == "unreadable-state"
        assert texts.situations(sent(root, environ, "statusline")) == {"statusline-unreadable"}
        assert '"decision"' not in sent(root, environ, "stop", hook_event_name="Stop")
