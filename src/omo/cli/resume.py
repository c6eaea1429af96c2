"""`omo resume`: what stands still goes on; in a terminal of the user's, in a conversation that it starts."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil

from omo import hosts, options
from omo.context import Context
from omo.hooks import messages
from omo.hooks import resume as resuming
from omo.result import Result
from omo.work import left_open, naming
from omo.work.run import Caller, caller_of


def register(commands: options.Commands) -> None:
    parser = options.top_command(commands, "resume", resume)
    parser.add_argument(
        "wanted", nargs="?", default="", metavar="ID", help="the session or run to take up, or the beginning of its id"
    )


def resume(arguments: argparse.Namespace, context: Context) -> Result:
    if not context.is_agent and not arguments.session and not context.named_session:
        return _start_the_agent(caller_of(context, ""), arguments.wanted, context)
    caller = caller_of(context, context.session(arguments.session))
    resumed = resuming.resume(caller, arguments.wanted)
    works = naming.listed(resumed.work)
    text = f"It goes on in session {caller.session}: {works}"
    if resumed.source:
        text = f"Taken up from session {resumed.source}, by session {caller.session}: {works}"
    task = resumed.task(caller.events, messages.LONGEST_TASK)
    data = {"session": caller.session, "from": resumed.source or None, "work": dict(resumed.work), "task": task or None}
    return Result(data, "\n".join(filter(None, [text, task, "Next: omo next"])))


def _start_the_agent(caller: Caller, wanted: str, context: Context) -> Result:
    """The user names no conversation: a new one begins, with the prompt that takes the work up."""
    if wanted:
        source = left_open.named(caller.session_rows, "", wanted)
    else:
        source = resuming.newest(caller, "")
    commands = []
    for host in hosts.every(first=str(caller.session_rows[source].get("spent", {}).get("host"))):
        argv = host.conversation(f"/omo:resume {source}")
        if shutil.which(host.program, path=context.environ.get("PATH", "")):
            os.execvp(argv[0], argv)
        commands.append(shlex.join(argv))
    return Result({"session": source}, f"Type in this project: {commands[0]}")
