"""What the user types as /omo:status, /omo:report, /omo:pin, /omo:unpin, /omo:allow and /omo:budget: answered by the
prompt hook, without the model unless work goes on with it. What they ask of a workflow is kept as they typed it.
"""

from __future__ import annotations

import os
import sys

from omo import hosts, safe_open, settings, table, variables
from omo.digest import sha256
from omo.errors import BadInput, OmoError
from omo.hooks import messages, named_documents
from omo.hosts import Answer
from omo.proof import kept_commands, typed_commands
from omo.state import ledger, paths, runtime
from omo.state.rows import EMPTY
from omo.stop import sentences
from omo.text import block, clip
from omo.work import bound, budget, gates, requests, session, spending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from omo.hooks.main import World
    from omo.hosts import Event
    from omo.proof.project_checks import Check
    from omo.state.ledger_rows import NamedFile, SessionEvent
    from omo.state.rows import SessionRow


LONGEST_REQUEST = 8000
LARGEST_NAMED = 1_000_000
LONGEST_NAMED = 8000  # characters of a named file that are kept for those who judge the end
MOST_NAMED = 5
LOOKS = ("status", "report")
HOSTS_OWN = (*LOOKS, "resume")
LONGEST_LOOK = 7.0  # seconds: hooks.json lets the hook run for ten
LONGEST_FIND = 2.0
LONGEST_VIEW = 9000  # the host cuts what is longer than 10,000 characters
PREPARING = "its Python environment is being prepared (once): type this again in half a minute."
COLUMNS = "70"  # what the client has room for in a terminal of 80
START = """import sys
*path, name = sys.argv[1:]
sys.path += path
sys.argv = ["omo", name]
from omo.cli import console
console()
"""


def answer(event: Event, world: World, *, is_agents: bool) -> Answer | None:
    """None where the prompt is no such command. An agent may type those that only look, and none in the user's name."""
    name = command_of(event.prompt)
    if name is None:
        return None
    if is_agents and name not in LOOKS:
        return Answer(hosts.END_PROMPT, messages.AN_AGENTS_CLIENT)
    try:
        if name in TAKE_PLACE:
            world.take_place()
        said = COMMANDS[name](event, world, "".join(event.prompt.split(maxsplit=1)[1:]))
    except OmoError as error:
        said = f"/omo:{name} did nothing: {error.message}"
        if error.fix:
            said += f"; {error.fix}"
    return Answer(hosts.END_PROMPT, f"omo: {said}") if isinstance(said, str) else said


def request(event: Event, world: World, name: str) -> SessionEvent:
    """What the user asks of a workflow, with each file that they name as it is now, before anybody can change it. A
    workflow that keeps a base begins here, and not when the agent gets round to its first command, with a Makefile
    committed in between."""
    rest = "".join(event.prompt.split(maxsplit=1)[1:]).strip()
    if not rest:
        return {"kind": "typed", "workflow": name, "variables": variables.marks(world.environ)}
    named = _named_files(event, world, rest)
    workflow = table.BY_TYPED[name]
    noted: SessionEvent = {"kind": requests.ASKED, "workflow": name, "text": block(rest, LONGEST_REQUEST)}
    noted["variables"] = variables.marks(world.environ)
    if "base" in workflow.keeps:
        from omo.proof import base

        directory = paths.session_directory(world.environ, event.project)
        noted["base"] = {**base.take(world.root, world.environ, world.state), "directory": directory}
    if named:
        noted["files"] = named
    if documents := named_documents.kept(event, world, rest):
        noted["documents"] = documents
    return noted


def _named_files(event: Event, world: World, rest: str) -> list[NamedFile]:
    """The files among their words: with an @ in front, or as the first or only one."""
    directory = os.path.join(world.root, paths.session_directory(world.environ, event.project))
    words = rest.split()
    candidates = [rest] if len(rest.splitlines()) == 1 else []
    candidates += words[:1]
    candidates += [word for word in words if word.startswith("@")]
    named: dict[str, NamedFile] = {}
    for word in candidates:
        name = word.removeprefix("@")
        path = os.path.join(directory, name)
        if name in named or len(named) == MOST_NAMED or "\0" in name or not os.path.isfile(path):
            continue
        content, _ = safe_open.read_start(path, LARGEST_NAMED, follow_link=True)
        shown = os.path.relpath(os.path.realpath(path), os.path.realpath(world.root))
        text = block(content.decode("utf-8", "replace"), LONGEST_NAMED)
        named[name] = {"name": clip(name, 200), "path": shown, "digest": sha256(content), "text": text}
    return list(named.values())


def command_of(prompt: str) -> str | None:
    """The name, where the prompt is one of these commands. Without omo: in it some are the host's own."""
    first = "".join(prompt.split(maxsplit=1)[:1])
    name = first.removeprefix("/omo:").removeprefix("/")
    is_ours = first.startswith("/omo:") or (first.startswith("/") and name not in HOSTS_OWN)
    return name if is_ours and name in COMMANDS else None


def _resume(event: Event, world: World, rest: str) -> Answer:
    from omo.hooks import resume

    return resume.handle(event, world, "".join(rest.split()[:1]))


def _look(event: Event, world: World, name: str) -> Answer:
    """What the command prints at a terminal, by a process of its own: it may read a long ledger, and ends in time."""
    import re
    from pathlib import Path

    from omo.proof.run import run

    started = _with_packages(world)
    if not started:
        return Answer(hosts.END_PROMPT, f"omo: {PREPARING}")
    python, *path = started
    argv = [python, "-I", "-S", "-X", "utf8"]
    if sys.pycache_prefix:
        argv += ["-X", f"pycache_prefix={sys.pycache_prefix}"]
    environ = {"OMO_SESSION_ID": event.session, "TTY_COMPATIBLE": "1", "COLUMNS": COLUMNS, "NO_COLOR": "1"}
    for variable, value in world.environ.items():
        if variable not in hosts.agent_variables():  # a person asked
            environ.setdefault(variable, value)
    done = run(
        [*argv, "-c", START, *path, name],
        cwd=Path(event.directory or world.root),
        timeout=LONGEST_LOOK,
        env=environ,
    )
    text = f"omo {name}\n" + re.sub(r"\x1b\[[\d;]*m", "", done.stdout.strip())
    if done.timed_out:
        text = f"omo: it takes longer than {LONGEST_LOOK:g} s; type `omo {name}` in a terminal."
    elif not done.stdout.strip():
        text = "omo: " + done.stderr.rpartition("omo: ")[2].strip()
    return Answer(hosts.END_PROMPT, block(text, LONGEST_VIEW))


def _with_packages(world: World) -> list[str]:
    """The interpreter of the environment that commands run in, and its path; empty while there is none. A hook runs
    without packages."""
    home = world.environ.get("OMO_ENV_HOME")
    if home is None:  # which launch.sh always sets
        return [sys.executable, *sys.path]
    from omo.context import plugin_root
    from omo.proof.run import run

    root = plugin_root()
    command = ["/bin/sh", str(root / "hooks" / "environment.sh"), "find", home, str(root / "requirements.txt")]
    found = run(command, cwd=root, timeout=LONGEST_FIND, env=world.environ)
    python, _, site = found.stdout.strip().partition("\n")
    return [python, str(root / "src"), site] if found.ok and site else []


def _gates(event: Event, world: World) -> gates.SessionGates:
    return gates.SessionGates(world.state, event.session, "user", world.now, world.wait)


def _pin(event: Event, world: World, rest: str) -> str:
    """A gate in the user's own name, in the directory where their session is; without a command, what is found."""
    cwd = paths.session_directory(world.environ, event.project)
    known = gates.current(world.state, event.session, world.row())
    rest = typed_commands.without_backquotes(rest)
    if len(rest.split()) <= 1:  # nothing, the name of a check, or a program
        word = rest.strip()
        found = gates.FoundGates(world.root, world.state, cwd, world.row(), known)
        checks = [check for check in found.checks if word in ("", check.name)]
        if checks or not _program(world, word, cwd):
            return _pin_found(event, world, checks, found, name=word)
    pin = typed_commands.TypedPin(rest)
    if len(pin.argv) == 1 and " " in pin.argv[0] and not _program(world, pin.argv[0], cwd):
        pin.read(pin.argv[0])  # all of it in quotes
    name = pin.name
    if not name:
        _require_program(world, typed_commands.program_of(pin.argv), cwd)
        name = typed_commands.name_for(pin.argv, {gate.name: gate.argv for gate in known})
    program = _program(world, pin.argv[0], cwd)
    gate = _gates(event, world).add(name, pin.argv, cwd=cwd, program=program, timeout=pin.timeout, sealed=pin.sealed)
    _wake(world)
    shell = "; it has a shell's syntax, so sh runs it" if pin.needs_shell else ""
    reopened = "" if gate.results else _reopen_untold_end(world)  # what is pinned so already has run
    return f"gate {name} pinned by you: {gates.in_words(gate)}{shell}{_missing(world, [gate])}{reopened}"


def _pin_found(event: Event, world: World, checks: list[Check], found: gates.FoundGates, *, name: str) -> str:
    """The checks that the project's files name, or the one of that name. What the user pinned before stays."""
    unlike = ""
    if found.unlike:
        names = clip(", ".join(found.unlike), 120)
        unlike = (
            f". In {settings.FILE}, not as committed and so not pinned as yours: {names}. "
            f"Commit the file, or type /omo:pin {clip(found.unlike[0], 60)} -- COMMAND"
        )
    if not checks:
        what = f"neither a check nor a program {clip(name, 60)!r}" if name else "no check"
        raise BadInput(f"{what} was found in {found.place}{unlike}", fix=typed_commands.PIN_FORM)
    known = gates.current(world.state, event.session, world.row())
    lines, pinned = [], []
    for check in checks:
        before = known.get(check.name)
        if before is not None and before.is_users and not name:
            lines.append(f"{before.name} stays as you pinned it: {gates.in_words(before)}")
            continue
        program = _program(world, check.argv[0], check.cwd)
        gate = _gates(event, world).add(check.name, check.argv, cwd=check.cwd, program=program)
        pinned.append(gate)
        others = kept_commands.others_in_words(check)
        untried = f", not tried yet; the files also name {others}" if others else ""
        lines.append(f"{gate.name}: {gates.in_words(gate)} ({clip(check.found_in, 120)}){untried}")
    _wake(world)
    reopened = _reopen_untold_end(world) if any(not gate.results for gate in pinned) else ""
    return (
        f"pinned by you, as this project's files name them: {'; '.join(lines)}"
        f"{_missing(world, pinned)}{unlike}{reopened}. /omo:unpin NAME takes one away"
    )


def _program(world: World, name: str, cwd: str) -> str | None:
    return typed_commands.resolve(name, os.path.join(world.root, cwd), world.environ.get("PATH", ""))


def _require_program(world: World, name: str, cwd: str) -> None:
    """Refused where a command without a name begins with no program: its first word may be meant as the name."""
    if not name or _program(world, name, cwd):
        return
    fix = "what the work will bring is pinned by a name: /omo:pin NAME -- COMMAND"
    if typed_commands.NAME_LETTERS.issuperset(name):
        fix = f"if that is the gate's name: /omo:pin {clip(name, 60)} -- COMMAND; {fix}"
    raise BadInput(f"there is no program {clip(name, 60)!r} here", fix=fix)


def _missing(world: World, pinned: list[gates.Gate]) -> str:
    """Which programs are not here. They are pinned all the same: the work may install them."""
    missing = []
    for gate in pinned:
        program = typed_commands.program_of(gate.argv)
        if program and not _program(world, program, gate.cwd):
            missing.append(clip(program, 60))
    return f". There is no program {', '.join(missing)} here yet" if missing else ""


def _reopen_untold_end(world: World) -> str:
    """Work that was called done, and not told yet, goes on until the new pin passes. The answer says so."""

    def decide(row: SessionRow | None) -> runtime.Change:
        if row is None or session.is_cancelled(row) or not session.bound_ends(row):
            return runtime.Change("")
        for kind, _ in session.bound_ends(row):
            row = _on_again(world, row, kind, "pinned a gate, which omo gate run runs").row or row
        what = ". The work had been called done, and is on again until that has run"
        return runtime.Change(what, row, [{"kind": "resumed"}])

    return str(world.change(decide, actor="user"))


def _unpin(event: Event, world: World, rest: str) -> str:
    name, *others = _names(rest, "/omo:unpin tests")
    if others:
        raise BadInput(f"{clip(rest, 60)!r} is not one name", fix="for example: /omo:unpin tests")
    _gates(event, world).remove(name)
    _wake(world)
    return f"gate {name} is gone"


def _allow(event: Event, world: World, rest: str) -> str:
    names = _names(rest, "/omo:allow tests")
    name = names[0]
    row = world.row() or EMPTY
    is_gate = gates.current(world.state, event.session, row).get(name) is not None
    ended = "" if is_gate else _end_to_be_made_anew(event, world, row)
    is_over = not runtime.is_live(row)
    is_let_go = is_over and bool(runtime.let_go(row)) and not session.is_cancelled(row)
    if is_over and not ended and not is_let_go:
        which, way = clip(name, 60), ""
        if is_gate:
            which, way = f"gate {which}", f"; /omo:unpin {which} takes the gate away"
        raise BadInput(
            f"nothing is on in this conversation for which {which} could be let through",
            fix=f"type it when work that it holds up is on{way}",
        )
    others = dict(runtime.left_open(row)).keys() - {session.KIND}
    what = _gates(event, world).allow(names, world.root, of_other_work=bool(others))
    if ended:
        world.change(lambda row: _on_again(world, row, ended, f"allowed {clip(rest, 80)}"), actor="user")
        return f"{what}; the work is to be called done anew"
    _wake(world)
    goes_on = "; type ulw to go on" if is_let_go and not budget.is_used_up(row) else ""
    says_so = ", and the end will say so" if runtime.left_open(row) else ""  # else it was called done before
    return f"{what}{says_so}{goes_on}"


def _end_to_be_made_anew(event: Event, world: World, row: SessionRow) -> str:
    """The kind of work that this conversation called done last, on the agent's word alone, if that end would look at
    what is allowed now; else empty. Of what was done before it the user does not speak."""
    last = session.KIND
    for noted in ledger.newest_first(paths.events_file(world.state, event.session)):
        if noted.get("kind") == "done":
            break
        if runtime.has_ended(noted) and noted["kind"] in table.BY_KIND:
            last = noted["kind"]
            break
    has_ended = not runtime.is_live(row) or last in dict(session.bound_ends(row))
    is_to_be_made = has_ended and table.BY_KIND[last].looks_again and session.ended_on_word(row, last)
    return last if is_to_be_made else ""


def _on_again(world: World, row: SessionRow | None, kind: str, did: str) -> runtime.Change:
    if row is None or not runtime.has_ended(row["work"].get(kind, {})):
        return runtime.Change(None)
    summary = row["work"][kind]
    again = sentences.says_so_again(kind, str(summary.get("run")))
    bound.reopen(world.state, kind, summary, actor="user", now=world.now, wait=world.wait)
    step = None if kind == session.KIND else f"the user {did}: {again}"
    return runtime.Change(None, session.on_again(row, kind, step), [{"kind": "resumed"}])


def _names(rest: str, form: str) -> list[str]:
    """As a shell has them, or as one writes them in prose. The name of a test may have blanks: it ends where the next
    FILE::TEST begins."""
    import re

    files, *tests = re.split(r"(?:^|\s+)(?=\S+::)", rest.strip())
    names = [word.strip("\"'`,") for word in [*re.findall(r"\"[^\"]+\"|'[^']+'|[^\s,]+", files), *tests]]
    if not names:
        raise BadInput("it needs a name", fix=f"for example: {form}")
    return names


def _wake(world: World) -> None:
    """The user answered: what waited for them goes on."""

    def decide(row: SessionRow | None) -> runtime.Change:
        after = session.resume(row or EMPTY, states=("waiting",), own=False)
        if session.is_cancelled(row) or not session.woken(row, after):
            return runtime.Change(None)
        return runtime.Change(None, after, [{"kind": "resumed"}])

    world.change(decide, actor="user")


def _budget(event: Event, world: World, rest: str) -> str | Answer:
    """Without a word behind it, how the budget stands. Work that the old one had let go goes on with the new one."""
    if not rest.strip():
        look = spending.Counter(world.state, event.session, keeps=False, may_be_new=True)
        row = look.counted(world.row() or EMPTY, world.now)
        return f"{messages.budget_set(row).rstrip('.')}; {budget.FORM}"
    ceilings = budget.read_request(rest)
    in_force = settings.load(world.environ, world.root)
    counter = spending.Counter(world.state, event.session, may_be_new=True)

    def decide(row: SessionRow | None) -> runtime.Change:
        known = row or EMPTY
        before: SessionRow = {**known, "budget": known.get("budget", {}) or in_force.budget}
        if not before.get("spent", {}):
            before = spending.begin(before, event)
        if budget.unknown_tokens(before) and ceilings is not None:
            before = spending.begin_anew(before, event, world.now)
        asked: SessionRow = {**before, "budget": {**before["budget"], **(ceilings or {})}}
        counted = counter.counted(asked, world.now)
        after = session.raise_budget(counted, ceilings, limits=in_force.limits, now=world.now)
        woken = [(kind, work) for kind, work in runtime.work_in(after, "active") if work != before["work"].get(kind)]
        if woken:
            after = session.shown_on(budget.start_clock(after, world.now))
        ceilings_now = budget.ceilings_in_words(after) or "none"
        noted: SessionEvent = {"kind": "budget", "ceilings": ceilings_now, "spent": budget.all_in_words(after)}
        return runtime.Change((woken, after), after, [noted])

    woken, row = world.change(decide, actor="user")
    if woken:
        return messages.goes_on("the user set the budget anew", woken, messages.budget_set(row))
    ended = any(work.get("endedBy") == "budget" for _, work in runtime.let_go(row))
    if ended and budget.is_used_up(row):
        return f"{messages.budget_set(row)} So nothing goes on: {budget.cause(row)}. {budget.way_on(row)}"
    return messages.budget_set(row)


TAKE_PLACE = ("pin", "budget")  # those that turn something on
COMMANDS: dict[str, Callable[[Event, World, str], str | Answer]] = {
    "status": lambda event, world, rest: _look(event, world, "status"),
    "report": lambda event, world, rest: _look(event, world, "report"),
    "pin": _pin,
    "unpin": _unpin,
    "allow": _allow,
    "budget": _budget,
    "resume": _resume,
}
