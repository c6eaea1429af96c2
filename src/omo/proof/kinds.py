"""Which file is which, for one gate: the work, the rest that the work is held against, or neither.

The experiment runs a gate with the work as it was and the rest as it is, and the other way round, so a file on the
wrong side makes it say something else. What is not known to be a test, configuration, data or a document is work.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from omo import globs

WORK, REST = "work", "rest"
NEITHER = "neither"  # as it is now in every run
NEVER = "never"  # the same, even if it is sealed


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class _AnyOf:
    """One of these names. Compiled when it is first asked for: most commands only load this page."""

    def __init__(self, patterns: str) -> None:
        self._patterns = patterns.split()

    def match(self, name: str) -> re.Match[str] | None:
        return self._compiled.match(name)

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile("|".join(map(fnmatch.translate, self._patterns)))


# An older .gitignore made a user's ignored files visible, and they were deleted.
NEVER_SWAPPED = re.compile(r"(?:.*/)?(?:\.git/.*|\.sisyphus/.*|\.git(?!lab)[^/]*)", re.DOTALL)
# Names that a runner collects, loads before the tests, or compiles for tests alone, by its defaults. A table of cases
# without a single test in it (`cases.spec.ts`) and `export_test.go` belong to the tests, so nobody looks into the file.
COLLECTED = _AnyOf("""
    test_*.py *_test.py tests.py conftest.py sitecustomize.py usercustomize.py
    *.test.* *.spec.* *.bench.* *.cy.* *.e2e.* *.test-d.ts *[_-]test.[jt]s *[_-]test.[cm]js test-*.js test-*.[cm]js
    jest.setup.* jest-setup.* vitest.setup.* vitest-setup.* setupTests.* test-setup.*
    *_test.go tests.rs *_test.rs *_tests.rs *_test.exs *_test.dart *_spec.rb *_test.rb test_*.rb *_spec.lua
    *Test.php *Test.cs *Tests.cs *Tests.swift *Spec.hs *_test.clj *_SUITE.erl *_test.c *_test.cc *_test.cpp
    test_*.c test_*.cc test_*.cpp
    *.bats *_test.sh *.t *.robot *.feature *.hurl
""")
# Those of them that no runner loads before the tests, or for its settings.
CASES = _AnyOf("test_*.py *_test.py *.test.* *.spec.* *_test.go *Test.php *_spec.rb *_test.rb")
# Surefire and Gradle take these below any directory but that of the program.
COLLECTED_IN_JVM = re.compile(
    r"(?!.*\bsrc/main/)(?:.*/)?(?:Test[A-Z]\w*|\w+(?:Tests?|TestCase|IT|Spec|Suite))\.(?:java|kt|groovy|scala)"
)
# `test.js` is collected by jest and node, and is a command of many a program: only beside the manifest is it a test.
COLLECTED_AT_TOP = _AnyOf("test.[jt]s test.[cm][jt]s spec.[jt]s tests.[jt]s test.py test.rb test.sh")
TEST_DIRECTORIES = _words("tests __tests__ __mocks__ __fixtures__ __snapshots__ testdata e2e cypress step_definitions")
# Names of tests directories at the top of a project or package; deeper they are good names for source as well.
TEST_DIRECTORIES_AT_TOP = _words("test spec specs t xt benches benchmarks fixtures cassettes snapshots golden goldens")
EXPECTED_VALUES = _words("fixtures cassettes snapshots golden goldens expected baseline")  # also pictures, documents
# api-tests, integration_tests; Maven's and Gradle's src/test, src/integrationTest, src/commonTest; Calc.Tests of .NET,
# CalcUITests of Xcode; behave.
TEST_TREE = re.compile(
    r"(?:^|/)(?:[\w-]+[-_]tests/|src/(?:test|testFixtures|\w+Test)/|[\w.]*(?:Tests|\.Test)/"
    r"|features/(?:environment\.py$|steps/.*\.py$))"
)

# The files that make a directory a package.
MANIFESTS = _words(
    "pyproject.toml setup.cfg package.json Cargo.toml go.mod pom.xml build.gradle build.gradle.kts build.sbt Gemfile"
    " composer.json mix.exs Package.swift pubspec.yaml Makefile.PL Build.PL cpanfile dist.ini"
)
# The files in which runners of tasks find them. Nobody gives these names to source: they are configuration to any gate.
FILES_OF_RUNNERS = {
    "make": "Makefile Makefile.* makefile GNUmakefile *.mk *.mk.in *.make *.mak",
    "just": "justfile Justfile *.just",
    "task": "Taskfile.*",
    "rake": "[Rr]akefile",
    "nox": "noxfile.py",
    "gulp": "[Gg]ulpfile.*",
    "grunt": "[Gg]runtfile.*",
    "jake": "[Jj]akefile [Jj]akefile.*",
    "scons": "SConstruct SConscript",
    "waf": "wscript",
    "meson": "meson.build meson.options meson_options.txt",
    "ninja": "build.ninja",
    "bazel": "*.bazel",
    "sbt": "*.sbt",
    "gradle": "*.gradle *.gradle.kts",
}
# More of them, whose names are good ones for source: they are configuration to a gate that starts the runner.
FILES_OF_STARTED_RUNNERS = {
    "doit": "dodo.py",
    "invoke": "tasks.py tasks/**",
    "inv": "tasks.py tasks/**",
    "fab": "fabfile.py fabfile/**",
    "paver": "pavement.py",
    "rake": "rakelib/*.rake",
    "jake": "jakelib/*.jake",
    "mage": "magefile.go magefiles/**",
    "bazel": "WORKSPACE **/BUILD",
    "pants": "**/BUILD",
    "sbt": "project/*.scala",
    "zig": "build.zig",
}
# What runners and checkers read, and what they are told to look past. What begins with a dot is for a tool.
CONFIGURATION = _AnyOf(
    " ".join(FILES_OF_RUNNERS.values())
    + """
    .* *.toml *.ini *.cfg *.lock *.lockb *-lock.json *-lock.yaml go.sum go.work *.gemspec *.csproj *.sln
    package.json go.mod pom.xml Gemfile composer.json mix.exs deno.json* Package.swift pubspec.yaml Build.PL cpanfile
    *requirements*.txt *requirements*.in MANIFEST.in *.pth Pipfile pylintrc pyrightconfig.json
    CMakeLists.txt *.cmake *.cmake.in
    tsconfig*.json jsconfig*.json biome.json* turbo.json nx.json pnpm-workspace.yaml rust-toolchain* *baseline.txt
    jest.config.* vitest.config.* vitest.workspace.* vite.config.* playwright.config.* cypress.config.* babel.config.*
    ava.config.* karma.conf.* wdio.conf.* eslint.config.* prettier.config.* stylelint.config.* phpunit.xml* *.neon
    *-suppressions.json *baseline.xml *baseline.json python python3 pytest tox nox ruff mypy coverage
"""
)
# Of what has these ends below the top a tool reads none but its own names; the rest an app reads, as it does JSON.
SETTINGS_OF_TOOLS = _AnyOf("""
    Cargo.toml pyproject.toml *Project.toml *Manifest.toml setup.* tox.* dist.ini pdm.* uv.* poetry.* hatch.*
    *test*.toml *test*.ini *test*.cfg mypy.* *ruff.* *lint*.* flake8.* clippy.* rustfmt.* isort.* pycodestyle.*
    coverage.* nose* behave.* bunfig.* deny.* foundry.* php.* platformio.* Makefile.* rust-toolchain* pixi.* mise.*
""")
# Packages of others, which go with the manifest that asks for them, and what their managers are told. An ending put a
# program of its own into node_modules/.bin in the place of the runner's.
PACKAGES = _words("node_modules .venv venv site-packages .cargo .mvn .yarn")
PACKAGES_AT_TOP = ("vendor/", "requirements/")
DATA = _words("""
    json json5 jsonc jsonl ndjson yaml yml toml ini cfg conf properties csv tsv txt xml dat data pickle pkl npy npz
    parquet db sqlite snap golden ambr approved expected out exp ref har log lock sum pem crt key zip gz tar tgz bin rc
    ans ok list lst md5 sha1 sha256 sha512 expect stdout stderr gold baseline snapshot want result env
""")
# What `mul.in` beside it is to give: "the other input changed". `config.h.in` is a template.
BESIDE_INPUT = ("out", "exp", "expected", "ref", "golden", "ans", "ok")
DOCUMENTS = _words("md markdown rst adoc pdf png jpg jpeg gif svg webp avif ico woff woff2 ttf otf mp3 mp4 webm")
# In capitals, because `history.py` and bin/todo are programs; and those of CI.
DOCUMENT_NAMES = _AnyOf("""
    README* CHANGELOG* CHANGES* HISTORY* NEWS* COPYING* NOTICE* AUTHORS* CONTRIBUT* TODO CODEOWNERS SECURITY* LICEN?E*
    *.gitlab-ci.yml Jenkinsfile azure-pipelines*.yml .travis.yml *appveyor.yml .readthedocs.y*ml *codecov.yml
""")
# No runner reads these unless it is told to; `docs/conf.py` in the work made documents a part of it.
DOCUMENT_DIRECTORIES = _words("""
    docs doc documentation examples example changelog changelog.d changelogs newsfragments .changeset .github .gitlab
    .circleci .vscode .idea .devcontainer
""")
# Ends of files that are code, where text alone says little.
CODE = tuple(
    _words("""
    .py .pyi .js .jsx .ts .tsx .mjs .cjs .vue .svelte .go .rs .c .h .cc .cpp .hpp .java .kt .scala .rb .php .cs .swift
    .sh .lua .ex .exs .sql .toml .cfg .ini .yml .yaml Makefile
""")
)
# A script that a project keeps for its tests: test.sh, run_tests.py, scripts/check.
TEST_SCRIPT = re.compile(r"(?:.*[-_./])?(?:tests?|runtests|checks?|verify|spec|ci)(?:[-_.][^/]*)?")
PROGRAMS = _words("py js mjs cjs ts tsx rb pl sh go rs c")
# Where it is said which files a runner collects.
SAYS_WHAT_IS_COLLECTED = _words("pytest.toml .pytest.toml pytest.ini .pytest.ini pyproject.toml setup.cfg tox.ini")
COLLECTS = re.compile(r"^(?:testpaths|addopts|doctest\w*)\s*=.*(?:\n[ \t]+.*)*", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Kinds:
    """Which file is which, for one gate.

    `started` are the files that the gate executes, be it itself, by a recipe or by its runner's configuration. `sealed`
    are globs of what the user added to the rest, `documents` globs of documents that a runner reads
    (`documents_named`), `read_by_tests` documents and examples that tests of the base name. `present` are all paths of
    the project: a directory with a manifest is the top of a package.
    """

    started: Collection[str] = ()
    sealed: Sequence[str] = ()
    is_form: bool = False
    documents: Sequence[str] = ()
    present: Collection[str] = ()
    read_by_tests: Collection[str] = ()

    @cached_property
    def _tops(self) -> set[str]:
        return {"", *(posixpath.dirname(path) for path in self.present if posixpath.basename(path) in MANIFESTS)}

    @cached_property
    def _sources(self) -> set[str]:
        """Python packages with a name such as `snapshots` or `benchmarks`, at the top of a project with tests
        elsewhere."""
        if not any(path.startswith(("tests/", "test/")) for path in self.present):
            return set()
        packages = {path.removesuffix("/__init__.py") for path in self.present if path.endswith("/__init__.py")}
        return packages & (TEST_DIRECTORIES_AT_TOP - {"test"})

    def is_test(self, path: str) -> bool:
        return path in self.started or is_test(path, self._tops, self._sources)

    def is_configuration(self, path: str) -> bool:
        """Return whether tools read it, or the gate's runner as its task file: "nothing tested, a task that needs a new
        file"."""
        globs_of_files = " ".join(FILES_OF_STARTED_RUNNERS.values()).split()
        is_task_file = path in self.started and any(globs.matches(path, f"**/{glob}") for glob in globs_of_files)
        return is_task_file or is_configuration(path)

    def is_data(self, path: str) -> bool:
        """Whether it is among the rest for what it holds alone: no runner reads it, and nobody sealed it."""
        is_sealed = any(globs.covers(path, glob) for glob in self.sealed)
        return is_plain_data(path) and not is_sealed and not self.is_test(path)

    def of(self, path: str) -> str:
        *directories, name = path.split("/")
        if NEVER_SWAPPED.fullmatch(path):
            return NEVER
        if path in self.started or any(globs.covers(path, glob) for glob in self.sealed):
            return REST
        is_configuration = bool(CONFIGURATION.match(name)) or not PACKAGES.isdisjoint(directories)
        if name == "setup.py":  # deeper in a project it is a module like any other
            is_configuration = "/".join(directories) in self._tops
        if self.is_form:
            return REST if is_configuration else WORK
        if self.is_test(path):
            return REST
        if _lies_in(directories, DOCUMENT_DIRECTORIES, self._tops) or _is_document(name):
            if path in self.read_by_tests:
                return WORK if _suffix(name) in PROGRAMS else REST
            is_read = any(_is_named(path, glob) for glob in self.documents)
            is_expected = not EXPECTED_VALUES.isdisjoint(directories)
            return REST if is_read or is_expected else NEITHER
        is_input = path.endswith(".in") and any(path[:-2] + end in self.present for end in BESIDE_INPUT)
        if is_configuration or is_input or _suffix(name) in DATA or path.startswith(PACKAGES_AT_TOP):
            return REST
        return WORK


def is_plain_data(path: str) -> bool:
    """Data that no runner reads by itself and no directory calls a test's: it may be what the work has made."""
    directory, name = posixpath.split(path)
    is_settings = bool(CONFIGURATION.match(name))
    if is_settings and _suffix(name) in ("toml", "ini", "cfg"):
        is_below = bool(directory) and "/." not in f"/{path}"
        is_settings = not is_below or bool(SETTINGS_OF_TOOLS.match(name))
    return _suffix(name) in DATA and not is_settings and not is_test(path)


def is_configuration(path: str) -> bool:
    return bool(CONFIGURATION.match(posixpath.basename(path))) and not is_test(path)


def is_text_for_people(path: str) -> bool:
    """A document, or data: no line of it is a comment to a program."""
    name = posixpath.basename(path)
    return _is_document(name) or _suffix(name) in DATA


def is_test(path: str, tops: Collection[str] = ("",), sources: Collection[str] = ()) -> bool:
    """Whether a runner collects the name by its defaults, or the file lies below a directory of tests; `tops` are the
    directories of the project that have a manifest, `sources` packages at its top in spite of their names.

    A word in the path alone makes none: `testing/calc.py`, `snapshot.py`, `commands/test.py` are source.
    """
    *directories, name = path.split("/")
    if COLLECTED.match(name) or COLLECTED_IN_JVM.fullmatch(path) or TEST_TREE.search(path):
        return True
    if COLLECTED_AT_TOP.match(name) and "/".join(directories) in tops:
        return True
    if _lies_in(directories, TEST_DIRECTORIES_AT_TOP, tops) and directories[0] not in sources:
        return True
    return any(directory.lower() in TEST_DIRECTORIES for directory in directories)


def documents_named(configuration: str, words: Sequence[str] = ()) -> list[str]:
    """Globs of the documents and their directories that a runner is told to read: by its configuration (`testpaths =
    docs` or `--doctest-glob=*.md`), or among the words of the commands that a gate starts."""
    named = []
    for word in re.findall(r"[\w./*?-]+", " ".join([*words, *COLLECTS.findall(configuration)])):
        name = word.removeprefix("./").rstrip("/")
        if _is_document(posixpath.basename(name)) or name.partition("/")[0] in DOCUMENT_DIRECTORIES:
            named.append(name)
    return named


def _suffix(name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return suffix.lower() if stem and dot else ""


def _is_document(name: str) -> bool:
    return _suffix(name) in DOCUMENTS or bool(DOCUMENT_NAMES.match(name))


def _is_named(path: str, glob: str) -> bool:
    """A glob without a directory is one of names, as it is to pytest."""
    return globs.covers(path, glob) or ("/" not in glob and globs.name_matches(posixpath.basename(path), glob))


def _lies_in(directories: Sequence[str], names: Collection[str], tops: Collection[str]) -> bool:
    for depth, directory in enumerate(directories):
        if directory.lower() in names and "/".join(directories[:depth]) in tops:
            return True
    return False
