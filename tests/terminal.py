"""A terminal for a program that a person is to have started: without one, nobody is taken for a person."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def terminal() -> Iterator[int]:
    """What the program is given as its standard input. Nothing is ever typed into it."""
    keyboard, screen = os.openpty()
    try:
        yield screen
    finally:
        os.close(screen)
        os.close(keyboard)
