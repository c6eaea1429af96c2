"""What takes longer than a second says so on stderr: on a terminal in one line drawn over, else in plain lines."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from typing import TextIO

PATIENCE = 1.0

# Where it is shown: the command line names its stderr here. Hooks show none.
stream: TextIO | None = None
_outermost: doing | None = None


def say(text: str) -> None:
    """A line of its own, once."""
    if stream is not None:
        from omo import masking

        stream.write(f"omo: {masking.mask(text)}\n")
        stream.flush()


class doing:
    """`with doing("running the tests"):`. Inside another nothing is shown: the outer one says what was asked for."""

    def __init__(self, text: str) -> None:
        self.text = text  # may be changed while it goes on
        self._is_over: threading.Event | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> doing:
        global _outermost
        if stream is not None and _outermost is None:
            import threading

            _outermost = self
            self._is_over = threading.Event()
            self._thread = threading.Thread(target=self._show, args=(stream, self._is_over), daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        global _outermost
        if self._thread is not None and self._is_over is not None:
            _outermost = None
            self._is_over.set()
            self._thread.join()

    def _show(self, to: TextIO, is_over: threading.Event) -> None:
        from omo import masking
        from omo.text import clip

        draws = to.isatty()
        seconds = 0
        shown = ""
        while not is_over.wait(PATIENCE):
            seconds += 1
            text = clip(masking.mask(self.text), 60)
            if draws:
                to.write(f"\r\x1b[Komo: {text} · {seconds} s")
            elif text != shown:
                to.write(f"omo: {text}…\n")
            to.flush()
            shown = text
        if draws and shown:
            to.write("\r\x1b[K")
            to.flush()


def folded(text: str, to: TextIO) -> str:
    """The text folded to the width of a terminal, which would break words; elsewhere as it is."""
    from omo.text import fold

    return fold(text, columns()) if to.isatty() else text


def columns() -> int:
    """The width of the terminal, as shutil.get_terminal_size has it."""
    try:
        width = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        width = 0
    if width > 0:
        return width
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80
