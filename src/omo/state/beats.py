"""Heartbeats: when a hook last ran in a session that is on. One small file a session, beside the record of its state.

`omo.hooks.gaps` compares it with what the host has recorded of the conversation since.
"""

from __future__ import annotations

import os

from omo.clock import seconds, stamp
from omo.json_text import dumps, loads
from omo.safe_open import read_file, regular_file
from omo.state import paths

SUFFIX = ".beat"
LARGEST = 64 * 1024


class Beat:
    """The last hook of a session: when it ran, in which host, and where that host records the conversation.

    `told` is the end of the last turn without hooks that the user was told of, in seconds; 0 where there was none.
    """

    def __init__(self, at: float, host: str, transcript: str, told: float = 0.0) -> None:
        self.at = at
        self.host = host
        self.transcript = transcript
        self.told = told


def file_of(record: str, session: str) -> str:
    return f"{record}.{paths.file_name_of(session)}{SUFFIX}"


def note(record: str, session: str, now: float, host: str, transcript: str) -> None:
    """Write that a hook runs now. Without a `transcript` the one that an earlier hook was told of stays."""
    if not transcript:
        known = read(record, session)
        transcript = known.transcript if known is not None else ""
    write(record, session, Beat(now, host, transcript))


def write(record: str, session: str, beat: Beat) -> None:
    """Write a heartbeat. One that cannot be written is none."""
    stored = {"at": stamp(beat.at), "host": beat.host, "transcript": beat.transcript}
    if beat.told:
        stored["told"] = stamp(beat.told)
    text = f"{dumps(stored)}\n".encode("utf-8", "backslashreplace")
    try:
        descriptor = regular_file(file_of(record, session), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW)
        try:
            os.write(descriptor, text)
            os.ftruncate(descriptor, len(text))  # afterwards, so that no reader finds it empty
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        pass


def read(record: str, session: str) -> Beat | None:
    try:
        stored = loads(read_file(file_of(record, session), LARGEST).decode("utf-8"))
        told = stored.get("told")
        return Beat(
            seconds(stored["at"]), str(stored["host"]), str(stored["transcript"]), seconds(told) if told else 0.0
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def remove(record: str, sessions: list[str]) -> None:
    for session in sessions:
        _unlink(file_of(record, session))


def sweep(place: str, kept: set[str]) -> None:
    """Remove the heartbeats in a directory of records, but for these files."""
    try:
        names = os.listdir(place)
    except OSError:
        return
    for name in names:
        path = os.path.join(place, name)
        if name.endswith(SUFFIX) and path not in kept:
            _unlink(path)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
