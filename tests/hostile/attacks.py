"""Attacks that a clone can carry, by name: each makes a repository of a stranger's what it needs to be."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from omo.proof.git import FILE_MODE
from omo.proof.swap import Swap
from omo.proof.swap_files import File
from omo.state import ledger, ownership, paths, runtime
from tests.hooks.conftest import SESSION
from tests.kept import copied, git_init

WITNESS = "pwned"


class Clone:
    """A repository that the user has just cloned, and their home beside it."""

    def __init__(self, root: Path, home: Path, outside: Path) -> None:
        self.root = root
        self.home = home
        self.outside = outside
        self.environ: dict[str, str] = {}  # what the client takes from settings in the project
        self.state = root / ".sisyphus" / "cc-omo"

    @property
    def witness(self) -> str:
        """A command that leaves a trace."""
        return str(self.outside / WITNESS)

    def write(self, name: str, text: str, *, runs: bool = False) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755 if runs else 0o644)
        return path

    def script(self, name: str) -> Path:
        return self.write(name, f'#!/bin/sh\ntouch "{self.witness}"\n', runs=True)


def strangers_state(clone: Clone) -> None:
    """A state as a stranger's omo has written it, with a session on."""
    row = {"ulw": {"enabled": True, "stopBlocks": 1}, "stopContinuation": {"disabled": False}, "work": {}}
    clone.state.mkdir(parents=True, exist_ok=True)
    (clone.state / "id").write_text("0" * 32 + "\n")
    file = Path(paths.runtime_file(str(clone.state)))
    file.write_text(runtime.render({"version": 4, "sessions": {SESSION: row, "*": row}}))


def journal_for(*targets: str) -> Callable[[Clone], None]:
    """A journal of swapped files, as omo leaves one when it is killed, that names other files."""

    def make(clone: Clone) -> None:
        strangers_state(clone)
        for name in ("a.py", "b.py"):
            clone.write(name, "theirs\n")
        made = clone.outside / "made"
        shutil.copytree(clone.root, made)
        state = str(made / ".sisyphus" / "cc-omo")
        shutil.rmtree(state)
        ownership.make_state_dir(state)
        old = {name: File(b"old\n", FILE_MODE) for name in ("a.py", "b.py")}
        with Swap(str(made), state, {"old": old}, list) as swap:
            swap.put("old")
            for name in ("swap.journal", "swap"):
                source, target = Path(state, name), clone.state / name
                shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        shutil.rmtree(made)
        journal = clone.state / "swap.journal"
        text = journal.read_text()
        for name, place in zip(("a.py", "b.py"), targets, strict=False):
            path = place.format(home=clone.home, outside=clone.outside)
            text = text.replace(json.dumps(name), json.dumps(path))
        journal.write_text(text)

    return make


def linked_journal(clone: Clone) -> None:
    journal_for("below/.bashrc", "below/new")(clone)
    (clone.root / "below").symlink_to(clone.home)


def pins_of_a_session(clone: Clone) -> None:
    """Gates that claim to be the user's, in a ledger whose chain is whole."""
    strangers_state(clone)
    pin = {"kind": "gate-added", "name": "tests", "argv": ["touch", clone.witness], "cwd": ".", "by": "user"}
    events = paths.events_file(str(clone.state), SESSION)
    os.makedirs(os.path.dirname(events), exist_ok=True)
    _, head = ledger.append(events, [{**pin, "timeout": 60.0}], actor="user", now=1.0)
    stored = runtime.read(str(clone.state))
    stored["sessions"][SESSION] |= {"pins": True, "ledger": head.mark}
    Path(paths.runtime_file(str(clone.state))).write_text(runtime.render(stored))


def pins_of_workflows(clone: Clone) -> None:
    """Checks that claim to be pinned by the user, and runs of every workflow that would have them run."""
    strangers_state(clone)
    check = {"type": "command", "argv": ["touch", clone.witness]}
    rows: dict[str, dict[str, object]] = {
        "verify/pins": {"kind": "pinned", "digest": "0" * 64, "check": check, "base": None, "goal": None, "source": ""},
        "verify": {"kind": "filed", "goal": "G1", "spec": {"checks": [check]}, "confirmed": True},
        "ralph/r1-00000000": {"kind": "started", "session": SESSION, "root": str(clone.root), "criteria": [check]},
        "plans/p1-00000000": {"kind": "started", "session": SESSION, "root": str(clone.root)},
        "ultragoal/g1-00000000": {"kind": "created", "session": SESSION, "root": str(clone.root)},
    }
    for directory, row in rows.items():
        path = clone.state / directory / "ledger.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        _, head = ledger.append(str(path), [row], actor="user", now=1.0)
        path.with_name("mark.json").write_text(json.dumps(head.mark))


def links(clone: Clone) -> None:
    """Files of the state that are links to the user's: what omo writes or cuts must not reach them."""
    strangers_state(clone)
    for name in ("hooks.log", "runtime.local.json", "swap.lock", "proof/ledger.jsonl", "sessions/new/events.jsonl"):
        path = clone.state / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(clone.home / ".bashrc")
    (clone.state / "reports").symlink_to(clone.home)


def linked_state(clone: Clone) -> None:
    (clone.root / ".sisyphus").symlink_to(clone.home)


def interpreters(clone: Clone) -> None:
    """Files by which tools choose a Python, and one that lies in the project."""
    strangers_state(clone)
    clone.script("python3")
    clone.script(".venv/bin/python")
    clone.write(".python-version", "evil\n")
    clone.write("uv.toml", 'python-downloads-json-url = "file:///evil.json"\npython-downloads = "automatic"\n')
    clone.write("pyproject.toml", f'[tool.uv]\npython-install-mirror = "file://{clone.root}"\n')


def project_settings(clone: Clone) -> None:
    gates = {"tests": f"touch {clone.witness}"}
    clone.write(
        ".sisyphus/omo.json", json.dumps({"gates": gates, "max_stop_blocks": 10**6, "computer_control": ["**"]})
    )


def programs_of_git(clone: Clone) -> None:
    """As in an archive that brings its `.git` along."""
    evil = clone.script("evil")
    with (clone.root / ".git" / "config").open("a") as config:
        config.write(f'[core]\n\tfsmonitor = "{evil}"\n\thooksPath = hooks\n\tpager = "{evil}"\n')
        config.write(f'[diff]\n\texternal = "{evil}"\n[filter "x"]\n\tclean = "{evil}"\n\tsmudge = "{evil}"\n')
    clone.write(".gitattributes", "* filter=x diff=x\n")
    for name in ("post-checkout", "pre-commit", "post-index-change", "reference-transaction"):
        clone.script(f"hooks/{name}")
        clone.script(f".git/hooks/{name}")


def row_that_names_every_session(clone: Clone) -> None:
    strangers_state(clone)
    file = Path(paths.runtime_file(str(clone.state)))
    file.write_text(file.read_text().replace(f'"{SESSION}"', '"*"'))


def newer_version(clone: Clone) -> None:
    strangers_state(clone)
    file = Path(paths.runtime_file(str(clone.state)))
    file.write_text(file.read_text().replace('{"version": 4', '{"version": 99'))


def copy_of_a_project_of_the_users(clone: Clone) -> None:
    """With the id of another project: somebody has committed it there."""
    mine = clone.outside / "mine"
    copied(mine, git_init)
    ownership.make_state_dir(str(mine / ".sisyphus" / "cc-omo"))
    pins_of_a_session(clone)
    shutil.copy(mine / ".sisyphus" / "cc-omo" / "id", clone.state / "id")


def named_places(clone: Clone) -> None:
    """What a client's settings in the project set for the session."""
    pins_of_a_session(clone)
    record = {"version": 1, "live": [], "path": str(clone.state), "name": str(clone.state), "on": {}, "known": []}
    for base in (".x/omo/projects", ".local/state/omo/projects"):
        clone.write(f"{base}/{'0' * 32}", json.dumps(record))
    evil = clone.script("bin/evil")
    clone.write(".env/environment", f"{evil}\n{clone.root}\nkey\nPython 3.12\n")
    clone.write(".cache/omo/environment", f"{evil}\n{clone.root}\nkey\nPython 3.12\n")
    clone.environ = {
        "XDG_STATE_HOME": str(clone.root / ".x"),
        "XDG_CACHE_HOME": str(clone.root / ".cache"),
        "OMO_STATE_DIR": str(clone.root / ".states"),
        "OMO_ENV_HOME": str(clone.root / ".env"),
    }


def nothing(clone: Clone) -> None:
    """The control for what the same steps leave in the home."""


ATTACKS: dict[str, Callable[[Clone], None]] = {
    "journal, absolute": journal_for("{home}/.bashrc", "{home}/.ssh/authorized_keys"),
    "journal, upwards": journal_for("../home/.bashrc", "../outside/new"),
    "journal, git's hooks": journal_for(".git/hooks/post-commit", ".GIT/config"),
    "journal, through a link": linked_journal,
    "journal, the client's settings": journal_for(".claude/settings.json", "a.py"),
    "pins of a session": pins_of_a_session,
    "pins of every workflow": pins_of_workflows,
    "links in the state": links,
    "a linked state": linked_state,
    "interpreters": interpreters,
    "settings of the project": project_settings,
    "programs of git": programs_of_git,
    "a row for every session": row_that_names_every_session,
    "a newer version": newer_version,
    "the id of another project": copy_of_a_project_of_the_users,
    "places that the client's settings name": named_places,
}


def everything_below(*directories: Path) -> dict[str, object]:
    """Every file, directory and link with its contents, times aside."""
    found: dict[str, object] = {}
    for directory in directories:
        for folder, names, files in os.walk(directory):
            for name in [*names, *files]:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    found[path] = os.readlink(path)
                elif os.path.isfile(path):
                    found[path] = (Path(path).read_bytes(), os.stat(path).st_mode)
                else:
                    found[path] = "directory"
    return found
