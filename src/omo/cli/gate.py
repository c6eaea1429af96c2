"""`omo gate`: pin commands that must pass, run them, record what they said."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from omo import settings
from omo.cli import options
from omo.cli.result import Result
from omo.cli.ulw import require_whole_ledger, session_gates, waits_for_user
from omo.context import Context
from omo.errors import BadInput
from omo.proof import base, globs, outputs, seals, tree, typed_commands
from omo.proof import run as runner
from omo.state import ledger, paths, runtime
from omo.text import clip, listed
from omo.workflows.ultrawork import gates

Row = dict[str, Any]

TAIL = 4000
# A new file with one of these ends is work, also where it appears while a gate runs.
CODE = (
    *(".py", ".pyi", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte", ".go", ".rs", ".c", ".h", ".cc"),
    *(".cpp", ".hpp", ".java", ".kt", ".scala", ".rb", ".php", ".cs", ".swift", ".sh", ".lua", ".ex", ".exs", ".sql"),
    *(".toml", ".cfg", ".ini", ".yml", ".yaml", "Makefile"),
)


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "gate", "verification gates: suggest, add, run, record, remove, list")
    add_parser = options.command(verbs, "add", "pin a command under a name: omo gate add NAME -- COMMAND …", add)
    add_parser.add_argument("name", metavar="NAME")
    add_parser.add_argument(
        "argv",
        metavar="COMMAND",
        nargs="+",
        help="after --; run as it is, without a shell. What the user pins may also be replayed as evidence",
    )
    add_parser.add_argument("--cwd", help="directory inside the project (default: the session's)")
    add_parser.add_argument("--timeout", metavar="TIME", help="90s, 30m or 2h (default: 10m)")
    add_parser.add_argument(
        "--sealed",
        metavar="GLOB",
        action="append",
        help="files that the command rests on beside tests, fixtures and configuration; may be given again",
    )
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
    gate = session_gates(context, name).add(
        arguments.name, argv, cwd=cwd, program=program, timeout=timeout, sealed=arguments.sealed
    )
    text = f"Gate {gate.name} pinned by the {gate.by}: {gates.in_words(gate)}"
    if program is None:
        text += f"\nThere is no program {clip(argv[0], 60)} here yet."
    return Result({"gate": gate.name, "argv": gate.argv, "by": gate.by}, text)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    results, known = run_gates(context, context.session(arguments.session), arguments.name)
    return report_of(results, known)


def run_gates(context: Context, name: str, wanted: str | None = None) -> tuple[list[Row], gates.Gates]:
    """The gates of a session, or the one that is `wanted`, each judged on the files it was run on: looked at before and
    after.
    """
    require_whole_ledger(context, name)
    rows = ledger.rows(paths.events_file(context.state, name))
    known = gates.fold(rows, gates.run_of(context.row(name)))
    left_out = known.left_out
    before = base.look(context.root, known.base).without(left_out)
    results = []
    for gate in known.select(wanted):
        result = _run_one(gate, context, known)
        after = base.look(context.root, known.base).without(left_out)
        own, moved = _changed_meanwhile(before, after, gate)
        left_out = [*left_out, *own]
        before = after.without(own)
        results.append(_judged(result, before, own, moved))
    work = runtime.part(context.row(name) or {}, "work")
    if "ultragoal" in work:  # its quality gates may cite the result, as long as these are the files
        files = base.take(context.root, context.environ)
        results = [{**result, "files": files} for result in results]
    if "ralph" in work:  # it compares whole trees
        whole = tree.fingerprint(Path(context.root))
        results = [{**result, "fingerprint": whole} for result in results]
    session_gates(context, name).record_results(results)
    return results, known


def _run_one(gate: gates.Gate, context: Context, known: gates.Gates) -> Row:
    directory = os.path.join(context.root, gate.cwd)
    environ = runner.child_environment(os.environ)
    outcome = runner.run(gate.argv, cwd=Path(directory), timeout=gate.timeout, env=environ)
    shadows = seals.shadows(context.root, known.base or {}, [gate], known.terms)
    result, why = outputs.result_of(outcome, shadows)
    return {
        "name": gate.name,
        "command": gate.command,
        "argv": gate.argv,
        "result": result,
        "exit": outcome.exit_code,
        "why": why,
        "timed_out": outcome.timed_out,
        "seconds": round(outcome.duration, 3),
        "tail": (outcome.stdout + outcome.stderr)[-TAIL:],
        "program": typed_commands.resolve(gate.argv[0], directory, environ.get("PATH", "")),
        "env": gates.environment_of(environ),
    }


def _changed_meanwhile(before: base.Look, after: base.Look, gate: gates.Gate) -> tuple[list[str], list[str]]:
    """While a gate ran: the files that its own run wrote, and those that somebody else changed.

    Its own are no code, and new and unknown to git, or changed by each of its runs: a report or a cache.
    """
    changed_before = {path for row in gate.results for path in row.get("moved", [])}
    if before.changed is None or after.changed is None:
        return [], []
    own: list[str] = []
    moved: list[str] = []
    for path in base.differing(before.changed, after.changed):
        is_new = path in after.untracked and path not in before.changed
        is_own = (is_new or path in changed_before) and not path.endswith(CODE)
        (own if is_own else moved).append(path)
    return own, moved


def _judged(result: Row, look: base.Look, own: list[str], moved: list[str]) -> Row:
    """A pass on files that changed under it counts for none of them."""
    changed = look.changed
    if changed is not None and len(changed) > base.MOST_FILES:
        changed = None
    where = {"tree": look.tree, "changed": changed, "left_out": own, "moved": moved}
    if moved and result["result"] == "pass":
        return {**result, **where, "result": "unknown", "why": f"these changed while it ran: {listed(moved)}"}
    return {**result, **where}


def report_of(results: list[Row], known: gates.Gates) -> Result:
    verdicts = {result["result"] for result in results}
    code = 3 if "fail" in verdicts else 4 if "unknown" in verdicts else 0
    lines = []
    for result in results:
        why = f" ({result['why']})" if result["why"] else f" (exit {result['exit']}, {result['seconds']:.1f} s)"
        gate = known.get(result["name"])
        where = f" in {clip(gate.cwd, 80)}" if gate is not None and gate.cwd != "." else ""
        lines.append(f"{result['result']:8}{result['name']}{where}{why}")
        if result["left_out"]:
            lines.append(f"        written by the run itself, and left out: {listed(result['left_out'])}")
        if result["result"] != "pass":
            lines += [f"        | {clip(line, 400)}" for line in result["tail"].rstrip().splitlines()[-20:]]
        if result["timed_out"] and gate is not None:
            lines.append(f"        more time: {gates.more_time(gate)}")
    verdict = {0: "pass", 3: "fail", 4: "unknown"}[code]
    return Result({"verdict": verdict, "gates": results}, "\n".join(lines), code)


def record(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    gate = gates.current(context.state, name, context.row(name)).get(arguments.name)
    if gate is not None and gate.is_users and gate.has_failed and context.is_agent:
        raise waits_for_user(context, name, [gate])
    session_gates(context, name).record_pre_existing(arguments.name, arguments.evidence)
    return Result({"gate": arguments.name}, f"Gate {arguments.name}: its failure is recorded as pre-existing.")


def remove(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    session_gates(context, name).remove(arguments.name)
    return Result({"gate": arguments.name}, f"Gate {arguments.name} is gone.")


def suggest(arguments: argparse.Namespace, context: Context) -> Result:
    session = arguments.session or context.named_session or ""
    row = context.row(session)
    cwd = paths.session_directory(context.environ, context.cwd)
    found = gates.Found(context.root, cwd, row, gates.current(context.state, session, row))
    data, lines = [], []
    for check in found.checks:
        data.append({"name": check.name, "argv": check.argv, "cwd": check.cwd, "found": check.found_in})
        lines.append(f"{gates.pin_line(check, cwd):50}  # {clip(check.found_in, 120)}")
    if lines:
        lines.append("The user pins all of them with /omo:pin.")
    else:
        lines.append("No check was found in this project's files: omo gate add NAME -- COMMAND")
    if found.unlike:
        lines.append(f"In {settings.FILE}, and not as committed: {clip(', '.join(found.unlike), 200)}")
    return Result({"checks": data, "unlike": found.unlike}, "\n".join(lines))


def show(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session, looks=True)
    pinned = gates.current(context.state, name, context.row(name))
    data = [
        {"name": gate.name, "status": gate.status, "by": gate.by, "argv": gate.argv, "cwd": gate.cwd} for gate in pinned
    ]
    lines = [f"{gate.status:22}{gate.name}  [{gate.by}] {gates.in_words(gate)}" for gate in pinned]
    return Result({"gates": data}, "\n".join(lines) or "No gate is pinned. omo gate suggest")
