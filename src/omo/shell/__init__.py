"""What a shell text does: its commands, pipes and redirections, read as a shell reads them, so a mention is no call.

What only the running shell knows stays unknown: variables that are not set in the text, functions, aliases, scripts.
"""

from __future__ import annotations

from omo.shell.programs import name, program
from omo.shell.reader import Script, SimpleCommand, Unknown, read

__all__ = ["Script", "SimpleCommand", "Unknown", "commands", "name", "program", "read"]


def commands(text: str) -> list[list[str]]:
    """The words of every simple command, quotes resolved; a word with an expansion in it keeps that part as written.

    Also those inside `sh -c`, `eval`, `trap` and what is fed to a shell by a here-document.
    """
    return [call.words for call in read(text).calls]
