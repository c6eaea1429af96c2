"""Which variables a gate gets that omo runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from omo import variables
from tests.project import Project, make_project

OWN = {"DATABASE_URL": "sqlite://", "API_TOKEN": "s3cret", "CLAUDE_CODE_EFFORT": "1", "GIT_DIR": "/x", "OLDPWD": "/y"}
FAILS = "import os; print('Set:', *sorted(os.environ)); raise SystemExit(1)"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables of the shell in which omo is called."""
    for name, value in OWN.items():
        monkeypatch.setenv(name, value)
    return OWN


def got(project: Project, shell: dict[str, str]) -> list[str]:
    """Those of them that a gate gets."""
    project.check("gate", "add", "tests", "--", sys.executable, "-c", FAILS)
    ran = project.omo("gate", "run", env=shell)
    line = next(line for line in ran.out.splitlines() if "Set: " in line)
    return [name for name in line.split() if name in shell]


def test_a_gate_gets_what_the_client_had_when_the_user_asked(project: Project, shell: dict[str, str]) -> None:
    project.hook("user-prompt-submit", prompt="ulw fix it", env=shell)
    assert got(project, shell) == ["DATABASE_URL"]


def test_a_gate_does_not_get_what_the_agent_has_set_or_changed(project: Project, shell: dict[str, str]) -> None:
    project.hook("user-prompt-submit", prompt="ulw fix it", env={"DATABASE_URL": "postgres://"})
    assert got(project, shell) == []


def test_an_agent_that_begins_by_itself_hands_on_nothing(project: Project, shell: dict[str, str]) -> None:
    project.check("ulw", "start", env=shell)
    assert got(project, shell) == []


def test_a_command_typed_in_the_conversation_keeps_what_the_client_has(project: Project, shell: dict[str, str]) -> None:
    project.hook("user-prompt-submit", prompt="/omo:ultragoal fix it", env=shell)
    assert got(project, shell) == ["DATABASE_URL"]


def test_in_a_job_of_the_users_a_gate_gets_theirs(project: Project, shell: dict[str, str]) -> None:
    project.check("gate", "add", "tests", "--", sys.executable, "-c", FAILS)
    ran = project.omo("gate", "run", by="user", session=project.session, env=shell, is_under_agent=False)
    assert "DATABASE_URL" in ran.out
    assert "API_TOKEN" not in ran.out


@pytest.mark.parametrize(
    ("printed", "named"),
    [
        ("KeyError: 'DATABASE_URL'", "DATABASE_URL"),
        ("ModuleNotFoundError: No module named 'calc'", "PYTHONPATH"),
        ("expected 3, got 2", ""),
    ],
)
def test_a_failure_names_what_was_not_handed_on(
    project: Project, shell: dict[str, str], monkeypatch: pytest.MonkeyPatch, printed: str, named: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", "code")
    project.prompt("ulw fix it")
    project.check("gate", "add", "tests", "--", "sh", "-c", f'echo "{printed}"; exit 1')
    says = f"not handed on to it: {named}; a gate that begins with env {named}=… gets it"
    for said in (project.check("ulw", "done", code=3).err, project.check("gate", "run", code=3).out):
        assert (says in said) == bool(named)
        assert ("handed on" in said) == bool(named)


def test_nobody_is_told_to_write_a_secret_into_a_gate(project: Project, shell: dict[str, str]) -> None:
    project.prompt("ulw fix it")
    project.check("gate", "add", "tests", "--", "sh", "-c", 'echo "API_TOKEN is not set"; exit 1')
    assert project.check("gate", "run", code=3).says("proof-not-handed-on-to-it", lacked="API_TOKEN")


def test_what_a_gate_sets_itself_is_not_called_missing(project: Project, shell: dict[str, str]) -> None:
    project.prompt("ulw fix it")
    fails = ("sh", "-c", 'echo "no $DATABASE_URL at DATABASE_URL"; exit 1')
    project.check("gate", "add", "tests", "--", "env", "DATABASE_URL=x", *fails)
    assert "handed on" not in project.check("gate", "run", code=3).out


LEAKING = {
    "DATABASE_URL": "postgres://shop:db-pa55word@db.example.com/shop",
    "GH_PAT": "github-pa7-1",
    "PASSPHRASE": "correct horse battery",
    "DB_PWD": "hunter-22",
    "SENTRY_DSN": "https://0123456789abcdef0123@errors.example.com/1",
    "SLACK_WEBHOOK_URL": "https://hooks.example.com/services/T00/B00/abcdef012345",
    "NPM_AUTH": "npm-au7h-1",
    "DOCKER_AUTH_CONFIG": '{"auths": {"registry.example.com": {"auth": "dXNlcjpwYXNzMTIz"}}}',
    "HTTPS_PROXY": "http://me:proxy-pa55@proxy.example.com",
    "JWT": "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
    "BEARER": "bearer-7oken",
    "COOKIE": "session=c00kie-value",
}
SECRETS = [
    *("db-pa55word", "github-pa7-1", "correct horse battery", "hunter-22", "0123456789abcdef0123", "abcdef012345"),
    *("npm-au7h-1", "dXNlcjpwYXNzMTIz", "proxy-pa55", "c2lnbmF0dXJl", "bearer-7oken", "c00kie-value"),
]
PLAIN = {"AUTHOR": "somebody-else", "BYPASS": "perhaps-so", "EDITOR_AUTHORS": "some-others"}
# As a runner of tests that tells of its environment: in names, in what it prints, and in the line that is quoted.
TELLS = """
import os, sys, urllib.parse
for value in sorted(os.environ.values()):
    print("got", value, repr(value), urllib.parse.quote(value, safe=""))
names = [name for name in os.environ if name in sys.argv]
print("Error: no server at", os.environ.get("DATABASE_URL"), os.environ.get("DB_PWD"))
print("===== short test summary info =====")
for name in names:
    print("FAILED test_calc.py::test_it[" + os.environ[name] + "] - no")
print(f"==== {len(names)} failed, 6 passed in 0.1s ====")
sys.exit(1)
"""


def kept(project: Project) -> str:
    """All that omo has written."""
    files = [path for path in Path(project.state).rglob("*") if path.is_file()]
    return "\n".join(path.read_text("utf-8", "replace") for path in files)


@pytest.fixture
def leaking(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """In a shell with secrets, with a test runner that prints all that it gets."""
    for name, value in {**LEAKING, **PLAIN}.items():
        monkeypatch.setenv(name, value)
    project.write("tell.py", TELLS)
    project.commit("base")
    project.hook("user-prompt-submit", prompt="ulw fix it", env={**LEAKING, **PLAIN})
    return project


def test_what_a_gate_prints_of_secrets_is_kept_and_shown_masked(leaking: Project) -> None:
    got = sorted({*LEAKING, *PLAIN} - {"PASSPHRASE"})
    leaking.check("gate", "add", "tests", "--", sys.executable, "tell.py", *got, env=LEAKING)
    shown = ""
    for call in (("gate", "run"), ("ulw", "done"), ("gate", "list", "--json"), ("ulw", "status"), ("report", "--md")):
        ran = leaking.omo(*call, env={**LEAKING, **PLAIN})
        shown += ran.out + ran.err
    shown += leaking.stop().stdout
    leaking.omo("report", by="user")
    everything = shown + kept(leaking)
    assert [secret for secret in SECRETS if secret in everything] == []
    assert "***" in shown
    assert [value for value in PLAIN.values() if value not in everything] == []


def test_a_gate_gets_the_values_themselves(leaking: Project) -> None:
    """Nothing more is withheld from the user's own gates than what was."""
    fails = "import os; print('Set:', *sorted(os.environ), len(os.environ['DB_PWD'])); raise SystemExit(1)"
    leaking.check("gate", "add", "tests", "--", sys.executable, "-c", fails)
    ran = leaking.omo("gate", "run", env={**LEAKING, **PLAIN})
    line = next(line for line in ran.out.splitlines() if "Set: " in line).split()
    assert [name for name in LEAKING if name not in line] == ["PASSPHRASE"] * ("PASSPHRASE" not in line)
    assert line[-1].startswith(str(len(LEAKING["DB_PWD"])))


@pytest.mark.parametrize("secret", ["passed", "6 passed", "failed", "2 failed, 6 passed", "test_calc.py", "test_add"])
def test_counts_and_names_are_read_before_a_secret_is_masked(
    project: Project, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    monkeypatch.setenv("DB_PWD", secret)
    header = "=========== short test summary info ==========="
    names = "FAILED test_calc.py::test_add - no\nFAILED test_calc.py::test_sub - no"
    prints = f"{header}\n{names}\n===== 2 failed, 6 passed in 0.10s ====="
    project.prompt("ulw fix it")
    project.check("gate", "add", "tests", "--", "sh", "-c", f"echo '{prints}'; exit 1")
    project.check("gate", "run", code=3)
    (row,) = [event for event in project.events() if event["kind"] == "gate-ran"]
    assert (row["counts"], len(row["failing"]), row["names_are_whole"]) == ([6, 2, 0], 2, True)


def test_what_was_typed_and_said_is_kept_masked(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PWD", "hunter-22")
    project.prompt("ulw mend it, the server is postgres://u:pa55-word@h/db and its password hunter-22")
    project.prompt("and not hunter-22 alone")
    project.agent_ends("omo:qa", "The password hunter-22 works; GH_PAT=abcdef-1 too")
    project.stop()
    project.check("ulw", "done", "--because", "hunter-22 was enough")
    everything = kept(project) + project.stop().stdout + project.omo("report", "--md").out
    assert [secret for secret in ("hunter-22", "pa55-word", "abcdef-1") if secret in everything] == []


def test_a_secret_in_a_gates_own_command_is_run_and_not_shown(project: Project) -> None:
    project.prompt("ulw fix it")
    fails = ("sh", "-c", 'echo "it is $API_TOKEN"; exit 1')
    project.check("gate", "add", "tests", "--", "env", "API_TOKEN=hunter-22", *fails)
    shown = "".join(project.omo(*call).out for call in (("gate", "run"), ("gate", "list"), ("ulw", "status")))
    shown += project.omo("gate", "list", "--json").out + project.omo("report", "--md").out
    assert "hunter-22" not in shown
    assert "it is ***" in shown


# Of a stranger's code


@pytest.mark.parametrize(
    ("name", "value", "neighbour", "other"),
    [
        ("LC_TIME", "C", "LC", "C"),
        ("GOPATH", "/go", "GOPRIVATE", "x"),
        ("CARGO_HOME", "/cargo", "CARGO_REGISTRY_TOKEN", "x"),
        ("npm_config_cache", "/npm", "npm_config__authToken", "x"),
        ("PIP_CACHE_DIR", "/pip", "PIP_INDEX_URL", "https://h/simple"),
        ("CI", "1", "CI_JOB_TOKEN", "x"),
        ("TERM", "dumb", "TERM_PROGRAM", "x"),
        ("VIRTUAL_ENV", "/venv", "PYTHONPATH", "/x"),
        ("LANG", "C", "LD_PRELOAD", "/x"),
        ("TZ", "UTC", "TERM", "https://u:p@h"),
    ],
)
def test_a_strangers_code_gets_what_says_where_tools_lie(name: str, value: str, neighbour: str, other: str) -> None:
    given = variables.for_stranger({name: value, neighbour: other, "HOME": "/none"}, "/home of/its own")
    assert given[name] == value
    assert neighbour not in given
    assert given["HOME"] == "/home of/its own"


def test_caches_in_the_users_home_are_found_from_another_one(tmp_path: Path) -> None:
    for place in (".cargo", ".m2/repository", "go"):
        (tmp_path / place).mkdir(parents=True)
    given = variables.for_stranger({"HOME": str(tmp_path), "GOPATH": "/go"}, "/other")
    assert (given["CARGO_HOME"], given["GOPATH"]) == (str(tmp_path / ".cargo"), "/go")
    assert given["MAVEN_ARGS"] == f"-Dmaven.repo.local={tmp_path / '.m2/repository'}"
    assert "PYENV_ROOT" not in given


def test_nothing_is_found_by_the_directory_that_a_strangers_code_runs_in() -> None:
    assert variables.for_stranger({"PATH": "/bin:.::node_modules/.bin:/usr/bin"}, "/x")["PATH"] == "/bin:/usr/bin"


def test_the_home_of_a_strangers_code_is_gone_afterwards() -> None:
    with variables.strangers_home() as home:
        assert os.listdir(Path(home, ".config")) == []
        locked = Path(home, "go", "pkg")
        locked.mkdir(parents=True)
        (locked / "file").write_text("x")
        Path(home, "link").symlink_to("/")
        locked.chmod(0o500)
        assert Path(home).stat().st_mode & 0o077 == 0
    assert not Path(home).exists()
