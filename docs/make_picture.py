"""Records real sessions in a pseudo-terminal and draws them as docs/pictures/*.svg.

python docs/make_picture.py            records and draws every scene anew
python docs/make_picture.py --client   draws the panes of the real client anew, by the tests that play them
python docs/make_picture.py --proof    draws omo proof at a change of our own anew, by the history of this clone
python docs/make_picture.py --check    exits 1 if a picture is not what the terminal shows today, or a pane has not the
                                       lines any more that omo would say
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from omo.cli.demo import Stage  # noqa: E402
from omo.context import Context  # noqa: E402
from omo.hooks import messages  # noqa: E402
from omo.state.rows import EMPTY  # noqa: E402
from omo.stop import sentences  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
OMO = str(ROOT / "bin" / "omo")
ROWS = 50
DRAW = "DRAW_PICTURES"  # set while the tests that play the panes draw them

# What differs from one recording to the next, or from one Python to another, without meaning anything.
NORMAL = (
    (re.compile(r"/tmp/omo demo \w+"), "/tmp/omo demo"),
    (re.compile(r"\b\d+\.\d s\b"), "0.1 s"),
    (re.compile(r"\r\x1b\[Komo: [^\r]*"), ""),  # what it is doing, drawn over
    (re.compile(r"\r\x1b\[K"), ""),
    (re.compile(r"^ *\| omo: running [^\n]*…\n", re.M), ""),  # the same without a terminal, after a second
    (re.compile(r"\bruns in \d+ s\b"), "runs in 2 s"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "17:20:05"),
    (re.compile(r"^[ |]*\^+\n", re.M), ""),
    (re.compile(r"\b([gu])\d{13}\b"), r"\g<1>1790000000000"),
    (re.compile(r"last used [\w ]+"), "last used just now"),
)

THEME = TerminalTheme(
    (22, 27, 34),
    (214, 221, 229),
    [
        *((72, 79, 88), (255, 123, 114), (86, 211, 100), (227, 179, 65)),
        *((108, 182, 255), (210, 168, 255), (86, 212, 221), (214, 221, 229)),
    ],
    [
        *((139, 148, 158), (255, 161, 152), (126, 231, 135), (240, 200, 90)),
        *((150, 208, 255), (226, 197, 255), (120, 226, 234), (255, 255, 255)),
    ],
)
# The template of rich without the font that it fetches from a network.
TEMPLATE = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
    <style>
    .{unique_id}-matrix {{
        font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace;
        font-size: {char_height}px;
        line-height: {line_height}px;
    }}
    .{unique_id}-title {{ font: 15px system-ui, sans-serif; opacity: 0.7; }}
    {styles}
    </style>
    <defs>
    <clipPath id="{unique_id}-clip-terminal">
      <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
    </clipPath>
    {lines}
    </defs>
    {chrome}
    <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">
    {matrix}
    </g>
    </g>
</svg>
"""


class Terminal:
    """Runs commands as a person at a terminal of so many columns would, and keeps what is on the screen."""

    def __init__(self, columns: int, scratch: Path) -> None:
        self.columns = columns
        self.scratch = scratch
        self.screen = ""

    def run(self, shown: str, *argv: str, start: str = "", end: str = "", cwd: Path | None = None) -> None:
        """What the command prints; with start and end, from the line that starts so to before the one that does."""
        text = normalised(record(argv, self.columns, self.scratch, cwd or self.scratch))
        begin = text.index(f"\n{start}") + 1 if start else 0
        stop = text.index(f"\n{end}", begin) + 1 if end else len(text)
        cut = "\x1b[2m…\x1b[0m\n"
        self.screen += f"\x1b[1;32m$\x1b[0m \x1b[1m{shown}\x1b[0m\n" + (cut if begin else "")
        self.screen += text[begin:stop].rstrip("\n") + "\n" + (cut if stop < len(text) else "")


class Scene(NamedTuple):
    name: str
    title: str
    columns: int
    play: Callable[[Terminal], None]
    marks: tuple[tuple[str, str], ...] = ()  # patterns and styles, for commands that print without colours


def demo(terminal: Terminal) -> None:
    terminal.run("./bin/omo demo", OMO, "demo", start="2. You type ulw", end="5. And you can always")


def status(terminal: Terminal) -> None:
    """Three goals, two gates of which one fails, and a Stop that was sent back."""
    project = terminal.scratch / "shop"
    project.mkdir()
    environ = {**os.environ, "HOME": str(terminal.scratch)}
    stage = Stage(project, Context(environ, str(project), time.time()), quiet=True)
    stage.git("init", "-q")
    (project / "prices.py").write_text("RATES = {}\n", encoding="utf-8")
    (project / "test_prices.py").write_text("import prices\nassert 'EUR' in prices.RATES\n", encoding="utf-8")
    stage.git("add", ".")
    stage.git("-c", "user.name=picture", "-c", "user.email=picture@example.invalid", "commit", "-q", "-m", "start")
    stage.person("ulw make prices work in every currency")
    stage.agent_runs("ultragoal", "create-goals", "--brief", BRIEF)
    stage.agent_runs("ultragoal", "complete-goals")
    stage.agent_runs("gate", "add", "tests", "--", "python3", "-B", "test_prices.py")
    stage.agent_runs("gate", "add", "indents", "--", "python3", "-B", "-m", "tabnanny", "prices.py")
    stage.agent_runs("gate", "run")
    stage.agent_stops("Almost there.")
    terminal.run("omo status", OMO, "status", cwd=project)


BRIEF = """Prices in euro, dollar and yen.
@goal: Read the rates
@goal: Show each price in the buyer's currency
@goal: Refuse a currency nobody sells in
"""
SPEAKERS = (
    (r"(?m)^\d\. .*$", "bold bright_white"),
    (r"(?m)^-+$", "bright_black"),
    (r"(?m)^you    >.*$", "bold bright_cyan"),
    (r"(?m)^agent  [:$].*$", "bright_yellow"),
    (r"(?m)^omo(?=    \|)", "bold bright_magenta"),
    (r"(?m)(?<=^.{7})\|", "bright_black"),
    (r"(?m)(?<=^ {7}\| )(?:pass  |Done, ).*$", "bright_green"),
    (r"(?m)(?<=^ {7}\| )(?:fail  |omo: ).*$", "bright_red"),
    (r"(?m)(?<=^omo {4}\| )\([^)]*\)", "bright_black"),
    (r"(?<=\(to you\) ).*", "bright_green"),
)
SCENES = (
    Scene("demo", "ulw: sent back until your check passes", 80, demo, SPEAKERS),
    Scene("status", "what is on, what is open, what the next Stop would do", 100, status),
)


class Pane(NamedTuple):
    """The real client, as a test saw it. `lines` are what omo says in it today, by the code that says it."""

    name: str
    title: str
    lines: tuple[str, ...]
    columns: int = 80


ULTRAWORK: list[tuple[str, Any]] = [("ulw", {"state": "active"})]
PANES = (
    Pane("client-alone", "Claude Code alone: nothing was mended", ("That should do it.",)),
    Pane(
        "client",
        "Claude Code: ulw, a stop that is sent back, and the end",
        (
            messages.turned_on("", [], EMPTY, []).message,
            "Ultrawork active: continuing until verification gates pass or stop requested.",
            "omo: done, proven: gate tests",
            sentences.EVIDENCE,
        ),
    ),
    Pane(
        "client-pause",
        "Claude Code: a run that you pause, look at, and let go on",
        (
            messages.paused(ULTRAWORK).message,
            "omo status",
            "would be let go",
            messages.goes_on("understood as continue", ULTRAWORK).message,
        ),
    ),
    Pane(
        "client-stop",
        "Claude Code: stop ulw, typed while the agent works",
        (f"{messages.CANCELLED} {messages.ESC}",),
    ),
    Pane(
        "proof",
        "a change of omo's own, and what its tests hold of it",
        ("Held means that the tests notice when the hunk is gone, not that they check all it does.",),
        100,
    ),
)


CHANGE = "e1106884d9c644b44407c795d5e6cc911d4b5158"  # /omo:budget after a run speaks of the next one
CHANGE_TESTS = ("pytest", "-q", "tests/hooks/test_budget.py")


def draw_proof() -> None:
    with tempfile.TemporaryDirectory(prefix="omo picture ", dir="/tmp") as directory:
        terminal = Terminal(100, Path(directory))
        clone = terminal.scratch / "omo"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        subprocess.run(["git", "checkout", "-q", CHANGE], cwd=clone, check=True)
        shown = "omo proof --since HEAD~1 -- " + " ".join(CHANGE_TESTS)
        terminal.run(shown, OMO, "proof", "--since", "HEAD~1", "--", *CHANGE_TESTS, cwd=clone)
    (pane,) = (pane for pane in PANES if pane.name == "proof")
    picture = draw(Scene("proof", pane.title, pane.columns, status), terminal.screen)
    (PICTURES / "proof.svg").write_text(picture, encoding="utf-8")


CLIENTS_OWN = ("✢", "✳", "✶", "✻", "✽", "◐")  # how long a turn takes or took, and the effort that is set


def draw_pane(name: str, screen: str) -> None:
    """From the first prompt to the last answer: without the client's banner and its input box."""
    (pane,) = (pane for pane in PANES if pane.name == name)
    lines = normalised(screen).replace("⎿", "└").rstrip("\n").splitlines()  # which few fonts have
    plain = [Text.from_ansi(line).plain for line in lines]
    begin = next(number for number, line in enumerate(plain) if line.startswith("❯ "))
    rules = [number for number, line in enumerate(plain) if line.startswith("───")]
    shown = ""
    for number in range(begin, rules[-2]):
        if not plain[number].lstrip().startswith(CLIENTS_OWN):
            shown += lines[number].rstrip() + "\n"
    shown = shown.partition("\n\n\n\n")[0]  # below the empty rest of the screen the client gives a tip
    (PICTURES / f"{name}.svg").write_text(draw(Scene(name, pane.title, pane.columns, status), shown), encoding="utf-8")


def missing_from(pane: Pane) -> list[str]:
    """What omo would say, and the picture does not show; the client breaks lines as it likes."""
    path = PICTURES / f"{pane.name}.svg"
    if not path.exists():
        return list(pane.lines)
    text = "".join(unescape(" ".join(re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text("utf-8")))).split())
    return [line for line in pane.lines if "".join(line.split()) not in text]


def record(argv: tuple[str, ...], columns: int, home: Path, cwd: Path) -> str:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "OMO_ENV_HOME": os.environ.get("OMO_ENV_HOME", ""),
        "TMPDIR": "/tmp",  # what a command wraps must not depend on where this machine puts temporary files
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
    }
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, env=environ, cwd=cwd)
    os.close(slave)
    text = read_all(master)
    if process.wait() != 0:
        raise SystemExit(f"{' '.join(argv)} ended with {process.returncode}:\n{text}")
    return text


def read_all(master: int) -> str:
    parts = []
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # Linux says so when the last writer is gone
            part = b""
        if not part:
            break
        parts.append(part)
    os.close(master)
    return b"".join(parts).decode("utf-8").replace("\r\n", "\n")


def normalised(text: str) -> str:
    for pattern, normal in NORMAL:
        text = pattern.sub(normal, text)
    return text


def draw(scene: Scene, screen: str) -> str:
    console = Console(
        width=scene.columns,
        record=True,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        _environ={},
    )
    text = Text.from_ansi(screen.rstrip("\n"))
    for pattern, style in scene.marks:
        text.highlight_regex(pattern, style)
    for line in text.split("\n", allow_blank=True):
        for row in line.divide(range(scene.columns, len(line), scene.columns)):
            console.print(row, no_wrap=True, overflow="ignore", crop=False, highlight=False)
    svg = console.export_svg(title=scene.title, theme=THEME, code_format=TEMPLATE, unique_id=f"omo-{scene.name}")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def render(scene: Scene) -> str:
    with tempfile.TemporaryDirectory(prefix="omo picture ", dir="/tmp") as directory:
        terminal = Terminal(scene.columns, Path(directory))
        scene.play(terminal)
    return draw(scene, terminal.screen)


def main() -> int:
    if "--client" in sys.argv:
        tests = ["tests/e2e/test_interactive.py", "-m", "client", "-k", "picture", "-n", "0", "-q"]
        return subprocess.call([sys.executable, "-m", "pytest", *tests], cwd=ROOT, env={**os.environ, DRAW: "1"})
    # Built beforehand, because it talks about itself; a home of its own would have it built anew.
    home = os.environ.setdefault("OMO_ENV_HOME", os.path.expanduser("~/.cache/omo"))
    ensure = ["sh", str(ROOT / "hooks" / "environment.sh"), "ensure", home, str(ROOT / "requirements.txt")]
    subprocess.run(ensure, check=True, capture_output=True)
    if "--proof" in sys.argv:
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # which has pytest
        draw_proof()
        return 0
    stale = []
    for scene in SCENES:
        path, svg = PICTURES / f"{scene.name}.svg", render(scene)
        if "--check" not in sys.argv:
            path.write_text(svg, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != svg:
            stale.append(path.relative_to(ROOT))
    for name in stale:
        print(f"{name} is not what the terminal shows today: python docs/make_picture.py", file=sys.stderr)
    is_old = False
    for pane in PANES:
        for line in missing_from(pane):
            print(f"{pane.name}.svg does not show “{line}”: draw it anew", file=sys.stderr)
            is_old = True
    return 1 if stale or is_old else 0


if __name__ == "__main__":
    sys.exit(main())
