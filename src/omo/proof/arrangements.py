"""Which file stands how in each run: the work as it was, the rest as it was, or all as it is."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from omo.errors import NotMade
from omo.proof import base, calls, changes, contents, form, git, inline_tests, kinds, manifests, reading, started_files
from omo.proof.gate_runs import (
    ALL_OLD_TESTS,
    ALLOWED_BEFORE,
    AS_IT_IS,
    NEW_DATA,
    NEW_MANIFESTS,
    OLD_SETTINGS,
    OLD_TESTS,
    WITHOUT,
    GateCommand,
    Subject,
)
from omo.proof.project_files import DiskFiles, commit_at
from omo.proof.swap_files import File
from omo.text import listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.proof.project_files import Files

Put = Mapping[str, File]  # what paths hold that stand otherwise than now


@dataclass(frozen=True)
class Arrangements:
    """The files of each run. `work` and `rest` are the changed paths of each kind; a file of Rust may be both."""

    work: Sequence[str]
    rest: Sequence[str]
    files: Mapping[str, Put]  # of the first two runs
    swapped_for: Mapping[str, Put]  # of every run, also of those that are made once more
    keys: Mapping[str, str]  # by run, the id of the files it is made on
    peeks: Mapping[str, str] = field(default_factory=dict)  # by file, a line of the work that looks at its tests
    others: Sequence[str] = ()  # changed too, and read by no run
    at_base: Mapping[str, File] = field(default_factory=dict)  # all of them as they were
    old_settings: Sequence[str] = ()  # changed ones
    data: Sequence[str] = ()  # what of the work is data

    @property
    def why_no_work(self) -> str:
        """Why nothing can fail without the work; empty where there is some."""
        if self.work:
            return ""
        if self.rest:
            return f"only tests, configuration, data or what the gate starts were changed ({listed(self.rest, 6)})"
        return f"nothing that it runs on was changed (only {listed(self.others, 6)})"


def _once_more(files: Mapping[str, Put], settings: Sequence[str], adding: Sequence[str], before: Put) -> dict[str, Put]:
    """With which files a run is made again that says too little, as far as there are such files."""
    again: dict[str, Put] = {}
    # What they name may be the work, so that nothing is built without it, and no test asked for it: "a new crate that
    # no test asks for", "a new file that the Makefile names, and its test".
    if settings:
        again[OLD_SETTINGS] = {**files[WITHOUT], **{path: before[path] for path in settings}}
    old_tests = files.get(OLD_TESTS, {})
    # Of manifests those that only add: a base whose packages cannot be installed any more says nothing of its tests.
    if any(path in old_tests for path in adding):
        again[NEW_MANIFESTS] = _without(old_tests, adding)
    # Data may be of the product as well as of its tests, so where old ones of both were changed, the old tests have to
    # pass with either: "what data grants, and the test that forbids it".
    old = {path for path in old_tests if before[path].content is not None}
    data = set(filter(kinds.is_plain_data, old))
    if data and any(map(kinds.is_test, old - data)):
        again[NEW_DATA] = _without(old_tests, data)
    return again


def _without(files: Put, paths: Collection[str]) -> Put:
    return {path: held for path, held in files.items() if path not in paths}


def files_key(changed: Mapping[str, str], which: kinds.Kinds) -> str:
    """One id for all files that a run can depend on: documents and the like are left out."""
    counting = {path: digest for path, digest in changed.items() if which.of(path) in (kinds.WORK, kinds.REST)}
    return base.tree_of(counting)


def kinds_of(subject: Subject, command: GateCommand) -> kinds.Kinds:
    """Return which changed file is work, and which a test, for one command."""
    is_users = getattr(command, "is_users", True)
    key = (tuple(command.argv), command.cwd, tuple(command.sealed), is_users)
    if key not in subject.kinds:
        subject.kinds[key] = _kinds_of(subject, command, is_users=is_users)
    return subject.kinds[key]


def _kinds_of(subject: Subject, command: GateCommand, *, is_users: bool) -> kinds.Kinds:
    files = subject.files
    new = subject.look.changed or ()
    unfolded = subject.programs(command)
    started = started_files.of_gate(files, unfolded, {*subject.began["files"], *new})
    words = [word for call in unfolded for word in call.given]
    words += map(files.text, started)  # a script may say only in its text what it reads
    names = set(re.findall(r"[\w.-]+", " ".join(words)))
    named = {path for path in filter(kinds.is_plain_data, new) if posixpath.basename(path) in names}
    # From the top, or from where it runs: "sealed: the folder that the user names in a session below the top".
    sealed = [*command.sealed, *(calls.below(command.cwd, glob) for glob in command.sealed)]
    if not is_users:  # "a refactoring, one of its files sealed by the agent"
        sealed = [glob for glob in sealed if not glob.endswith(kinds.CODE)]
    configuration = [files.text(calls.below(command.cwd, name)) for name in kinds.SAYS_WHAT_IS_COLLECTED]
    is_form = form.is_form(command.argv) and not form.runs_tests(unfolded)
    if not is_form:
        started += _modules_of_tests(subject, files) + _behind_links(subject, files) + sorted(subject.have_tests)
    return kinds.Kinds(
        started=started,
        sealed=sealed,
        is_form=is_form,
        documents=kinds.documents_named("\n".join(configuration), words),
        present=subject.present,
        read_by_tests=subject.read_by_tests | named,  # "passed over by the gate's script for new settings"
    )


def _modules_of_tests(subject: Subject, files: Files) -> list[str]:
    """Changed files of Rust that are compiled for tests alone, then or now: "the other test in a module of its own"."""
    now = DiskFiles(subject.root)
    modules = []
    for path in subject.look.changed or ():
        texts = [files.text] if path in subject.present else [files.text, now.text]
        if any(inline_tests.is_module_of_tests(path, text_of) for text_of in texts):
            modules.append(path)
    return modules


def _behind_links(subject: Subject, files: Files) -> list[str]:
    """Files of the project to which a name leads that runners collect: "the other test behind a link"."""
    head = subject.began.get("head")
    entries = commit_at(subject.root, head).entries if head else None
    targets = []
    for path, entry in (entries or {}).items():
        if entry.startswith(contents.LINK) and kinds.COLLECTED.match(posixpath.basename(path)):
            targets.append(calls.below(posixpath.dirname(path), files.text(path)))
    return targets


def arrange(
    subject: Subject, command: GateCommand, *, is_beside: bool = False, takes_data: bool = False
) -> Arrangements:
    """`takes_data`: data is of the work, as it is where nothing else was changed. `is_beside`: new data stays, also
    what the work does not read, as a report may be what was asked for. Tests are not kept from running by one, unless
    it may be all that was to be made: "the other put off by a new file that nothing names"."""
    changed = _known_changes(subject)
    which = kinds_of(subject, command)
    if which.is_form:
        _require_nothing_ignored(subject, changed)
    counting = [path for path in changed if which.of(path) in (kinds.WORK, kinds.REST)]
    unread = [path for path in counting if path not in subject.before]
    subject.before.update(contents.at_base(subject.root, subject.state, subject.began, unread))
    before = {path: subject.before[path] for path in counting}
    after = {path: contents.now(subject.root, path) for path in counting}
    work = {path: after[path] for path in counting if which.of(path) == kinds.WORK}
    # Where nothing else was changed, data is what was done: "a translation, and a test of its own". The old tests are
    # run with it as it was all the same.
    data = [path for path in counting if (takes_data or not work) and which.is_data(path)]
    keeps_products = is_beside and not (work and calls.of_tests(subject.programs(command)))
    without: dict[str, File] = {}
    old_tests: dict[str, File] = {}
    for path, new in after.items():
        # What only left the index is less for a gate that asks git: "the other finding out of the index".
        is_rest = path not in work or before[path] == new
        without_work, with_old_tests = (new, before[path]) if is_rest else _parted(path, before[path], new)
        if path in data:
            without_work = before[path]
        if without_work != new:
            without[path] = without_work
        if is_rest or with_old_tests != new:
            old_tests[path] = with_old_tests
    rest = list(old_tests)
    read_by_work = b"\n".join(held.content or b"" for held in work.values())
    adding = [path for path in rest if manifests.only_adds(path, before[path].content, after[path].content)]
    for path in rest:
        is_of_work = os.fsencode(os.path.basename(path)) in read_by_work and path not in which.read_by_tests
        is_new_data = before[path].content is None and kinds.is_plain_data(path)
        if subject.is_allowed(path) or (is_new_data and (keeps_products or is_of_work)):
            del old_tests[path]
    unallowed = {path: before[path] for path in counting if not subject.is_allowed(path)}
    without.update(_with_modules({**work, **without}, after))
    old_tests.update(_with_modules({**work, **old_tests}, unallowed))
    files = {WITHOUT: without}
    # To a checker the source is what there was to look at: "behind a new .ignore, where there are no tests".
    looked_at = {**old_tests, **without} if which.is_form else old_tests
    if old_tests and _has_tests_at_base(subject, command, which, looked_at):
        files[OLD_TESTS] = old_tests
    rest = list(dict.fromkeys([*rest, *old_tests]))
    settings = list(filter(which.is_configuration, rest))
    all_old = {**old_tests, **{path: before[path] for path in rest if path not in unallowed}}
    again = _once_more(files, settings, adding, before)
    swapped_for = {**files, ALLOWED_BEFORE: unallowed, ALL_OLD_TESTS: all_old, **again}
    keys = {name: key_of(changed, which, put, before) for name, put in {**swapped_for, AS_IT_IS: {}}.items()}
    # Who has seen it pass with one has not seen both: "what data grants, and a test that was seen to forbid it".
    if NEW_DATA in keys:
        keys[OLD_TESTS] += keys[NEW_DATA]
    return Arrangements(
        work=list(without),
        rest=rest,
        files=files,
        swapped_for=swapped_for,
        keys=keys,
        peeks=reading.peeks(without, {path: after[path] for path in unallowed if path in without}),
        others=sorted(set(changed) - set(counting)),
        at_base=before,
        old_settings=settings,
        data=data,
    )


def _known_changes(subject: Subject) -> Mapping[str, str]:
    """Raises NotMade where nobody can say what they are, or there are none."""
    changed = subject.look.changed
    if changed is None:
        raise NotMade(subject.look.unknown_in_words)
    if not changed:
        raise NotMade("no file was changed")
    for path in changed:  # "the base in another encoding by .gitattributes"
        if posixpath.basename(path) == ".gitattributes" and not subject.is_allowed(path):
            asked = f"if the user wants that, they type /omo:allow {path}"
            raise NotMade(f"{path} was changed, by which git says what files hold; {asked}")
    return changed


def _require_nothing_ignored(subject: Subject, changed: Mapping[str, str]) -> None:
    """Checkers look past what git ignores, and its rules are never swapped: "in a file that is ignored now"."""
    if not subject.began.get("head") and git.place_of_repository(subject.root) != ".":
        return  # no git that has a say: "a linter that the user pinned, without git"
    rules = [path for path in changed if posixpath.basename(path) == ".gitignore"]
    is_allowed = all(map(subject.is_allowed, rules))
    is_same_clone = base.has_same_rules(subject.root, subject.began)
    if rules and is_same_clone and is_allowed:
        return  # rules that hide themselves are not among them: "behind rules that hide themselves"
    present = [path for path in subject.present if os.path.lexists(os.path.join(subject.root, path))]
    hidden = changes.newly_ignored(subject.root, str(subject.began.get("head") or ""), present, is_same_clone)
    if hidden:
        asked = f"; if the user wants that, they type /omo:allow {rules[0]}" if rules else ""
        raise NotMade(f"{hidden[0]} is ignored by a rule of git's that is new, and checkers look past it{asked}")


def _parted(path: str, old: File, new: File) -> tuple[File, File]:
    """A file of the work without it and with the old tests. If it has inline tests, that is its old code with the tests
    of now, and its code of now with the old tests."""
    if path.endswith(".rs") and old.content is not None and new.content is not None:
        with_new_tests = inline_tests.with_tests_of(old.content, new.content)
        with_old_tests = inline_tests.with_tests_of(new.content, old.content)
        if with_new_tests is not None and with_old_tests is not None:
            return File(with_new_tests, old.mode), File(with_old_tests, new.mode)
    return old, new


def _with_modules(code: Mapping[str, File], tests: Mapping[str, File]) -> dict[str, File]:
    """Of modules of Rust that only the second files have, the tests alone, and the first that declare them with that
    line more: "cargo: a new module, and its test inside of it", "the other test in a module that is gone". Of a crate
    its manifest says where it begins: "cargo: a new crate, its tests inside of it"."""
    put: dict[str, File] = {}
    for path in [path for path in code if path in tests and code[path].content is None]:
        alone = inline_tests.with_tests_of(b"", tests[path].content or b"") if path.endswith(".rs") else b""
        if alone and posixpath.basename(path) in inline_tests.ROOTS:
            put[path] = File(alone + inline_tests.ROOTS[posixpath.basename(path)], tests[path].mode)
            continue
        name, above = inline_tests.declared_in(path)
        declaration = os.fsencode(f"mod {name};")
        for other in [other for other in above if other in code and other in tests]:
            content, mode = put.get(other, code[other])
            is_declared = declaration in (tests[other].content or b"")
            if alone and content and is_declared and declaration[:-1] not in content:
                put[path] = File(alone, tests[path].mode)
                put[other] = File(b"%s\n%s\n" % (content, declaration), mode)
    return put


def _has_tests_at_base(
    subject: Subject, command: GateCommand, which: kinds.Kinds, looked_at: Mapping[str, File]
) -> bool:
    """Whether there was anything to run: one of the changed files itself, or any other test. Not where the command
    names a new one: "the agent files a command over a test that is not there yet"."""
    if any(held.content is not None for held in looked_at.values()):
        return True
    if any(calls.below(command.cwd, word.partition("::")[0]) in looked_at for word in command.argv[1:]):
        return False
    return any(which.is_test(path) for path in subject.present)


def key_of(changed: Mapping[str, str], which: kinds.Kinds, put: Mapping[str, File], before: Mapping[str, File]) -> str:
    """Return one id for all files that a run can depend on, with these put in the place of those that are there."""
    arranged = dict(changed)
    for path, held in put.items():
        if held == before[path]:
            del arranged[path]
        else:
            arranged[path] = base.name_of(held.mode, held.content or b"")
    return files_key(arranged, which)
