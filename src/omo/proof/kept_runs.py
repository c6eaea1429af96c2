"""Runs of a command kept under all that they depend on, in the project's state or where the caller says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from omo import __version__
from omo.digest import sha256
from omo.errors import BadInput
from omo.json_text import dumps
from omo.proof import gate_runs, git
from omo.proof.arrangements import key_of, kinds_of
from omo.proof.gate_runs import CommandRun, GateCommand, Subject
from omo.proof.swap_files import Arrangement, File
from omo.proof.typed_commands import command_id
from omo.state import paths, store
from omo.state.results import Results

LONGEST_TAIL = 400  # of what a kept run printed


class KeptRuns:
    """Those of one command on one change. If earlier runs do not count for the subject, none is read and none kept."""

    def __init__(self, subject: Subject, command: GateCommand, before: Mapping[str, File], cache: str | None) -> None:
        self._changed = subject.look.changed or {}
        self._before = before
        self._results: Results | None = None
        if cache is not None and paths.is_inside(cache, paths.top_of(subject.root)):
            raise BadInput(f"--cache {cache} lies in the checkout", fix="name a directory outside of it")
        if not subject.remembers:
            return
        directory = paths.results_dir(subject.state) if cache is None else cache
        self._results = Results(directory, subject.state if cache is None else None)
        self._results.prune()
        self._kinds = kinds_of(subject, command)
        began = subject.began
        tree = git.ask(subject.root, "rev-parse", f"{began['head']}^{{tree}}").strip() if began["head"] else ""
        environment = gate_runs.environment_id(subject.environ)
        of_command = command_id(command.argv, command.cwd)
        self._around = [__version__, of_command, environment, tree, sorted(began["files"].items())]

    def find(self, put: Arrangement) -> CommandRun | None:
        row = self._results.get(self._key(put)) if self._results is not None else None
        if row is None:
            return None
        try:
            return gate_runs.run_of(row)
        except (TypeError, ValueError):
            return None

    def keep(self, put: Arrangement, run: CommandRun) -> None:
        """Keep a run, but for one that was killed or took too long: another may say more."""
        if self._results is None or run.result == "unknown" or run.timed_out or run.why_nothing:
            return
        self._results.put(self._key(put), gate_runs.as_row(replace(run, tail=run.tail[-LONGEST_TAIL:], ran={})))

    def _key(self, put: Arrangement) -> str:
        files = key_of(self._changed, self._kinds, put, self._before)
        return sha256(store.encode(dumps([*self._around, files])))
