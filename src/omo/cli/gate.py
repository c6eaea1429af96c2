"""`omo gate`: pin commands that must pass, run them, record what they said."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path
from typing import Any

from omo.cli import options
from omo.cli.result import Result
from omo.cli.ulw import require_whole_ledger
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.evidence import run as runner
from omo.evidence import tree
from omo.shown import clip
from omo.state import paths, store
from omo.ultrawork import gates

TAIL = 4000
DEFAULT_TIMEOUT = 600.0


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "gate", "verification gates: add, run, record, list")
    add_parser = options.command(verbs, "add", "pin a command under a name: omo gate add NAME -- COMMAND …", add)
    add_parser.add_argument("name", metavar="NAME")
    add_parser.add_argument(
        "argv",
        metavar="COMMAND",
        nargs="+",
        help="after --; run as it is, without a shell. What the user pins may also be replayed as evidence; "
        "a last ... stands for any further arguments and makes it no gate",
    )
    add_parser.add_argument("--cwd", default=".", help="directory inside the project (default: its top)")
    add_parser.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT, metavar="SECONDS")
    add_parser.add_argument(
        "--repair", action="store_true", help="keep a damaged ledger of replay commands aside and begin a new one"
    )
    run_parser = options.command(verbs, "run", "run one gate or all, and record exit code, output and tree", run)
    run_parser.add_argument("name", metavar="NAME", nargs="?")
    record_parser = options.command(verbs, "record", "document a failure that was there before the work", record)
    record_parser.add_argument("name", metavar="NAME")
    record_parser.add_argument("--pre-existing", action="store_true", required=True)
    record_parser.add_argument(
        "--evidence", required=True, metavar="TEXT", help="what fails, and how you know it did before"
    )
    options.command(verbs, "list", "the gates, who pinned them, and where each stands", show)


def add(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    if not 0 < arguments.timeout <= 24 * 3600:
        raise BadInput(f"--timeout {arguments.timeout:g} is not between 0 and 86400 seconds", fix="omit it for 600")
    if arguments.repair:
        _repair_replay_commands(context)
    gates.add(
        context.state,
        name,
        arguments.name,
        list(arguments.argv),
        by=context.actor,
        cwd=_inside(context.root, arguments.cwd),
        tree=_remembered_tree(context),
        now=context.now,
        timeout=arguments.timeout,
        wait=store.CLI_WAIT,
    )
    what = "Replays of" if gates.is_replay_only(arguments.argv) else "Gate"
    text = f"{what} {arguments.name} pinned by the {context.actor}: {shlex.join(arguments.argv)}"
    return Result({"gate": arguments.name, "argv": arguments.argv, "by": context.actor}, text)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    """A batch is judged at the tree it leaves behind, so a gate that writes files does not stale its neighbours."""
    name = context.session(arguments.session)
    require_whole_ledger(context, name)
    chosen = gates.select(gates.current(context.state, name, context.row(name)), arguments.name)
    results = [_run_one(gate, context) for gate in chosen]
    after = tree.fingerprint(Path(context.root))  # no cache: what is recorded here is proof later
    for result in results:
        result["tree"] = after
    gates.record_results(context.state, name, results, actor=context.actor, now=context.now, wait=store.CLI_WAIT)
    return _report(results)


def _run_one(gate: gates.Gate, context: Context) -> dict[str, Any]:
    outcome = runner.run(gate.argv, cwd=Path(context.root, gate.cwd), timeout=gate.timeout)
    result = "unknown" if outcome.not_found or outcome.timed_out else "pass" if outcome.exit_code == 0 else "fail"
    return {
        "name": gate.name,
        "result": result,
        "exit": outcome.exit_code,
        "why": "timed out" if outcome.timed_out else "program not found" if outcome.not_found else "",
        "seconds": round(outcome.duration, 3),
        "tail": (outcome.stdout + outcome.stderr)[-TAIL:],
    }


def _report(results: list[dict[str, Any]]) -> Result:
    verdicts = {result["result"] for result in results}
    code = 3 if "fail" in verdicts else 4 if "unknown" in verdicts else 0
    lines = []
    for result in results:
        why = f" ({result['why']})" if result["why"] else f" (exit {result['exit']}, {result['seconds']:.1f} s)"
        lines.append(f"{result['result']:8}{result['name']}{why}")
        if result["result"] != "pass":
            lines += [f"        | {clip(line, 400)}" for line in result["tail"].rstrip().splitlines()[-20:]]
    verdict = {0: "pass", 3: "fail", 4: "unknown"}[code]
    return Result({"verdict": verdict, "gates": results}, "\n".join(lines), code)


def record(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    gates.record_pre_existing(
        context.state,
        name,
        arguments.name,
        arguments.evidence,
        actor=context.actor,
        now=context.now,
        wait=store.CLI_WAIT,
    )
    return Result({"gate": arguments.name}, f"Gate {arguments.name}: its failure is recorded as pre-existing.")


def show(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    pinned = gates.current(context.state, name, context.row(name))
    data = [
        {"name": gate.name, "status": gate.status, "by": gate.by, "argv": gate.argv, "cwd": gate.cwd}
        for gate in pinned.values()
    ]
    lines = [f"{gate.status:22}{gate.name}  [{gate.by}] {shlex.join(gate.argv)}" for gate in pinned.values()]
    lines = lines or ["No gate is pinned. omo gate add NAME -- COMMAND"]
    replay, problem = _replay_commands(context.state)
    lines += [f"{'may be replayed':22}{shlex.join(argv)}" for argv in replay] + [problem] * bool(problem)
    return Result({"gates": data, "replay": replay, "problem": problem or None}, "\n".join(lines))


def _replay_commands(state: str) -> tuple[list[list[str]], str]:
    """A damaged ledger of them hides no gate: it is said beside them."""
    from omo.evidence import allowed  # 0.2 s, which running a gate need not pay

    try:
        return [list(argv) for argv in allowed.allowed(state)], ""
    except Refused as error:
        return [], f"No command may be replayed: {error.message}. {error.fix}"


def _repair_replay_commands(context: Context) -> None:
    from omo.evidence import allowed

    allowed.repair(context.state, by=context.actor, now=context.now, wait=store.CLI_WAIT)


def _inside(root: str, cwd: str) -> str:
    """The directory as a path below the project; one that leads out is refused."""
    full = os.path.realpath(os.path.join(root, cwd))
    relative = os.path.relpath(full, os.path.realpath(root))
    if relative.split(os.sep)[0] == ".." or not os.path.isdir(full):
        raise BadInput(f"--cwd {cwd!r} is not a directory inside {root}", fix="give a directory of the project")
    return relative


def _remembered_tree(context: Context) -> str:
    store.make_state_dir(context.state)
    return tree.fingerprint(Path(context.root), cache=Path(paths.tree_cache(context.state)))
