"""The criteria of a run, as a person or a model wrote them in a file. Every defect is told at once."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError

from omo.errors import BadInput
from omo.proof import documents, gate_runs, outputs
from omo.proof.checks import (
    Check,
    CommandCheck,
    Glob,
    JudgeCheck,
    MetricCheck,
    Text,
    dump,
    ids_of,
    parse_checks,
)
from omo.proof.evaluate import ChecksVerdict
from omo.proof.typed_commands import resolve
from omo.strict import Strict, defects_of
from omo.text import clip, counted
from omo.work.citations import without_quotations
from omo.workflows.ralph.rules import MOST_CRITERIA, Criterion

MOST_PATHS = 100
LONGEST_DESCRIPTION = 500
MOST_PROPOSED = 3
LONGEST_CHECK = 600.0  # seconds, as for a gate
EXAMPLE = (
    "criteria: [{id: C1, description: the tests pass, "
    "checks: [{type: command, argv: [python3, -m, pytest, -q]}], affected_paths: [src/**, tests/**]}]"
)


def _id(text: str) -> str:
    if not re.fullmatch(r"C[1-9][0-9]{0,3}", text):
        raise ValueError("must be C and a number, such as C1")
    return text


def _description(text: str) -> str:
    if not text.strip():
        raise ValueError("must say what is true when the work is done")
    return text


class CriterionForm(Strict):
    """Its checks are read by themselves, so that every defect of theirs is told with its own field."""

    id: Annotated[str, AfterValidator(_id)]
    description: Annotated[Text, AfterValidator(_description), Field(max_length=LONGEST_DESCRIPTION)]
    checks: Any = None
    affected_paths: list[Glob] = Field(default_factory=list, max_length=MOST_PATHS)
    guard: bool = False


class CriteriaFile(Strict):
    criteria: Annotated[list[CriterionForm], Field(min_length=1, max_length=MOST_CRITERIA)]


def commands_of(criteria: Sequence[Criterion]) -> list[CommandCheck | MetricCheck]:
    commands = []
    for criterion in criteria:
        for parsed in parse_checks(criterion.checks):
            if isinstance(parsed, (CommandCheck, MetricCheck)):
                commands.append(parsed)
    return commands


def named_checks(criteria: Sequence[Criterion], *, is_users: bool) -> list[tuple[str, Check | str, bool]]:
    checks = []
    for criterion in criteria:
        for number, parsed in enumerate(parse_checks(criterion.checks)):
            name = criterion.id if len(criterion.checks) == 1 else f"{criterion.id}.{number + 1}"
            checks.append((name, parsed, is_users))
    return checks


def load(path: Path) -> list[Criterion]:
    return parse(documents.load(path))


def parse(data: object) -> list[Criterion]:
    """Raises BadInput with every defect of the form; where there is none, with what they lack together."""
    forms: list[CriterionForm] = []
    defects: list[str] = []
    try:
        forms = CriteriaFile.model_validate(data).criteria
    except ValidationError as error:
        defects += defects_of(error, CriteriaFile)
    listed = data.get("criteria") if isinstance(data, dict) else None
    checks = []
    for index, item in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(item, dict):
            where = f"criteria[{index}]"
            checks.append(_checks(item.get("checks"), where, defects))
            defects += _opinions(str(item.get("description")), checks[-1], where)
    if defects:
        raise _bad(defects)
    criteria = []
    for form, pinned in zip(forms, checks, strict=True):
        is_guard = form.guard or all(check["guard"] for check in pinned)
        description = clip(form.description, LONGEST_DESCRIPTION)
        criteria.append(Criterion(form.id, description, pinned, form.affected_paths, is_guard))
    ids = [criterion.id for criterion in criteria]
    for name in dict.fromkeys(ids):
        if ids.count(name) > 1:
            defects.append(f"{name}: is there twice; ids must be unique")
    if all(criterion.guard for criterion in criteria):
        defects.append("criteria: every one is a guard, so none can show that work was done; add one that fails now")
    if defects:
        raise _bad(defects)
    return criteria


def proposed(root: str, head: str | None, cwd: str) -> list[Criterion]:
    """One for each check that the project's own files name, the best first."""
    from omo.proof import project_checks, project_files

    checks = []
    path = os.environ.get("PATH", "")
    for check in project_checks.suggest(project_files.files_at(root, head), cwd):
        is_there = resolve(check.argv[0], os.path.join(root, check.cwd), path)
        if is_there or check.kind in ("", project_checks.TESTS):  # a checker that is not installed could never pass
            checks.append(check)
    criteria = []
    for number, check in enumerate(checks[:MOST_PROPOSED], start=1):
        command = {"id": check.name, "type": "command", "argv": check.argv, "cwd": check.cwd, "timeout": LONGEST_CHECK}
        description = clip(f"{shlex.join(check.argv)} passes, as {check.found_in} has it", LONGEST_DESCRIPTION)
        pinned: list[Any] = [dump(each) for each in parse_checks([command])]
        criteria.append(Criterion(f"C{number}", description, pinned, [], False))
    return criteria


def finding_modules(root: str, wanted: Sequence[Criterion], seen: Mapping[str, ChecksVerdict]) -> dict[str, Criterion]:
    """By its id each that fails for want of a module of the project's own, with the command that finds it: "tests that
    find the package only where they are started"."""
    found = {}
    for criterion in wanted:
        printed = "\n".join(check.observed for check in seen[criterion.id].checks)
        ran = gate_runs.CommandRun("", seen[criterion.id].verdict, missing=outputs.read_printed(printed, 1).missing)
        for command in commands_of([criterion]):
            if argv := gate_runs.started_otherwise(command, ran, root):
                description = criterion.description.replace(shlex.join(command.argv), shlex.join(argv), 1)
                checks: list[Any] = [{**each, "argv": argv} for each in criterion.checks]
                found[criterion.id] = replace(criterion, description=description, checks=checks)
    return found


def _bad(defects: list[str]) -> BadInput:
    return BadInput(
        f"the criteria have {counted(len(defects), 'defect')}",
        fix=f"mend them in the file, then omo ralph start --criteria FILE again; its form: {EXAMPLE}",
        defects=[clip(defect, 600) for defect in defects],
    )


def _checks(value: object, where: str, defects: list[str]) -> list[Any]:
    """As the ledger keeps them, each with an id; none where they are not in the form.

    A check in plain words is a question to the judge.
    """
    if value is None or value == []:
        missing = "a criterion needs at least one check; a judge check where no machine can decide"
        defects.append(f"{where}.checks: {missing}")
        return []
    try:
        listed = parse_checks(value)
    except BadInput as error:
        defects += [f"{where}.{line}" for line in error.details["defects"]]  # type: ignore[attr-defined]
        return []
    checks = []
    for name, check in zip(ids_of(listed), listed, strict=True):
        checks.append(dump(JudgeCheck(id=name, question=check) if isinstance(check, str) else check))
    return checks


def _opinions(description: str, checks: list[Any], where: str) -> list[str]:
    """What of a criterion is a matter of opinion: its description, and the questions it puts to the judge."""
    types = {check["type"] for check in checks if check["type"] != "judge"}
    decided_by = {"code"} if types else set()
    if types & {"command", "metric"}:
        decided_by.add("command")
    if not checks:  # without them only taste is surely no fact
        decided_by = {"code", "command"}
    defects = []
    opinion = subjective(description, decided_by)
    if opinion:
        defects.append(f"{where}.description: {opinion}")
    for index, check in enumerate(checks):
        opinion = subjective(str(check.get("question") or ""), decided_by & {"code"})
        if opinion:
            defects.append(f"{where}.checks[{index}].question: {opinion}")
    return defects


# Words that nobody can check, how to say instead what would be seen, and what makes a fact of it all the same. Nothing
# does of taste and of claims over everything; a command or a number decides what is vague, absolute or a degree; a
# conclusion is decided where code checks something, and only asks a judge for an opinion.
_CONCLUDING = r"(?:nice|clear|correct|complete|clean|fine|comprehensive|consistent|well[- ]written|done)"
_QUALITY = r"(?:robust|secure|reliable|stable|simple|easy|maintainable|readable|flexible|extensible)"
OPINIONS: tuple[tuple[str, str, str], ...] = (
    (r"looks?(?: and feels?)? (?:good|great|nice|right|fine|ok(?:ay)?|professional|modern|polished|clean)|"
     r"(?:beautiful|pretty|elegant|attractive|stylish)(?:ly)?\b|good[- ]looking|(?:is|are|be) (?:modern|sensible)\b|"
     r"nicer\b|"
     r"(?:clean|good|nice|high[- ]quality|beautiful|elegant|idiomatic|readable|maintainable|well[- ]structured) code\b|"
     r"code (?:is|looks) (?:clean|good|nice|readable|maintainable|elegant)|code quality (?:is|improves|must be)|"
     r"user[- ]friendly|easy to use|intuitive|(?:good|great|nice|pleasant|better) (?:user experience|ux|ui)\b|"
     r"best practices?|industry standards?|production[- ](?:ready|grade|quality)|state of the art|"
     r"professional quality|"
     r"(?:is|are|be|works?) (?:good|great|nice|perfect|excellent|satisfactory|acceptable)\b|makes? sense\b|"
     r"makes? (?:it|this|them) better\b|feels? \w+|"
     r"(?:is|are) (?:the |this |its? )(?:[\w.-]+ ){1,5}?(?:good|great|nice|excellent)\s*(?:$|[.,;:!?])|"
     r"(?:the )?(?:user|customer|client|team|stakeholders?) (?:is|are|will be) (?:happy|satisfied|pleased)|"
     r"(?:completely|fully|100 ?%|totally|perfectly) (?:secure|safe|tested|correct|reliable)|"
     r"\b(?:and so on|and more|as (?:appropriate|needed|necessary))\b|\betc\b",
     "say each thing that is meant, as it can be seen or run, such as: at 390 px width no text is cut off", ""),
    (r"(?:no|zero|without(?: any)?) (?:more |known )?(?:bugs|defects)\b|"
     r"(?:there (?:is|are)|has|have|with) (?:no|zero) (?:more )?(?:errors|issues|problems)\s*(?:$|[.,;!]|left|at all)|"
     r"(?:bug|error|defect)[- ]free|never (?:fails|crashes|breaks)|"
     r"(?:works?|behaves?|functions?|performs?|runs?) (?:as (?:expected|intended|desired|it should)|"
     r"(?:correctly|properly|well|fine|smoothly|perfectly|flawlessly)\s*(?:$|[.,;!]))|everything works|gracefully\b|"
     rf"(?:is|are|be) (?:very |really |more |much |reasonably )?{_QUALITY}\b|{_QUALITY} (?:and|or|enough)\b|"
     r"well[- ](?:tested|documented)|"
     r"(?:fast|quick|responsive|performant|snappy|efficient|scalable|lightweight|small|short|thorough|comprehensive|"
     r"sufficient|adequate|reasonable)(?:ly)? enough|"
     r"(?:is|are|be|loads?|runs?|responds?|starts?|feels?) (?:very |really |more |much |reasonably )?"
     r"(?:fast(?:er)?|quick(?:ly|er)?|slow|responsive|performant|efficient(?:ly)?|scalable|lightweight)\b|"
     r"improves? (?:the )?(?:performance|speed|quality|readability)|"
     r"(?:good|better|improved|acceptable|reasonable|high) (?:\w+ )?(?:performance|coverage|quality|speed|latency|"
     r"readability)",
     "name the cases that must hold and the command that shows each, or the number and how it is measured", "command"),
    (rf"(?:is|are|be) (?:\w+ ){{0,2}}?{_CONCLUDING}\s*(?:$|[.,;:!?]|and\b|or\b|enough\b)|"
     rf"(?:is|are) (?:the |this |it |its |all )(?:[\w.-]+ ){{0,5}}?{_CONCLUDING}\s*(?:$|[.,;:!?]|and\b)|"
     r"(?:it|the app|app|the feature|feature|everything|all) (?:now )?works?\s*(?:$|[.,;:!?])|"
     r"does (?:it|the app|the feature|everything) work\s*(?:$|[.,;:!?])|"
     r"all (?:the |possible )?edge[- ]cases|(?:done|handled|implemented) (?:properly|correctly)",
     "say what somebody would find there, such as: the section Use says which command to run first", "code"),
)  # fmt: skip


def subjective(text: str, decided_by: Collection[str] = ("code",)) -> str:
    """What of a text cannot be checked, and what to write instead; empty where all of it can.

    `decided_by` is what decides it beside a judge: code, and of that a command.
    """
    plain = without_quotations(text)
    facts = {*decided_by}
    if re.search(r"\b\d", plain):
        facts.add("command")
    for pattern, instead, fact in OPINIONS:
        match = re.search(rf"\b(?:{pattern})", plain, re.I)
        if match and fact not in facts:
            return f"{clip(match[0].strip(' .,;!'), 60)!r} cannot be checked; {instead}"
    return ""
