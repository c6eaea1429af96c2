"""Every test lives in its own directory: no test can see or touch the developer's home, git setup or session."""

from __future__ import annotations

import gc
import importlib
import itertools
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from omo.context import OF_AN_AGENT
from tests import guard, packages, parts
from tests.engine.laps import put_in_table
from tests.kept import PYCACHE, interpreter
from tests.project import Project, make_project
from tests.texts import heard

hypothesis.configuration.set_hypothesis_home_dir(Path(sys.prefix).parent / "hypothesis")
hypothesis.settings.register_profile(
    "omo", max_examples=50, deadline=None, database=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("omo")

MEMORY = Path("/dev/shm")
ROOM = 2 << 30
LEAKY = ("OMO_", "CLAUDE", "CODEX_", "ANTHROPIC", "GIT_", "XDG_", *OF_AN_AGENT)
_theirs = pytest.StashKey[dict[str, object]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "run this part of the tests alone; of what is named on the command line, all is run"
    parser.addoption("--part", choices=(parts.SHORT, parts.CLIENTS), help=words)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_theirs] = guard.USER.files()
    guard.forbid()
    guard.leave_terminal()
    # Else an interrupt does not reach what tests start, where the suite was started in the background.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Else a test, whose home is another, would not find the packages that were fetched.
    os.environ[packages.HOME] = str(packages.home())
    os.environ["TZ"] = "UTC"  # people are told the time where they are
    time.tzset()
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        # A project's bytecode lies in the project, as a user's does. Only what runs the tests keeps its own elsewhere.
        os.environ.pop("PYTHONPYCACHEPREFIX", None)
    # Else each worker, and each program that a test starts, compiles everything again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if PYCACHE not in os.environ:
        # Before TMPDIR is the memory, which Codex hides from what runs in its sandbox.
        os.environ[PYCACHE] = tempfile.mkdtemp(prefix="omo-pycache-")
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(PYCACHE)))
    # The tests' files are kept in memory: a journal on a disk takes longer than most tests.
    if "TMPDIR" not in os.environ and sys.platform == "linux" and _can_hold_tests(MEMORY):
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None


def _can_hold_tests(directory: Path) -> bool:
    if not os.access(directory, os.W_OK | os.X_OK):
        return False
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize >= ROOM and not found.f_flag & os.ST_NOEXEC


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails the suite if a program that a test started, and no guard watched, has changed what is the user's."""
    if hasattr(session.config, "workerinput"):
        return  # the process that started this worker looks
    before, after = session.config.stash[_theirs], guard.USER.files()
    changed = [path for path in {**before, **after} if before.get(path, "") != after.get(path, "")]
    if changed:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\nChanged while the tests ran, and none of theirs: {', '.join(sorted(changed))}", file=sys.stderr)


# What users rely on, through hook commands, `main(argv)`, the client and the docs' examples: a rewrite changes none of
# it unasked. The other tests hold inner parts, and go with them.
CONTRACT = ("cli", "hooks", "e2e", "docs", "install", "test_truth.py")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        _, folder, *_ = item.nodeid.partition("::")[0].split("/")
        if folder in CONTRACT:
            item.add_marker("contract")
    part = wanted_part(config)
    if part is not None:
        config.hook.pytest_deselected(items=[item for item in items if parts.part_of(item) != part])
        items[:] = [item for item in items if parts.part_of(item) == part]


def wanted_part(config: pytest.Config) -> str | None:
    """Return the part that is to be run, or None where tests are named, or no part is."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return None
    part: str | None = config.getoption("--part")
    return part


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    part = wanted_part(config)
    return True if part is not None and parts.is_left_out(collection_path, part) else None


# Tests that share what the first of them makes: an installed client, what was parsed, a page. By how their names begin,
# since pytest 9.2 does not read the group that pytest-xdist 3.8 gives a test.
ONE_WORKER = {
    "tests/e2e/test_codex.py": "codex",
    "tests/e2e/test_copilot.py": "copilot",
    "tests/install/test_environment.py::test_uv_": "uv",
    "tests/report/test_browser.py": "report",
    "tests/report/test_evidence.py": "report",
    "tests/report/test_markdown.py": "report",
    "tests/report/test_page.py": "report",
    "tests/test_architecture.py": "architecture",
}


class ByGroup(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    def _split_scope(self, nodeid: str) -> str:
        for start, group in ONE_WORKER.items():
            if nodeid.startswith(start):
                return group
        return nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByGroup:
    return ByGroup(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Workers in a fresh clone share the compiling: each begins at another test, and finds the rest done."""
    gc.disable()  # nothing of what is collected here is garbage, and to look for some takes a tenth of it
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    root, part = Path(__file__).parent, wanted_part(session.config)
    paths = [path for path in sorted(root.rglob("test_*.py")) if part is None or not parts.is_left_out(path, part)]
    names = [".".join(path.relative_to(root.parent).with_suffix("").parts) for path in paths]
    first = len(names) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for name in names[first:] + names[:first]:
        importlib.import_module(name)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Generator[None, bool | None, bool | None]:
    heard.begin()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, bool | None, bool | None]:
    """Fail a test that passes but printed a message that no row of tests/texts has."""
    done = yield
    if complaint := heard.RECORDER.complaint():
        pytest.fail(complaint, pytrace=False)
    return done


@pytest.fixture(scope="session")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], Path]:
    """The variables that all tests have in common, and where their homes are."""
    root = tmp_path_factory.mktemp("surroundings")
    # What `git init` puts into a repository, without its samples of hooks: fifteen files that no test reads.
    template = root / "template"
    (template / "hooks").mkdir(parents=True)
    (template / "info").mkdir()
    (template / "info" / "exclude").write_text("# what this clone alone ignores\n")
    # No commit is followed by a look whether there is something to tidy up: half of what a commit takes.
    config = root / "gitconfig"
    config.write_text("[maintenance]\n\tauto = false\n[gc]\n\tauto = 0\n[core]\n\tfsync = none\n")
    # A plain interpreter comes first: a version manager's shim takes longer than most programs of these tests.
    variables = {
        "PATH": os.pathsep.join([str(interpreter()), *guard.programs_without_omo(os.environ["PATH"], root / "path")]),
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TEMPLATE_DIR": str(template),
        # A project's pytest loads none of the plugins that these tests have, which take longer than its tests.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "LANGUAGE": "C",  # else argparse looks for a translation of each of its words, each time
    }
    (root / "homes").mkdir()
    return variables, root / "homes"


_numbers = itertools.count()


@pytest.fixture(autouse=True)
def _own_world(surroundings: tuple[dict[str, str], Path]) -> Iterator[None]:
    """Without the fixtures of pytest for it, which take half of what a small test takes."""
    variables, homes = surroundings
    before, place = dict(os.environ), os.getcwd()
    home = homes / str(next(_numbers))
    home.mkdir()
    for name in before:
        if name.startswith(LEAKY) and not name.startswith("OMO_TEST_"):
            del os.environ[name]
    os.environ.update(variables, HOME=str(home))
    os.chdir(home)
    yield
    after = dict(os.environ)
    for name in after.keys() - before.keys():
        del os.environ[name]
    os.environ.update(before.items() - after.items())
    os.chdir(place)


@pytest.fixture
def state(tmp_path: Path) -> str:
    """A state directory that does not exist yet."""
    return str(tmp_path / "project" / ".sisyphus" / "cc-omo")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.fixture
def laps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test begin `laps`, a workflow with rounds that users do not have."""
    put_in_table(monkeypatch)
