"""One evaluator for every workflow: checks and a tree in, pass, fail or unknown out. It never raises on a check."""

from __future__ import annotations

import ast
import json
import math
import os
import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import yaml

from omo import masking, safe_open, table
from omo.errors import BadInput, NotEvaluable, OmoError
from omo.json_text import refuse_constant
from omo.proof import changes, globs, outputs, patterns, reading
from omo.proof.checks import (
    Check,
    CommandCheck,
    CommitCheck,
    ContentCheck,
    ForbiddenCheck,
    JudgeCheck,
    MetricCheck,
    PathCheck,
    ScopeCheck,
    SyntaxCheck,
    digest_of_check,
    ids_of,
)
from omo.proof.run import CommandOutcome, run
from omo.text import clip, counted, listed

if TYPE_CHECKING:
    from omo.state.rows import Base

Result = Literal["pass", "fail", "unknown"]

LARGEST_READ = 8_000_000
LARGEST_PARSED = 2_000_000
MOST_FILES = 2_000
OUTPUT_LIMIT = 1_000_000
SEARCH_SECONDS = 60.0
SYNTAX_SECONDS = 30.0
LONGEST_OBSERVED = 500


@dataclass(frozen=True)
class CheckedTree:
    """What checks are evaluated on.

    `pinned` has the checks whose commands may run, by digest, and the base that each was pinned at. `inputs` are files
    that ask for the evaluation, such as the checks file itself; changing them is not leaving the scope.
    `searching` is the time for regular expressions; each evaluation begins with a whole one.
    """

    root: Path
    pinned: Mapping[str, str | None] = field(default_factory=dict)
    inputs: frozenset[str] = frozenset()
    searching: patterns.SearchTime = field(default_factory=lambda: patterns.SearchTime(SEARCH_SECONDS), compare=False)


@dataclass(frozen=True)
class Observation:
    id: str
    type: str
    result: Result
    reason: str
    observed: str
    guard: bool = False

    @property
    def is_vacuous(self) -> bool:
        """Meaningful before the work only: what passes then and is no guard proves nothing about the work."""
        return self.result == "pass" and not self.guard


@dataclass(frozen=True)
class ChecksVerdict:
    verdict: Result
    flags: list[str]
    checks: list[Observation]

    @property
    def passes(self) -> str:
        """1 of 1 check passes; empty where none does."""
        passed = sum(check.result == "pass" for check in self.checks)
        verb = "passes" if len(self.checks) == 1 else "pass"
        return f"{passed} of {counted(len(self.checks), 'check')} {verb}" if passed else ""


class CheckFinding(NamedTuple):
    result: Result
    reason: str
    observed: str = ""


def evaluate(checks: Sequence[Check | str], tree: CheckedTree) -> ChecksVerdict:
    tree = replace(tree, searching=patterns.SearchTime(SEARCH_SECONDS))
    observations = [_observe(check, name, tree) for check, name in zip(checks, ids_of(checks), strict=True)]
    by_code = [observation.result for observation in observations if observation.type != "string"]
    are_in_words = len(by_code) < len(observations)
    flags = []
    if not by_code:
        flags.append("checks_empty")
    if "fail" in by_code:
        flags.append("checks_failed")
    if "unknown" in by_code:
        flags.append("checks_unevaluable")
    if are_in_words:
        flags.append("has_string_checks")
    verdict: Result = "pass"
    if "fail" in by_code:
        verdict = "fail"
    elif "unknown" in by_code or are_in_words or not observations:
        verdict = "unknown"
    return ChecksVerdict(verdict, flags, observations)


def _observe(check: Check | str, name: str, tree: CheckedTree) -> Observation:
    if isinstance(check, str):
        reason = "a question in words: only judgement can answer it"
        return Observation(name, "string", "unknown", reason, clip(check, LONGEST_OBSERVED))
    result, reason, observed = _evaluate(check, tree)
    reason, observed = clip(reason, LONGEST_OBSERVED), clip(observed, LONGEST_OBSERVED)
    return Observation(name, check.type, result, reason, observed, check.guard)


def _evaluate(check: Check, tree: CheckedTree) -> CheckFinding:
    try:
        return _EVALUATORS[check.type](check, tree)
    except _NoFile as error:
        return CheckFinding("fail", str(error))
    except patterns.TooSlow:
        return CheckFinding("unknown", "its regex, or those before it, take too long; write it without nested repeats")
    except (NotEvaluable, BadInput) as error:
        fix = f"; {error.fix}" if error.fix else ""
        return CheckFinding("unknown", error.message + fix)
    except OSError as error:
        return CheckFinding("unknown", f"cannot be read: {error}")
    except Exception as error:  # the boundary: an evaluator that fails is no verdict on the work
        why = error.message if isinstance(error, OmoError) else f"{type(error).__name__}: {error}"
        return CheckFinding("unknown", f"omo could not evaluate it: {why}")


def _path(check: PathCheck, tree: CheckedTree) -> CheckFinding:
    matches = globs.find(tree.root, check.path)
    observed = listed(matches.paths + matches.strays)
    if check.absent:
        if matches.paths or matches.strays:
            return CheckFinding("fail", f"{check.path} must be gone and is there", observed)
        return CheckFinding("pass", f"{check.path} is gone")
    counted = f"{len(matches.paths)} found, {check.min_count} needed"
    if len(matches.paths) >= check.min_count:
        return CheckFinding("pass", counted, observed)
    return CheckFinding("fail", f"{counted}: {check.path}{_about(matches.strays)}", observed)


def _about(strays: Sequence[str]) -> str:
    return f"; links that are broken or lead out of the project do not count: {listed(strays)}" if strays else ""


class _NoFile(Exception):
    pass


def _files(tree: CheckedTree, glob: str) -> list[str]:
    """The files a content or syntax check is about, at least one."""
    matches = globs.find_files(tree.root, glob)
    if not matches.paths:
        raise _NoFile(f"no file is named by {glob}{_about(matches.strays)}")
    if len(matches.paths) > MOST_FILES:
        raise NotEvaluable(f"{glob} names more than {MOST_FILES} files", fix="name a narrower glob")
    return matches.paths


def _content(check: ContentCheck, tree: CheckedTree) -> CheckFinding:
    """Each file has the pattern, has not, or is too large to tell; `any` asks for one file, else all must agree."""
    paths = _files(tree, check.path)
    good, bad, unclear = [], [], []
    for path in paths:
        raw, is_whole = _read(tree.root, path, LARGEST_READ)
        has_it = tree.searching.found(check.regex, raw.decode("utf-8-sig", "replace").replace("\r\n", "\n"))
        if not has_it and not is_whole:
            unclear.append(path)
        elif has_it is check.absent:
            bad.append(path)
        else:
            good.append(path)
    wish = f"{'without' if check.absent else 'with'} /{clip(check.regex, 80)}/"
    if good and (check.any or len(good) == len(paths)):
        return CheckFinding("pass", f"{len(good)} of {len(paths)} files {wish}", listed(good))
    if bad and not (check.any and unclear):
        return CheckFinding("fail", f"{len(good)} of {len(paths)} files {wish}", f"not: {listed(bad)}")
    reason = f"larger than {LARGEST_READ} bytes, only the beginning was read"
    return CheckFinding("unknown", reason, listed(unclear))


def _read(root: Path, path: str, largest: int) -> tuple[bytes, bool]:
    """The first bytes of a file of the project, and whether they are all. A link or pipe put there now is refused."""
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path))
    if not globs.is_inside(top, real):
        raise NotEvaluable(f"{path} leads out of the project", fix="put the file itself there")
    try:
        return safe_open.read_start(real, largest)
    except safe_open.NotAFile:
        raise NotEvaluable(f"{path} is no file", fix="put a file there") from None


def _judged(check: CommandCheck | MetricCheck, outcome: CommandOutcome, searching: patterns.SearchTime) -> CheckFinding:
    if isinstance(check, MetricCheck):
        return _measured(check, outcome)
    if outcome.exit_code != check.exit:
        printed = outputs.printed_by(outcome)
        reasons = [f"{_ending(outcome)}, {check.exit} needed", printed.not_here or printed.quoted]
        return CheckFinding("fail", ": ".join(filter(None, reasons)), _said(outcome))
    if check.stdout is None or searching.found(check.stdout, outcome.stdout.replace("\r\n", "\n")):
        return CheckFinding("pass", _ending(outcome), _said(outcome))
    if outcome.stdout_truncated:
        return CheckFinding(
            "unknown",
            f"/{clip(check.stdout, 80)}/ is not in the part of the output that was kept ({OUTPUT_LIMIT} bytes)",
            _said(outcome),
        )
    return CheckFinding("fail", f"{_ending(outcome)}, but its output has no /{clip(check.stdout, 80)}/", _said(outcome))


def _command(check: CommandCheck | MetricCheck, tree: CheckedTree) -> CheckFinding:
    if digest_of_check(check) not in tree.pinned:
        reason = "its command is not pinned, or was edited after it was"
        for row in table.ROWS:
            if row.files_checks:
                reason += f"; filing it again ({row.files_checks}) pins it"
        return CheckFinding("unknown", reason, json.dumps(check.argv, ensure_ascii=False))
    where = globs.directory_inside(tree.root, check.cwd)
    if not where.is_dir():
        return CheckFinding("fail", f"its directory {check.cwd} is not there")
    outcome = run(check.argv, cwd=where, timeout=check.timeout, output_limit=OUTPUT_LIMIT)
    began: Base = {"head": tree.pinned[digest_of_check(check)]}
    shadows = reading.shadows(str(tree.root), began, check, {})
    result, why = outputs.result_of(outcome, outputs.printed_by(outcome), shadows)
    if result == "unknown":
        return CheckFinding("unknown", why, _said(outcome))
    return _judged(check, outcome, tree.searching)


def _ending(outcome: CommandOutcome) -> str:
    return f"exit {outcome.exit_code}" if outcome.exit_code is not None else f"ended by signal {outcome.signal}"


def _said(outcome: CommandOutcome) -> str:
    """The end of what it printed: that is where programs say how it went."""
    end = (outcome.stdout + outcome.stderr).strip()[-4 * LONGEST_OBSERVED :]
    return clip(masking.mask(end, outcome.argv)[-LONGEST_OBSERVED:], LONGEST_OBSERVED)


def _syntax(check: SyntaxCheck, tree: CheckedTree) -> CheckFinding:
    paths = _files(tree, check.path)
    problems = {}
    end = time.monotonic() + SYNTAX_SECONDS
    for path in paths:
        if time.monotonic() > end:
            raise NotEvaluable(f"parsing all of {check.path} takes too long", fix="name a narrower glob")
        if problem := _syntax_problem(tree.root, path, check.language):
            problems[path] = problem
    if problems:
        path, problem = next(iter(problems.items()))
        return CheckFinding(
            "fail", f"{len(problems)} of {len(paths)} files are not {check.language}", f"{path}: {problem}"
        )
    return CheckFinding("pass", f"{len(paths)} files are {check.language}", listed(paths))


def _syntax_problem(root: Path, path: str, language: str) -> str:
    """Why a file is not of the language; empty where it is."""
    if language in ("bash", "sh"):
        return _shell_problem(root, path, language)
    raw, is_whole = _read(root, path, LARGEST_PARSED)
    if not is_whole:
        raise NotEvaluable(f"{path} is larger than {LARGEST_PARSED} bytes", fix="check smaller files")
    try:
        if language == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(raw)
        elif language == "json":
            json.loads(raw.decode("utf-8-sig"), parse_constant=refuse_constant)
        else:
            loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
            for _ in yaml.parse(raw, Loader=loader):  # events only: nothing is built, so no alias can blow up
                pass
    except (SyntaxError, ValueError, yaml.YAMLError) as error:
        return str(error)
    except (RecursionError, MemoryError):
        raise NotEvaluable(f"{path} is nested too deeply to be parsed") from None
    return ""


def _shell_problem(root: Path, path: str, program: str) -> str:
    _read(root, path, 1)
    real = os.path.realpath(os.path.join(root, path))
    outcome = run([program, "-n", real], cwd=root, timeout=SYNTAX_SECONDS)
    if outcome.not_found or outcome.timed_out:
        raise NotEvaluable(f"{program} is missing or gave no answer", fix=f"install {program}")
    return "" if outcome.ok else masking.mask(outcome.stderr.replace(real, path)).strip() or _ending(outcome)


def _base(check: Check, tree: CheckedTree) -> str:
    base = tree.pinned.get(digest_of_check(check))
    if not base:
        raise NotEvaluable("there is no base to compare with", fix="file it again, which takes HEAD for the base")
    return changes.resolve(tree.root, base)


def _commit(check: CommitCheck, tree: CheckedTree) -> CheckFinding:
    base = _base(check, tree)
    subjects = changes.subjects(tree.root, base)
    for subject in subjects:
        if tree.searching.found(check.subject, subject):
            return CheckFinding("pass", f"a commit since {base[:12]} has that subject", subject)
    reason = f"none of {len(subjects)} commits since {base[:12]} has a subject like /{clip(check.subject, 80)}/"
    return CheckFinding("fail", reason, "; ".join(clip(subject, 80) for subject in subjects[:5]))


def _forbidden(check: ForbiddenCheck, tree: CheckedTree) -> CheckFinding:
    base = _base(check, tree)
    changed = [path for path in changes.changed(tree.root, base) if _is_covered(path, check.paths)]
    if changed:
        return CheckFinding("fail", f"changed since {base[:12]} and must not be", listed(changed))
    return CheckFinding("pass", f"unchanged since {base[:12]}", listed(check.paths))


def _scope(check: ScopeCheck, tree: CheckedTree) -> CheckFinding:
    base = _base(check, tree)
    changed = [path for path in changes.changed(tree.root, base) if path not in tree.inputs]
    outside = [path for path in changed if not _is_covered(path, check.touch)]
    if outside:
        return CheckFinding("fail", f"changed since {base[:12]} outside {listed(check.touch)}", listed(outside))
    return CheckFinding("pass", f"{len(changed)} paths changed since {base[:12]}, all inside", listed(changed))


def _is_covered(path: str, wanted: Sequence[str]) -> bool:
    return any(globs.covers(path, glob) for glob in wanted)


def judge_of(check: CommandCheck | MetricCheck) -> Callable[[CommandOutcome], tuple[str, str]]:
    """Whether a run of the check's command passes it, for the experiment."""

    def judge(outcome: CommandOutcome) -> tuple[str, str]:
        finding = _judged(check, outcome, patterns.SearchTime(SEARCH_SECONDS))
        return finding.result, finding.reason

    return judge


def _measured(check: MetricCheck, outcome: CommandOutcome) -> CheckFinding:
    value = _extract(check, outcome)
    if value is None:
        return CheckFinding("unknown", f"{_ending(outcome)}: no {check.extract} to be had", _said(outcome))
    bounds, is_inside = [], True
    if check.min is not None:
        bounds.append(f"at least {check.min:g}")
        is_inside = value >= check.min
    if check.max is not None:
        bounds.append(f"at most {check.max:g}")
        is_inside = is_inside and value <= check.max
    return CheckFinding("pass" if is_inside else "fail", f"{value:g}, needed {' and '.join(bounds)}", f"{value:g}")


def _extract(check: MetricCheck, outcome: CommandOutcome) -> float | None:
    """A number that was measured; None where the command failed or printed none."""
    if check.extract == "exit_code":
        return outcome.exit_code
    if not outcome.ok or outcome.stdout_truncated:
        return None
    text = outcome.stdout.strip()
    if check.extract == "json_length":
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
        return len(value) if isinstance(value, (list, dict)) else None
    form = r"[+-]?\d{1,300}" if check.extract == "stdout_int" else r"[+-]?(\d{1,300}\.?\d*|\.\d+)([eE][+-]?\d{1,3})?"
    if not re.fullmatch(form, text, re.ASCII):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def _judge(check: JudgeCheck, tree: CheckedTree) -> CheckFinding:
    return CheckFinding("unknown", "no independent agent has answered it yet", check.question)


_EVALUATORS: Mapping[str, Callable[[Any, CheckedTree], CheckFinding]] = {
    "path": _path,
    "content": _content,
    "command": _command,
    "syntax": _syntax,
    "commit": _commit,
    "forbidden": _forbidden,
    "scope": _scope,
    "metric": _command,
    "judge": _judge,
}
