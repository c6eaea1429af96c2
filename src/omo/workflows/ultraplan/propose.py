"""What omo can know of a step, filled in: the manifest from Files, Changes and Test first, the commit from the title.

It is written into the plan as `- Manifest (proposed):`, so that whoever reviews the plan sees it, and it follows the
step until somebody takes that word away and writes their own. What a step is held to then is read from the text alone.
"""

from __future__ import annotations

import builtins
import keyword
import re
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from omo.errors import NotEvaluable
from omo.globs import is_pattern
from omo.proof import git
from omo.proof.kinds import is_test
from omo.safe_open import TooLarge, read_file
from omo.workflows.ultraplan.document import parse
from omo.workflows.ultraplan.manifests import made_up
from omo.workflows.ultraplan.markdown import PROPOSED, Page, code, code_spans, is_none, manifest_bullet
from omo.workflows.ultraplan.models import Content, Document, Manifest, Step

ON_FAILURE = "retry — once, by another way; then stop and report it"
LARGEST = 2_000_000

# What a definition begins with, in any of the languages that follow.
_DEFINES = (
    r"async def|class|const|def|enum|fn|fun|func|func \([^)]*\)|function\*?|interface|let|local|mod|module|record|"
    r"static|struct|trait|type|val|var|#define"
)
# Where a comment begins, by the file's suffix; a file without one is a script, any other is a text.
_COMMENTS = {
    **dict.fromkeys(("", ".py", ".pyi", ".rb", ".sh", ".bash"), "#"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go", ".rs", ".php"), "//"),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".java", ".kt", ".scala", ".swift"), "//"),
    ".lua": "--",
}
SHELL_SUFFIXES = (".sh", ".bash")
# A test file that is new has a test in it, whatever else is known of it.
TESTS = {
    ".py": r"^\s*(?:async )?def test",
    ".js": r"^\s*(?:it|test)\(",
    ".ts": r"^\s*(?:it|test)\(",
    ".go": r"^func Test",
    ".rs": r"^\s*#\[(?:\w+::)?test\]",
}
_NAME = re.compile(r"(?:[A-Za-z_]\w*(?:\.|::))*([A-Za-z_]\w{2,})(\([^`]*\))?")
_NO_NAMES = frozenset(["null", "true", "false", "self", "this", "void", "string", "number", "undefined", "HEAD"])


@dataclass(frozen=True)
class Proposals:
    """The plan's text with what was filled in. `lines` has the line of the plan for each line of it; for what is new
    that of its step."""

    text: str
    lines: list[int]


NumberedLine = tuple[int, str]


def fill_in(document: Document, root: Path, done: Collection[int] = ()) -> Proposals:
    """What the steps leave to omo. A plan before 1.7 stays as it is, and so does a step that is done: what is new by
    it is there now."""
    lines = list(enumerate(re.split(r"\r\n?|\n", document.text), start=1))
    as_it_is = Proposals(document.text, [number for number, _ in lines])
    if document.is_legacy:
        return as_it_is
    page = Page("\n".join(text for _, text in lines))
    known = _known_names(document, root)
    output: list[NumberedLine] = []
    copied = 0
    for step in document.steps:
        start = step.line - 1
        end = start + step.text.count("\n") + 1
        if step.number not in done:
            body, own = _own_lines(page, lines, start, end)
            body += [(step.line, text) for text in _bullets(document, step, own, root, known)]
            output += [*lines[copied:start], *body]
            copied = end
        known |= _names_in(step)
    output += lines[copied:]
    text = ("\r\n" if "\r\n" in document.text else "\n").join(text for _, text in output)
    for step in parse(text, document.path).steps:
        is_read = step.manifest_lines and {"on failure", "checkpoint"}.issubset(step.field_lines)
        if step.number not in done and not is_read:
            # A fence that is never closed, say, hides what would be written: that is for the author to mend first.
            return as_it_is
    return Proposals(text, [number for number, _ in output])


def _own_lines(page: Page, lines: list[NumberedLine], start: int, end: int) -> tuple[list[NumberedLine], set[str]]:
    """A step without what omo proposed before, and which fields its author wrote."""
    body = lines[start:end]
    own = set()
    for each in reversed(page.fields(start, end)):
        if each.is_proposed:
            del body[each.line - 1 - start : each.end - start]
        else:
            own.add(each.key)
    if Page("\n".join(text for _, text in body)).yaml_blocks("manifest"):
        own.add("manifest")
    while not body[-1][1].strip():
        body.pop()
    return body, own


def _bullets(document: Document, step: Step, own: set[str], root: Path, known: set[str]) -> list[str]:
    """The fields that the step does not have itself."""
    bullets = []
    if "verify" not in own and document.verify:
        step = replace(step, verify=document.verify)
        bullets.append(f"- Verify ({PROPOSED}): {document.verify}")
    if "on failure" not in own:
        bullets.append(f"- On failure ({PROPOSED}): {ON_FAILURE}")
    if "checkpoint" not in own:
        subject = re.sub(r"[`*]", "", step.title)
        kept = [path for path in step.files if path not in step.removed]
        parts = []
        if step.removed:  # whoever has removed them by git already is not stopped by it
            parts.append(f"git rm -q --ignore-unmatch {shlex.join(step.removed)}")
        if kept:
            parts.append(f"git add {shlex.join(kept)}")
        elif not step.files:
            parts.append("git add -A")
        commit = code(" && ".join([*parts, f"git commit -m {shlex.quote(subject)}"]))
        step = replace(step, checkpoint=commit)
        bullets.append(f"- Checkpoint ({PROPOSED}): {commit}")
    if "manifest" not in own:
        bullets += manifest_bullet(_proposed_manifest(step, root, known), f"Manifest ({PROPOSED})")
    return bullets


def _proposed_manifest(step: Step, root: Path, known: set[str]) -> Manifest:
    """What the step's own words ask for."""
    manifest = made_up(step)
    contents = _contents(step, manifest.expected_paths, root, known)
    for path in manifest.expected_paths:
        is_new = not (root / path).exists() and not any(content.path == path for content in contents)
        if is_test(path) and is_new and (suffix := PurePosixPath(path).suffix[:3]) in TESTS:
            contents.append(Content(path=path, pattern=TESTS[suffix]))
    more = {
        "bash_syntax_check": tuple(path for path in manifest.expected_paths if _is_shell(path, root)),
        "must_contain": tuple(contents),
        "skip_commit_check": is_none(step.checkpoint),
    }
    return manifest.model_copy(update=more)


def _is_shell(path: str, root: Path) -> bool:
    return path.endswith(SHELL_SUFFIXES) or re.match(r"#!.*\b(?:ba)?sh\b", _text(root, path)) is not None


# names: what a step says in backticks, and which file it belongs in


def _contents(step: Step, expected: Sequence[str], root: Path, known: set[str]) -> list[Content]:
    """A name that a file of the step does not have yet has to be there afterwards. What is written like a function, or
    names a test, and is nowhere in the project, has to be defined; anything else may be a parameter or a key. Of a
    name that may belong in several files nothing is asked."""
    plain = [path for path in expected if not is_pattern(path)]
    # "the module `cart` becomes `basket`": those are the files, of which one is gone.
    modules = {PurePosixPath(path).stem for path in step.files} if step.removed else set()
    contents: dict[tuple[str, str], Content] = {}
    for said in (step.changes, step.test_first):
        current = ""
        for span in code_spans(said):
            if span in plain:
                current = span
                continue
            name = _name(span)
            home = current or _home(name, plain)
            if not name or span in modules or not home or (home, name) in contents:
                continue
            if re.search(rf"\b{name}\b", _text(root, home)):
                continue
            is_known = name in known or any(name == other for _, other in contents)
            is_defined = not is_known and (span.endswith(")") or name.lower().startswith("test"))
            contents[home, name] = Content(path=home, pattern=_pattern(name, home, is_defined=is_defined))
    return list(contents.values())


def _name(span: str) -> str:
    """What the span names: `load`, `rows.load`, `load(path)`; empty for anything else, and for what a language has."""
    match = _NAME.fullmatch(span)
    if match is None or keyword.iskeyword(match[1]) or hasattr(builtins, match[1]) or match[1] in _NO_NAMES:
        return ""
    return match[1]


def _names_in(step: Step) -> set[str]:
    return set(filter(None, map(_name, code_spans(f"{step.changes}\n{step.test_first}"))))


def _home(name: str, paths: list[str]) -> str:
    """The only file that a name can be meant for; tests go into tests."""
    wants_test = name.lower().startswith("test")
    homes = [path for path in paths if is_test(path) == wants_test]
    if len(paths) == 1:
        return paths[0]
    return homes[0] if len(homes) == 1 else ""


def _pattern(name: str, path: str, *, is_defined: bool) -> str:
    """Found in code, not in a comment nor in an import; in a text it is enough that it is there."""
    suffix = PurePosixPath(path).suffix
    if suffix not in _COMMENTS:
        return rf"\b{name}\b"
    if not is_defined:
        return rf"^(?!\s*(?:import|from|use|require)\b)(?:(?!{_COMMENTS[suffix]}).)*\b{name}\b"
    forms = [rf"(?:[\w()]+ )*(?:{_DEFINES}) {name}\b", rf"(?:[\w.]+[ ,]+)*{name}\s*(?::.*)?=(?!=)"]
    if suffix not in (".py", ".pyi", ".rb"):  # a name, its parameters and a body
        forms.append(rf"(?!return\b)(?:[\w:<>,*&]+ )*{name}\s*\([^;=]*(?:\{{|$)")
    return "|".join(rf"^\s*{form}" for form in forms)


def _known_names(document: Document, root: Path) -> set[str]:
    """Which of the plan's names the project has already."""
    names: set[str] = set()
    for step in document.steps:
        names |= _names_in(step)
    asked = "\n".join([*sorted(names), ""]).encode()
    options = ("-h", "-o", "-w", "-I", "-F", "--untracked", "-f", "-", "--", ".", f":!{document.path}")
    try:
        answer = git.run(root, "--no-literal-pathspecs", "grep", *options, stdin=asked)
    except NotEvaluable:
        return set()
    return set(answer.text.split())


def _text(root: Path, path: str) -> str:
    """The file as it is now; empty where it is not there or not text."""
    try:
        return read_file(str(root / path), LARGEST).decode()
    except (OSError, TooLarge, ValueError):
        return ""
