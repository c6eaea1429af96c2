"""`omo gate`: pin commands that must pass, run them, record what they said."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from omo import options, settings
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.proof import base, gate_runs, globs, kept_commands, typed_commands
from omo.proof.run import child_environment
from omo.result import EXIT_CODES, Result
from omo.state import paths
from omo.text import clip
from omo.work import gate_runner, gates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "gate")
    add_parser = options.command(verbs, "add", "pin a command under a name: omo gate add NAME -- COMMAND …", add)
    add_parser.add_argument("name", metavar="NAME")
    about = "after --; run as it is, without a shell. What the user pins may also be replayed as evidence"
    add_parser.add_argument("argv", metavar="COMMAND", nargs="+", help=about)
    add_parser.add_argument("--cwd", help="directory inside the project (default: the session's)")
    add_parser.add_argument("--timeout", metavar="TIME", help="90s, 30m or 2h (default: 10m)")
    about = "files that the command rests on beside tests, fixtures and configuration; may be given again"
    add_parser.add_argument("--sealed", metavar="GLOB", action="append", help=about)
    run_parser = options.command(verbs, "run", "run one gate or all, and record exit code, output and tree", run)
    run_parser.add_argument("name", metavar="NAME", nargs="?")
    record_parser = options.command(verbs, "record", "document a failure that was there before the work", record)
    record_parser.add_argument("name", metavar="NAME")
    record_parser.add_argument("--pre-existing", action="store_true", required=True)
    record_parser.add_argument(
        "--evidence", required=True, metavar="TEXT", help="what fails, and how you know it did before"
    )
    remove_parser = options.command(verbs, "remove", "take a gate away; one that failed is told", remove)
    remove_parser.add_argument("name", metavar="NAME")
    options.command(verbs, "suggest", "the checks that this project's own files name; nothing is run", suggest)
    options.command(verbs, "list", "the gates, who pinned them, and where each stands", show)


def add(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    timeout = None if arguments.timeout is None else typed_commands.parse_timeout(arguments.timeout)
    below = paths.session_directory(context.environ, context.cwd) if arguments.cwd is None else arguments.cwd
    directory = globs.directory_inside(Path(context.root), below)
    if not directory.is_dir():
        raise BadInput(f"--cwd {below!r} is no directory", fix="give a directory of the project")
    cwd = os.path.relpath(directory, os.path.realpath(context.root))
    argv = list(arguments.argv)
    program = typed_commands.resolve(argv[0], os.path.join(context.root, cwd), os.environ.get("PATH", ""))
    gate = gate_runner.session_gates(context, name).add(
        arguments.name, argv, cwd=cwd, program=program, timeout=timeout, sealed=arguments.sealed
    )
    text = f"Gate {gate.name} pinned by the {gate.by}: {gates.in_words(gate)}"
    if program is None:
        text += f"\nThere is no program {clip(argv[0], 60)} here yet."
    return Result({"gate": gate.name, "argv": gate.argv, "by": gate.by}, text)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    ran = gate_runner.run_gates(context, context.session(arguments.session), arguments.name)
    # Names of tests are packed in a row, which only omo reads.
    gates_run = [{name: value for name, value in row.items() if name != "ran"} for row in ran.results]
    return Result({"verdict": ran.verdict, "gates": gates_run}, "\n".join(ran.lines), EXIT_CODES[ran.verdict])


def record(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    pinned = gate_runner.load(context, name)
    gate = pinned.known.get(arguments.name)
    if gate is not None and gate.is_users and gate.last is not None and not gate.is_closed and context.is_agent:
        from omo.workflows.ultrawork.judging import waits_for_user  # which loads pydantic

        raise waits_for_user(pinned, [gate])
    evidence = arguments.evidence.strip()
    if len(evidence) < gates.SHORTEST_REASON:
        raise BadInput(
            f"--evidence {arguments.evidence!r} is too short to show anything", fix="say what fails and how you know"
        )
    failed_without = gate is not None and _failed_without_work(context, pinned.known, gate)

    def decide(known: gates.Gates) -> tuple[None, list[SessionEvent]]:
        _require_failure_from_before(known.known(arguments.name), failed_without=failed_without)
        return None, [{"kind": "gate-recorded", "name": arguments.name, "how": "pre-existing", "evidence": evidence}]

    pinned.change(decide)
    return Result({"gate": arguments.name}, f"Gate {arguments.name}: its failure is recorded as pre-existing.")


def _failed_without_work(context: Context, known: gates.Gates, gate: gates.Gate) -> bool:
    """Return whether the experiment has seen it fail on the files as they were."""
    whole = base.look(context.root, known.base)
    environ = child_environment(os.environ)
    return gate_runs.failed_without(gate_runner.subject_of(context, known, whole, environ), gate)


def _require_failure_from_before(gate: gates.Gate, *, failed_without: bool) -> None:
    """It failed, and either this run saw that on the files as they were, or the experiment did."""
    if not gate.has_failed:
        raise Refused(
            f"gate {gate.name} has no failure to record: {gate.status}", fix=f"run it first: omo gate run {gate.name}"
        )
    if not failed_without and not any(ran.failed and ran.changed == {} for ran in gate.results):
        raise Refused(
            f"nobody has seen gate {gate.name} fail without the work",
            fix="omo ulw done runs one that the project names without the work; then record it; "
            f"one that you chose: mend it, or omo gate remove {gate.name}, which the end tells",
        )


def remove(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    gate_runner.session_gates(context, name).remove(arguments.name)
    return Result({"gate": arguments.name}, f"Gate {arguments.name} is gone.")


def suggest(arguments: argparse.Namespace, context: Context) -> Result:
    session = arguments.session or context.named_session or ""
    row = context.row(session)
    cwd = paths.session_directory(context.environ, context.cwd)
    known = gates.current(context.state, session, row)
    found = gates.FoundGates(context.root, context.state, cwd, row, known)
    data, lines = [], []
    for check in found.checks:
        others = [other.argv for other in check.instead]
        data.append(
            {"name": check.name, "argv": check.argv, "cwd": check.cwd, "found": check.found_in, "instead": others}
        )
        lines.append(f"{gates.pin_line(check, cwd):50}  # {clip(check.found_in, 120)}")
        if check.instead:
            lines.append(f"  where that does not get to the tests: {kept_commands.others_in_words(check)}")
    if lines:
        lines.append("The user pins all of them with /omo:pin.")
    else:
        lines.append(f"No check was found in {found.place}: omo gate add NAME -- COMMAND; a part below may have one")
    if found.unlike:
        lines.append(f"In {settings.FILE}, and not as committed: {clip(', '.join(found.unlike), 200)}")
    return Result({"checks": data, "unlike": found.unlike}, "\n".join(lines))


def show(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.looked_at(arguments.session)
    pinned = gates.current(context.state, name, context.row(name))
    data = [
        {"name": gate.name, "status": gate.status, "by": gate.by, "argv": gate.argv, "cwd": gate.cwd} for gate in pinned
    ]
    lines = [f"{gate.status:22}{gate.name}  [{gate.by}] {gates.in_words(gate)}" for gate in pinned]
    return Result({"gates": data}, "\n".join(lines) or "No gate is pinned. omo gate suggest")
