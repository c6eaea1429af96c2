"""Verification gates: pinned commands and what they said. A fold of the session's ledger; nothing is kept twice."""

from __future__ import annotations

import os

from omo.errors import BadInput, Refused, Unreadable
from omo.proof.typed_commands import LONGEST_COMMAND, LONGEST_NAME, NAME_LETTERS, command_id, typed
from omo.state import ledger, ownership, paths, runtime, store
from omo.state.rows import EMPTY
from omo.text import clip
from omo.work import requests, session
from omo.work.outcome import PROVEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from omo.proof.base import Look
    from omo.proof.project_checks import Check
    from omo.state.ledger import Chain
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Base, SessionRow
    from omo.work.citations import PinnedCommand
    from omo.work.run import Caller


SHORTEST_REASON = 10
DEFAULT_TIMEOUT = 600.0
KNOWN_FAILURES = "known failures"
PINNING = ("gate-added", "gate-removed")
OF_THE_PROJECT = (*PINNING, "test-allowed", "test-passed")  # what counts in every conversation
# What gates are folded from, beside the end of other work. Most rows of a ledger are none of these.
OF_A_RUN = ("activated", "rearmed", "asked", "done", "repaired")
KINDS = frozenset((*OF_A_RUN, *OF_THE_PROJECT, "change-allowed", "gate-ran", "gate-recorded", "gate-allowed"))


class GateRun:
    """What a gate said in one run. `row` is how the ledger has it, with all that its runner printed."""

    def __init__(self, row: SessionEvent) -> None:
        self.row = row
        self.gate = str(row.get("command") or row.get("name"))  # a command is the same gate under any name
        self.result = str(row["result"])  # pass, fail or unknown
        self.why = str(row.get("why") or "")  # it is unknown
        self.exit = row.get("exit")
        self.seconds = row.get("seconds")
        self.timed_out = bool(row.get("timed_out"))
        self.names_are_whole = bool(row.get("names_are_whole"))
        self.tail = str(row.get("tail") or "")
        self.tree = str(row.get("tree") or "")  # the files it ran on
        self.changed: dict[str, str] | None = row.get("changed")  # of these, since the run began; None: nobody can tell
        self.left_out = row.get("left_out") or []  # files that it wrote itself
        self.is_agents = bool(row.get("is_agents"))  # of a command that neither the user nor the project has named
        self.moved = row.get("moved") or []  # files that somebody changed meanwhile
        self.env = str(row.get("env") or "")
        self.program = str(row.get("program") or "")

    @property
    def passed(self) -> bool:
        return self.result == "pass"

    @property
    def failed(self) -> bool:
        return self.result == "fail"


class Gate:
    """One pinned command, and what it said in the current run, oldest first."""

    def __init__(self, row: SessionEvent) -> None:
        self.name = row["name"]
        self.argv = row["argv"]
        self.cwd = row["cwd"]
        self.command = command_id(self.argv, self.cwd)
        self.by = row["by"]
        self.timeout = row["timeout"]
        self.program = row.get("program")  # what argv[0] stood for when it was pinned
        self.sealed = row.get("sealed") or []  # globs of files it rests on beside those that omo knows
        self.gave_way = bool(row.get("gave_way"))  # the command before it, which did not get to the project's tests
        self.results: list[GateRun] = []
        self.recorded: SessionEvent | None = None
        self.allowed: SessionEvent | None = None
        self.at_end: GateRun | None = None  # what the run ended on
        self.is_proven = False  # the run ended so: what this gate failed by then, the user had allowed

    @property
    def is_users(self) -> bool:
        return self.by == "user"

    @property
    def last(self) -> GateRun | None:
        """What counts: what the run has ended on, until it is run again."""
        return self.at_end or (self.results[-1] if self.results else None)

    @property
    def status(self) -> str:
        if self.allowed:
            return "allowed by the user"
        if self.recorded:
            return "recorded"
        if self.last is None:
            return "not run"
        if self.has_known_failures:
            return KNOWN_FAILURES
        return self.last.result

    @property
    def is_closed(self) -> bool:
        is_passing = (self.last is not None and self.last.passed) or self.has_known_failures
        return is_passing or self.recorded is not None or self.allowed is not None

    @property
    def has_known_failures(self) -> bool:
        return self.is_proven and self.at_end is not None and self.at_end.failed

    @property
    def has_failed(self) -> bool:
        return self.last is not None and (self.last.failed or self.last.timed_out)

    @property
    def has_passed(self) -> bool:
        return any(ran.passed for ran in self.results)

    def result_on(self, tree: str, env: str) -> GateRun | None:
        """What it said last of exactly these files, with these variables."""
        for ran in reversed(self.results):
            if ran.tree == tree and ran.env == env:
                return ran
        return None


class Gates:
    """What is pinned in a session, and what the current run knows of it."""

    def __init__(self) -> None:
        self.by_name: dict[str, Gate] = {}
        self.ran: list[GateRun] = []  # every result of the run, oldest first, also of gates that are gone
        self.dropped: list[tuple[Gate, str]] = []  # those that had failed when somebody removed or replaced them
        self.repairs: list[SessionEvent] = []  # of the session's ledger, in the run
        self.base: Base | None = None
        self.began_at = ""  # the run, whoever armed it again since
        self.left: Base | None = None  # with which work began before it that nobody called done
        self.allowed_changes: dict[str, str] = {}  # of files, or FILE::TEST, by the digest that the user saw
        # Tests that may fail as without the work, or be gone, until each passes once; by name, where they have failed.
        self.allowed_tests: dict[str, list[str]] = {}
        self.documents: set[str] = set()  # that the user named as what to do

    def __iter__(self) -> Iterator[Gate]:
        return iter(self.by_name.values())

    def __len__(self) -> int:
        return len(self.by_name)

    def get(self, name: str) -> Gate | None:
        return self.by_name.get(name)

    @property
    def left_out(self) -> list[str]:
        """Files that the gates' own runs have written, by which no result is another."""
        written: list[str] = []
        for gate in self:
            for ran in gate.results:
                written += ran.left_out
        return written

    @property
    def written_by_owned(self) -> list[str]:
        """Those of gates that the user or the project has named: no part of the work."""
        written: list[str] = []
        for gate in self:
            for ran in gate.results:
                written += [] if ran.is_agents else ran.left_out
        return written

    def known(self, name: str) -> Gate:
        if name not in self.by_name:
            named = ", ".join(self.by_name) or "none yet"
            raise BadInput(f"there is no gate {clip(name, LONGEST_NAME)!r}", fix=f"there are: {named}")
        return self.by_name[name]

    def select(self, name: str | None) -> list[Gate]:
        if name is not None:
            return [self.known(name)]
        if not self.by_name:
            raise Refused("no gate is pinned", fix="omo gate add NAME -- COMMAND")
        return list(self.by_name.values())

    def project_tests(self, root: str, state: str, here: str, whole: Look) -> list[Check]:
        """The project's own tests that stand beside a proof of the run, called done in `here`."""
        from omo.proof import kept_commands, own_commands

        changed = whole.without(self.left_out).changed or ()
        return kept_commands.answered(state, own_commands.test_gates(root, self.base or {}, changed, here))


def fold(rows: list[SessionEvent], run: str | None) -> Gates:
    """Gates and what is known of them. Results of an earlier run do not count in this one."""
    gates = Gates()
    apply(gates, rows, run)
    return gates


def apply(gates: Gates, rows: Iterable[SessionEvent], run: str | None) -> None:
    """Bring the gates up to later rows."""
    for row in rows:
        kind = str(row.get("kind"))
        if "documents" in row:
            gates.documents.update(document["path"] for document in requests.documents_of(row))
        if kind not in KINDS and not runtime.has_ended(row):
            continue
        name = str(row.get("name"))
        if kind == "gate-added":
            _add(gates, name, Gate(row))
        elif kind == "gate-removed":
            _remove(gates, name, row)
        elif kind == "change-allowed" and row.get("actor") == "user" and (run is None or row.get("run") in (None, run)):
            gates.allowed_changes[str(row.get("path"))] = str(row.get("digest"))
        elif kind == "test-allowed" and row.get("actor") == "user":
            gates.allowed_tests[str(row.get("test"))] = row.get("commands") or []
        elif kind == "test-passed":
            gates.allowed_tests.pop(str(row.get("test")), None)
        elif row.get("run") != run or kind == "asked":
            _note_other_work(gates, row)
        else:
            _note(gates, row, gates.get(name))


def _add(gates: Gates, name: str, gate: Gate) -> None:
    before = gates.get(name)
    gates.by_name[name] = gate
    if before is None:
        return
    if before.command == gate.command:
        # Under a new owner or time limit it keeps what it said; another command begins anew.
        gate.results, gate.recorded, gate.allowed = before.results, before.recorded, before.allowed
    elif before.has_failed and not gate.is_users and not gate.gave_way:
        gates.dropped.append((before, gate.by))
    if not gate.is_users:
        gate.sealed = sorted({*gate.sealed, *before.sealed})  # only the user takes that back


def _remove(gates: Gates, name: str, row: SessionEvent) -> None:
    gone = gates.get(name)
    if gone is None or ("elsewhere" in row and not gone.is_users):
        return  # another conversation's gate of that name was none of the agent's here
    del gates.by_name[name]
    if gone.has_failed:
        gates.dropped.append((gone, str(row.get("actor"))))


def _note_other_work(gates: Gates, row: SessionEvent) -> None:
    """What was begun or asked for before the current run, until somebody calls it done."""
    if row.get("kind") == "done" or runtime.has_ended(row):
        gates.left = None
    elif row.get("kind") in ("activated", "asked") and gates.base is None and isinstance(row.get("base"), dict):
        gates.left = gates.left or row["base"]


def _note(gates: Gates, row: SessionEvent, gate: Gate | None) -> None:
    """A row of the current run."""
    kind = row.get("kind")
    if kind in ("activated", "rearmed") and isinstance(row.get("base"), dict):
        gates.base, gates.began_at = row["base"], str(row.get("ts") or "")
    elif kind == "repaired":
        gates.repairs.append(row)
    elif kind == "gate-ran":
        ran = GateRun(row)
        gates.ran.append(ran)
        if gate is not None and row.get("command", gate.command) == gate.command:
            gate.results.append(ran)
            gate.at_end = None
            if ran.passed:
                gate.recorded = None
    elif kind == "gate-recorded" and gate is not None:
        gate.recorded = row
    elif kind == "gate-allowed" and gate is not None:
        gate.allowed = row
    elif kind == "done":
        is_proven = runtime.part(row, "outcome").get("verdict") == PROVEN
        for each in gates:
            if is_proven:
                each.recorded = None  # not needed: "honest: a failure of before, recorded, and the work proven"
            ended_on = [ran for ran in each.results if ran.tree == row.get("tree")]
            each.at_end = ended_on[-1] if ended_on else None
            each.is_proven = is_proven


def current(
    state: str, session_id: str, row: SessionRow | None, sessions: Mapping[str, SessionRow] | None = None
) -> Gates:
    """What is pinned for a session, by its own ledger and by the user in other conversations."""
    rows = ledger.rows(paths.events_file(state, session_id))
    return fold(with_project_pins(state, session_id, rows, sessions), session.run_of(row))


def of_caller(caller: Caller) -> Gates:
    """Return the same for a command, whose session's ledger was read already."""
    rows = with_project_pins(caller.state, caller.session, caller.events, caller.session_rows)
    return fold(rows, session.run_of(caller.session_rows.get(caller.session)))


def with_project_pins(
    state: str, session_id: str, rows: list[SessionEvent], sessions: Mapping[str, SessionRow] | None = None
) -> list[SessionEvent]:
    """The rows of a session and, where they belong by time, those by which the user pinned something or took it away in
    another conversation of the project. Such a row counts only in the whole part of the ledger of the session in which
    it was typed: a list of pins in a file of their own would be anybody's to write. `sessions` are the rows of the
    runtime file, where they were read already."""
    rows = ownership.believed(state, rows)
    if sessions is None:
        sessions = _sessions(state)
    elsewhere: list[SessionEvent] = []
    for name, row in sessions.items():
        if name == session_id or not row.get("pins"):
            continue
        for pin in runtime.whole_rows(state, name, row):
            is_users = pin.get("actor") == "user" or pin.get("kind") == "test-passed"
            if pin.get("kind") in OF_THE_PROJECT and is_users:
                elsewhere.append({**pin, "elsewhere": name})
    if not elsewhere:
        return rows
    from heapq import merge

    elsewhere.sort(key=_moment)
    return list(merge(elsewhere, rows, key=_moment))


def _sessions(state: str) -> Mapping[str, SessionRow]:
    """Return the rows of the runtime file; none if nobody can read it."""
    try:
        return runtime.sessions(state)
    except Unreadable:
        return {}


def _moment(row: SessionEvent) -> str:
    return str(row.get("ts"))


class FoundGates:
    """The checks that the project's files name, as they stood when the run began; without one, as committed.

    `unlike` are the project gates in the file as it is that were not in it then: whoever wrote them, it was not the
    user who began the run. `place` says which files were read.
    """

    def __init__(self, root: str, state: str, cwd: str, row: SessionRow | None, known: Gates) -> None:
        from omo.proof import git, kept_commands, project_checks, project_files

        head = (known.base or {}).get("head") if row and runtime.is_live(row) else None
        if head is None:
            head = git.run(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").text.strip() or None
        self.place = f"this project's files as of commit {head[:7]}" if head else "this project's files"
        files = project_files.files_at(root, head)
        self.checks: list[Check] = kept_commands.answered(state, project_checks.suggest(files, cwd))
        committed = {}
        if head:
            committed = {gate.name: gate.argv for gate in project_checks.project_gates(files)}
        self.unlike: list[str] = []
        for gate in project_checks.project_gates(project_files.DiskFiles(root)):
            if committed.get(gate.name) != gate.argv:
                self.unlike.append(gate.name)


def pin_line(check: Check, cwd: str) -> str:
    """What pins it for an agent whose session is in `cwd`."""
    elsewhere = [] if check.cwd == cwd else ["--cwd", check.cwd]
    return clip(typed(["omo", "gate", "add", *elsewhere, check.name, "--", *check.argv]), 200)


def pinned_commands(state: str, session_id: str) -> list[PinnedCommand]:
    """What may be run because it is pinned in a session."""
    return commands_of(fold(with_project_pins(state, session_id, runtime.vouched_rows(state, session_id)), None))


def commands_of(pinned: Gates) -> list[PinnedCommand]:
    from omo.work.citations import PinnedCommand

    return [PinnedCommand(gate.argv, gate.cwd, 0, gate.timeout) for gate in pinned]


class SessionGates:
    """The gates of a session for whoever changes them, the user or the agent (`by`): its row, the rows of its ledger
    and the gates in them.

    They are read once. A change is decided under the session's lock, and what it wrote is added to what is known. Only
    if somebody else wrote to the ledger meanwhile, all is read anew.
    """

    def __init__(self, state: str, session_id: str, by: str, now: float, wait: float = store.HOOK_WAIT) -> None:
        self.state = state
        self.session = session_id
        self.by = by
        self.now = now
        self.wait = wait
        self.row: SessionRow | None = None
        self.rows: list[SessionEvent] = []  # with the pins of the user's in other conversations
        self.known = Gates()
        self.chain: Chain | None = None
        self._elsewhere: dict[str, object] = {}

    def load(self) -> Chain:
        """Read it all, and return the ledger."""
        sessions = runtime.sessions(self.state)
        row = sessions.get(self.session)
        return self._take(row and runtime.caught_up(self.state, self.session, row), sessions)

    def is_as_read(self, row: SessionRow) -> bool:
        """Return whether nobody else has written here, or pinned something elsewhere, since it was read. `row` is the
        session's under its lock."""
        chain = runtime.read_chain(self.state, self.session, row)
        is_same = not chain.problems and self._is_read_to_the_end_of(row)
        return is_same and self._elsewhere == _pinned_elsewhere(runtime.sessions(self.state), self.session)

    def _take(self, row: SessionRow | None, sessions: Mapping[str, SessionRow]) -> Chain:
        self.row = row
        self.chain = runtime.read_chain(self.state, self.session, row or EMPTY)
        self.rows = [*with_project_pins(self.state, self.session, self.chain.rows, sessions)]
        self.known = fold(self.rows, session.run_of(row))
        self._elsewhere = _pinned_elsewhere(sessions, self.session)
        return self.chain

    def _is_read_to_the_end_of(self, row: SessionRow | None) -> bool:
        known, now = (self.row or EMPTY).get("ledger", {}), (row or EMPTY).get("ledger", {})
        is_same = (known.get("seq"), known.get("digest")) == (now.get("seq"), now.get("digest"))
        return self.chain is not None and is_same

    def add(
        self,
        name: str,
        argv: list[str],
        *,
        cwd: str,
        program: str | None,
        timeout: float | None = None,
        sealed: list[str] | None = None,
        gave_way: bool = False,
    ) -> Gate:
        """Pin a command: the gate as it now stands. What the user pinned, only the user may pin anew."""
        if not (0 < len(name) <= LONGEST_NAME and NAME_LETTERS.issuperset(name)):
            raise BadInput(f"gate name {name!r} is not usable", fix="use letters, digits, dot, dash and underscore")
        if not argv or not argv[0] or any("\0" in word for word in argv) or sum(map(len, argv)) > LONGEST_COMMAND:
            fix = "omo gate add NAME -- COMMAND ARGUMENTS…"
            raise BadInput(f"gate {name}: the command is empty or too long", fix=fix)
        event: SessionEvent = {"kind": "gate-added", "name": name, "argv": argv, "cwd": cwd, "by": self.by}
        event["program"] = program
        if gave_way:
            event["gave_way"] = True
        event["timeout"] = DEFAULT_TIMEOUT if timeout is None else timeout
        if sealed:
            from omo.proof.globs import normal

            try:  # "sealed: the folder that the user names with a slash behind it, its data bent"
                event["sealed"] = sealed = sorted(map(normal, sealed))
            except ValueError as error:
                raise BadInput(f"--sealed {error}", fix="for example --sealed 'gen/**'") from None
        wanted = Gate(event)

        def decide(gates: Gates) -> tuple[Gate, list[SessionEvent]]:
            pinned = gates.get(name)
            if pinned is None or (self.by == "user" and not pinned.is_users):
                return wanted, [event]
            has_same_seals = not sealed or set(sealed) <= set(pinned.sealed)
            if pinned.command == wanted.command and timeout in (None, pinned.timeout) and has_same_seals:
                return pinned, []
            if pinned.is_users and self.by != "user":
                raise Refused(
                    f"gate {name} was pinned by the user as: {in_words(pinned)}",
                    fix=f"choose another name, or ask the user to type: /omo:pin {name} -- COMMAND",
                )
            return wanted, [event]

        gate: Gate = self.change(decide)
        return gate

    def remove(self, name: str) -> None:
        """Each may take away their own, and the user whatever they like."""

        def decide(gates: Gates) -> tuple[None, list[SessionEvent]]:
            if gates.known(name).is_users and self.by != "user":
                raise Refused(f"gate {name} was pinned by the user", fix=f"ask the user to type: /omo:unpin {name}")
            return None, [{"kind": "gate-removed", "name": name}]

        self.change(decide)

    def allow(self, names: Sequence[str], root: str, *, of_other_work: bool = False) -> str:
        """Let gates through as they are, files that gates rest on be changed, one test in a file, FILE::TEST, no longer
        hold as it was, or tests fail or be gone: all of them or none. Return in words what it was. Work `of_other_work`
        may have begun before this run."""

        def decide(gates: Gates) -> tuple[str, list[SessionEvent]]:
            what: list[str] = []
            events: list[SessionEvent] = []
            for name in names:
                in_words, rows = self._allowance(gates, name, root, of_other_work=of_other_work)
                what.append(in_words)
                events += rows
            verb = "is" if len(what) == 1 else "are"
            return f"{' and '.join(what)} {verb} let through by you", events

        return str(self.change(decide))

    def _allowance(self, gates: Gates, name: str, root: str, *, of_other_work: bool) -> tuple[str, list[SessionEvent]]:
        """Return what one name lets through, in words, and its rows."""
        if gates.get(name) is not None:
            return f"gate {name}", [{"kind": "gate-allowed", "name": name}]
        file, _, test = name.partition("::")
        path = os.path.normpath(file)
        is_task = path in gates.documents  # also where git ignores it
        is_file = is_task or _is_file(root, path)
        changed = _changed_since_base(gates, root) if is_file and not (of_other_work or is_task) else None
        is_as_it_was = changed is not None and path not in changed
        rows: list[SessionEvent] = []
        has_run, commands = _seen(gates, self.state, name)
        if has_run:
            rows.append({"kind": "test-allowed", "test": name, "commands": commands})
            if is_as_it_was or not is_file:
                return f"{clip(name, 80)}, until it passes once,", rows
        if not is_file:
            raise BadInput(
                f"{clip(name, LONGEST_NAME)!r} is no gate, no file, and no test that omo has seen run",
                fix=f"gates: {', '.join(gates.by_name) or 'none'}; or name one file, or one test as FILE::TEST",
            )
        if is_as_it_was and not test:
            raise BadInput(
                f"{path} is as it was when the run began, and a change is let through as it is",
                fix="type it when the change is there: omo ulw done says whether it holds the work up",
            )
        from omo.proof import base

        digest = base.digest_of(root, path)
        if not test:
            return f"the change of {path}, as it is now,", [{"kind": "change-allowed", "path": path, "digest": digest}]
        or_fails = "fails, or no longer holds as it was," if rows else "no longer holds as it was"
        rows.append({"kind": "change-allowed", "path": f"{path}::{test}", "digest": digest})
        return f"that {clip(test, 80)} of {path} {or_fails}", rows

    def record_results(self, results: list[SessionEvent]) -> None:
        """What a batch of gates said, and whether it is progress. A gate of the user's that did not end in time is
        theirs to give more time."""

        def judged(gates: Gates, row: SessionRow) -> SessionRow:
            earlier, new = gates.ran[: -len(results)], gates.ran[-len(results) :]
            if any(_is_progress(earlier, ran) for ran in new):
                row = session.progress(row)
            for ran in new:
                gate = gates.get(ran.row["name"])
                if gate is not None and gate.is_users and ran.timed_out:
                    why = f"gate {gate.name}, which you pinned, did not end within {gate.timeout:g} s"
                    return session.suspend(row, why=why, question=f"More time: {more_time(gate)}")
            return row

        def decide(gates: Gates) -> tuple[None, list[SessionEvent]]:
            events: list[SessionEvent] = []
            for result in results:
                events.append({"kind": "gate-ran", **result})
                events += [{"kind": "test-passed", "test": test} for test in _passing_again(gates, result)]
            return None, events

        self.change(decide, after=judged)

    def change(
        self,
        decide: Callable[[Gates], tuple[Any, list[SessionEvent]]],
        after: Callable[[Gates, SessionRow], SessionRow] | None = None,
    ) -> Any:
        """Decide on the gates under the session's lock. `after` may change the row that goes with it."""
        change = runtime.Change(None)

        def carry_out(row: SessionRow | None) -> runtime.Change:
            nonlocal change
            if not self._is_read_to_the_end_of(row):
                self._take(row, _sessions(self.state))
            run = session.run_of(row)
            answer, events = decide(self.known)
            change = runtime.Change(answer)
            if not events:
                return change
            stamped: list[SessionEvent] = [{**event, "run": run, "actor": self.by} for event in events]
            now_known = fold(self.rows + stamped, run)
            failing = [gate.name for gate in now_known if not gate.is_closed and gate.last is not None]
            not_run = [gate.name for gate in now_known if not gate.is_closed and gate.last is None]
            changed = session.with_gates(row or EMPTY, failing=failing, not_run=not_run, total=len(now_known))
            if any(event["kind"] in OF_THE_PROJECT for event in events) and self.by == "user":
                changed["pins"] = True
            if after is not None:
                changed = after(now_known, changed)
            change = runtime.Change(answer, changed, stamped)
            return change

        answer = runtime.change_session(
            self.state, self.session, carry_out, actor=self.by, now=self.now, wait=self.wait
        )
        if change.written:
            self.row = change.row
            self.rows += change.written
            apply(self.known, change.written, session.run_of(change.row))
        return answer


def _pinned_elsewhere(sessions: Mapping[str, SessionRow], session_id: str) -> dict[str, object]:
    """Return where the ledgers end in which the user pinned something in other conversations."""
    return {name: row.get("ledger") for name, row in sessions.items() if name != session_id and row.get("pins")}


def _passing_again(gates: Gates, result: SessionEvent) -> list[str]:
    """Return the tests that were allowed to fail or to be gone, and pass in this run. Where the runner does not name
    what passes, those pass that failed in this command before."""
    from omo.proof import gate_runs, test_names

    if not gates.allowed_tests or result["result"] not in ("pass", "fail"):
        return []
    run = gate_runs.run_of(result)
    if run.result == "fail" and (not run.names_are_whole or run.broke_before_tests):
        return []
    passing = []
    for test, commands in gates.allowed_tests.items():
        has_run = any(test_names.is_meant([test], name) for name in run.ran)
        if not run.ran:
            has_run = result["command"] in commands
        if has_run and not any(test_names.is_meant([test], name) for name in run.failing):
            passing.append(test)
    return passing


def _is_file(root: str, path: str) -> bool:
    """Return whether there is such a file in the project, or was one in a commit."""
    from omo.proof import git

    if path.startswith(("../", "/")):
        return False
    ever = ["log", "-1", "--format=", "--name-only", "--relative", "-z", "--", path]
    return os.path.isfile(os.path.join(root, path)) or path in git.run(root, *ever).lines


def _changed_since_base(gates: Gates, root: str) -> Mapping[str, str] | None:
    from omo.proof import base

    began: Base = gates.base or {}
    return base.look(root, began).changed if began and not began.get("unknown") else None


def _seen(gates: Gates, state: str, name: str) -> tuple[bool, list[str]]:
    """Return whether a test of this name has run, here or on other files, and the commands in which it has failed."""
    from omo.proof import gate_runs, test_names

    runs = gate_runs.runs_on_swapped_files(state)
    runs += [(gate.command, gate_runs.run_of(gate.last.row)) for gate in gates if gate.last is not None]
    has_run, commands = False, set()
    for command, run in runs:
        if any(test_names.is_meant([name], test) for test in run.failing):
            commands.add(command)
        has_run = has_run or any(test_names.is_meant([name], test) for test in run.ran)
    return has_run or bool(commands), sorted(commands)


def in_words(gate: Gate) -> str:
    """The command, and where and how long where that is not the usual."""
    words = clip(typed(gate.argv), 200)
    if gate.cwd != ".":
        words += f" (in {clip(gate.cwd, 80)})"
    if gate.timeout != DEFAULT_TIMEOUT:
        words += f" (within {gate.timeout:g} s)"
    if gate.sealed:
        words += f" (sealed: {clip(', '.join(gate.sealed), 120)})"
    return words


def whose(root: str, gate: Gate, began: Base | None) -> str:
    """In words. The project's own is one that its files named before the work, whoever has pinned it."""
    from omo.proof import own_commands
    from omo.work.status import BY_AGENT, BY_USER

    if gate.is_users:
        return BY_USER
    return own_commands.owner(root, (began or {}).get("head"), gate.argv, gate.cwd) or BY_AGENT


def more_time(gate: Gate) -> str:
    """The line that gives a gate three times as long."""
    minutes = max(1, round(3 * gate.timeout / 60))
    pin = "/omo:pin" if gate.is_users else "omo gate add"
    sealed = "".join(f"--sealed {typed([glob])} " for glob in gate.sealed)
    return f"{pin} --timeout {minutes}m {sealed}{gate.name} -- {clip(typed(gate.argv), LONGEST_COMMAND)}"


def _is_progress(earlier: Sequence[GateRun], new: GateRun) -> bool:
    """A gate newly passes on changed files: not on some on which it passed before, nor on some that have come back
    (A → B → A)."""
    if not new.passed or new.changed == {}:
        return False
    own = [ran for ran in earlier if ran.gate == new.gate]
    if own and own[-1].passed and own[-1].changed != {}:
        return False
    if any(ran.passed and ran.tree == new.tree for ran in own):
        return False
    trees = [ran.tree for ran in earlier]
    while trees and trees[-1] == new.tree:
        trees.pop()
    return new.tree not in trees
