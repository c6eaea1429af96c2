"""One error family. Each class is named for what the reader does next; data is in fields, not in the text."""

from __future__ import annotations


class OmoError(Exception):
    """`message` says what is wrong and where, `fix` the command or edit that mends it."""

    code = "error"
    exit_code = 1

    def __init__(self, message: str, *, fix: str = "", **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.details = details


class BadInput(OmoError, ValueError):
    """What was typed or passed in cannot be used; nothing was changed."""

    code = "bad-input"
    exit_code = 2


class Refused(OmoError):
    """Understood, and not allowed as things stand; nothing was changed."""

    code = "refused"
    exit_code = 3


class NotEvaluable(OmoError):
    """Neither true nor false could be established."""

    code = "not-evaluable"
    exit_code = 4


class NotMade(NotEvaluable):
    """The experiment cannot be made here; the files are as they were."""

    code = "not-made"


class Unreadable(OmoError):
    """A state file is there but cannot be understood. Never raised for a file that is absent."""

    code = "unreadable-state"
    exit_code = 3


class Newer(Unreadable):
    """Written by a newer omo: kept as it is, not guessed at."""

    code = "newer-state"


class Unwritable(OmoError, OSError):
    """The state directory cannot be written."""

    code = "unwritable-state"
    exit_code = 77


class Busy(OmoError, TimeoutError):
    """Another process holds the lock for longer than the caller may wait."""

    code = "busy"
    exit_code = 3


class Missing(OmoError):
    """Something that the command needs is not there; nothing was begun or spent."""

    code = "missing"
    exit_code = 77
