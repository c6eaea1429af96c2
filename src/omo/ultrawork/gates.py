"""Verification gates: pinned commands and what they said. A fold of the session's ledger; nothing is kept twice."""

from __future__ import annotations

from omo.errors import BadInput, Refused
from omo.shown import clip
from omo.state import ledger, paths, runtime, store
from omo.state.journal import Journal
from omo.ultrawork import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

LONGEST_NAME = 60
LONGEST_COMMAND = 8000
SHORTEST_REASON = 10
ANY_ARGUMENTS = "..."  # as the last word of a pin: replays with any further arguments, and nothing to run as a gate
REPAIR = "look at what was changed, then, in a terminal of your own: omo gate add NAME --repair -- COMMAND"
NAME_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


class Gate:
    """One pinned command, and in the current run the last thing known of it."""

    __slots__ = ("argv", "by", "cwd", "last", "name", "pinned_tree", "recorded", "timeout")

    def __init__(self, row: Json) -> None:
        self.name: str = row["name"]
        self.argv: list[str] = row["argv"]
        self.cwd: str = row["cwd"]
        self.by: str = row["by"]
        self.timeout: float = row["timeout"]
        self.pinned_tree: str | None = row["tree"]
        self.last: Json | None = None
        self.recorded: Json | None = None

    @property
    def is_vacuous(self) -> bool:
        """It passes on the very tree it was pinned on: so far it has proven nothing about the work."""
        return bool(self.last and self.last["result"] == "pass" and self.last["tree"] == self.pinned_tree)

    @property
    def status(self) -> str:
        if self.recorded:
            return "recorded"
        if self.last is None:
            return "not run"
        return "pass, unchanged tree" if self.is_vacuous else str(self.last["result"])

    @property
    def is_closed(self) -> bool:
        return self.recorded is not None or (self.last is not None and self.last["result"] == "pass")

    def holds_on(self, tree: str) -> bool:
        return bool(self.recorded or (self.last and self.last["result"] == "pass" and self.last["tree"] == tree))


def fold(rows: list[Json], run: str | None) -> dict[str, Gate]:
    """Gates by name. Results of an earlier run do not count in this one."""
    gates: dict[str, Gate] = {}
    for row in rows:
        kind, name = row.get("kind"), row.get("name")
        if kind == "gate-added":
            gates[row["name"]] = Gate(row)
        elif name in gates and row.get("run") == run:
            if kind == "gate-ran":
                gates[name].last, gates[name].recorded = row, None
            elif kind == "gate-recorded":
                gates[name].recorded = row
    return gates


def current(state: str, session_id: str, row: Json | None) -> dict[str, Gate]:
    return fold(ledger.rows(paths.events_file(state, session_id)), run_of(row))


def run_of(row: Json | None) -> str | None:
    run = runtime.part(runtime.part(row or {}, "work"), session.KIND).get("run")
    return run if isinstance(run, str) else None


def add(
    state: str,
    session_id: str,
    name: str,
    argv: list[str],
    *,
    by: str,
    cwd: str,
    tree: str | None,
    now: float,
    timeout: float = 600.0,
    wait: float = store.HOOK_WAIT,
) -> None:
    """Pin a command. What the user pinned, only the user may pin anew, and may be replayed as evidence."""
    check_pin(name, argv)
    if is_replay_only(argv):
        _check_replay_only(argv, by, cwd)
    if by == "user" and cwd == ".":
        _allow_replay(state, session_id, name, argv, now=now, wait=wait)
    if is_replay_only(argv):
        return
    event = {"kind": "gate-added", "name": name, "argv": argv, "cwd": cwd, "by": by, "timeout": timeout, "tree": tree}

    def refuse_over_user(gates: dict[str, Gate]) -> None:
        if by != "user" and name in gates and gates[name].by == "user" and gates[name].argv != argv:
            raise Refused(
                f"gate {name} was pinned by the user as: {' '.join(gates[name].argv)}",
                fix="choose another name, or ask the user to type /omo:pin",
            )

    _append(state, session_id, [event], actor=by, now=now, wait=wait, check=refuse_over_user)


def is_replay_only(argv: list[str]) -> bool:
    return argv[-1] == ANY_ARGUMENTS


def _check_replay_only(argv: list[str], by: str, cwd: str) -> None:
    shown = clip(" ".join(argv), 200)
    if by != "user":
        raise Refused(
            f"{shown!r} allows replays with any arguments, which only the user can",
            fix=f"ask the user to type: /omo:pin NAME -- {shown}",
        )
    if len(argv) < 2 or cwd != ".":
        raise BadInput(
            f"{shown!r} in {cwd!r} cannot allow replays: name the program before ..., and no directory",
            fix="for example: /omo:pin cli -- ./mycli ...",
        )


def _allow_replay(state: str, session_id: str, name: str, argv: list[str], *, now: float, wait: float) -> None:
    """For the whole project. The newest pin under a name is the one that counts."""
    journal = Journal(paths.commands_dir(state), state)

    def decide(rows: list[Json]) -> tuple[None, list[Json]]:
        if problems := journal.problems():
            raise Refused(f"the ledger of replay commands was changed by hand: {problems[0]}", fix=REPAIR)
        last = [row for row in rows if row.get("name") == name and row.get("actor") == "user"][-1:]
        if last and last[0].get("argv") == argv:
            return None, []
        return None, [{"kind": "command-pinned", "name": name, "argv": argv, "session": session_id}]

    journal.change(decide, actor="user", now=now, wait=wait)


def record_results(state: str, session_id: str, results: list[Json], *, actor: str, now: float, wait: float) -> None:
    """What a batch of gates said. A gate that newly passes on a changed tree is progress and renews the budget."""
    _append(state, session_id, [{"kind": "gate-ran", **one} for one in results], actor=actor, now=now, wait=wait)


def record_pre_existing(
    state: str, session_id: str, name: str, evidence: str, *, actor: str, now: float, wait: float
) -> None:
    """A failure that was there before the work: documented instead of mended."""
    if len(evidence.strip()) < SHORTEST_REASON:
        raise BadInput(f"--evidence {evidence!r} is too short to show anything", fix="say what fails and how you know")

    def must_fail(gates: dict[str, Gate]) -> None:
        last = _known(gates, name).last
        if last is None or last["result"] != "fail":
            raise Refused(
                f"gate {name} has no failure to record: {gates[name].status}", fix=f"run it first: omo gate run {name}"
            )

    event = {"kind": "gate-recorded", "name": name, "how": "pre-existing", "evidence": evidence.strip()}
    _append(state, session_id, [event], actor=actor, now=now, wait=wait, check=must_fail)


def parse_pin(text: str) -> tuple[str, list[str]]:
    """`NAME -- COMMAND …` as a person types it."""
    import shlex

    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadInput(f"the command cannot be split into words: {error}", fix="close the quote") from None
    if len(words) < 3 or words[1] != "--":
        raise BadInput(f"{text.strip()!r} is not NAME -- COMMAND", fix="for example: /omo:pin tests -- pytest -q")
    return words[0], words[2:]


def check_pin(name: str, argv: list[str]) -> None:
    if not (0 < len(name) <= LONGEST_NAME and NAME_LETTERS.issuperset(name)):
        raise BadInput(f"gate name {name!r} is not usable", fix="use letters, digits, dot, dash and underscore")
    if not argv or not argv[0] or any("\0" in word for word in argv) or sum(map(len, argv)) > LONGEST_COMMAND:
        raise BadInput(f"gate {name}: the command is empty or too long", fix="omo gate add NAME -- COMMAND ARGUMENTS…")


def _known(gates: dict[str, Gate], name: str) -> Gate:
    if name not in gates:
        raise BadInput(f"there is no gate {name!r}", fix=f"there are: {', '.join(gates) or 'none yet; omo gate add'}")
    return gates[name]


def select(gates: dict[str, Gate], name: str | None) -> list[Gate]:
    if name is not None:
        return [_known(gates, name)]
    if not gates:
        raise Refused("no gate is pinned", fix="omo gate add NAME -- COMMAND")
    return list(gates.values())


def _append(
    state: str,
    session_id: str,
    events: list[Json],
    *,
    actor: str,
    now: float,
    wait: float,
    check: Any = None,
) -> None:
    def decide(row: Json | None) -> runtime.Change:
        run = run_of(row)
        rows = ledger.rows(paths.events_file(state, session_id))
        before = fold(rows, run)
        if check is not None:
            check(before)
        stamped = [{**event, "run": run} for event in events]
        after = fold(rows + stamped, run)
        changed = session.with_gates(
            row or {}, open_gates=[gate.name for gate in after.values() if not gate.is_closed], total=len(after)
        )
        if any(gate.status == "pass" and not _was_pass(before, gate.name) for gate in after.values()):
            changed = session.progress(changed)
        return runtime.Change(None, changed, stamped)

    runtime.change_session(state, session_id, decide, actor=actor, now=now, wait=wait)


def _was_pass(gates: dict[str, Gate], name: str) -> bool:
    return name in gates and gates[name].status == "pass"
