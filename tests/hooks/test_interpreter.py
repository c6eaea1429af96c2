"""Which Python runs the hooks: the one that is kept, another where that fails, and never one that the project names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omo.state import RUNTIME_VERSION
from tests.hooks.conftest import NO_COOLDOWN, ROOT, SESSION, Answer, Host, command_of, point_at
from tests.hooks.test_codex import Codex
from tests.hooks.test_copilot import Copilot
from tests.hooks.test_launcher import without_python
from tests.kept import copied, git_init

CANNOT_RUN = "hook-cannot-run"


def script(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def gone(pointer: Path, aside: Path) -> None:
    pointer.unlink()


def a_directory_itself(pointer: Path, aside: Path) -> None:
    pointer.unlink()
    (pointer / "x").mkdir(parents=True)


def a_link_to_nowhere(pointer: Path, aside: Path) -> None:
    pointer.unlink()
    pointer.symlink_to(aside / "nowhere")


def a_pipe(pointer: Path, aside: Path) -> None:
    pointer.unlink()
    os.mkfifo(pointer)


def holds(make: Callable[[Path], str]) -> Callable[[Path, Path], None]:
    def write(pointer: Path, aside: Path) -> None:
        pointer.write_text(make(aside), encoding="utf-8")

    return write


DAMAGES: dict[str, Callable[[Path, Path], None]] = {
    "gone": gone,
    "a directory": a_directory_itself,
    "a link to nowhere": a_link_to_nowhere,
    "a pipe": a_pipe,
    "empty": holds(lambda aside: ""),
    "an empty line": holds(lambda aside: "\n"),
    "cut": holds(lambda aside: sys.executable[:-3]),
    "cut at its end": holds(lambda aside: sys.executable),
    "no text": holds(lambda aside: "\0\x01\n"),
    "relative": holds(lambda aside: "python3\n"),
    "names a directory": holds(lambda aside: f"{aside}\n"),
    "names a program that is gone": holds(lambda aside: f"{aside}/python3\n"),
    "names /bin/true": holds(lambda aside: f"{shutil.which('true')}\n"),
    "names echo": holds(lambda aside: f"{shutil.which('echo')}\n"),
    "names what fails": holds(lambda aside: script(aside / "fails", "#!/bin/sh\nexit 49\n") + "\n"),
    "names what says something else": holds(
        lambda aside: script(aside / "says", '#!/bin/sh\necho \'{"decision": "block", "reason": "x"}\'\n') + "\n"
    ),
    "names no program": holds(lambda aside: script(aside / "bytes", "\x01\x02") + "\n"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_is_wrong_with_the_kept_python_is_mended_and_the_session_is_held(
    host: Host, data: Path, tmp_path: Path, damage: Callable[[Path, Path], None]
) -> None:
    host.prompt("ulw begin")
    aside = tmp_path / "aside"
    aside.mkdir()

    def damaged() -> None:
        (data / "environment").unlink()  # whose Python would do as well
        damage(data / "interpreter", aside)

    def assert_mended() -> None:
        kept = (data / "interpreter").read_text(encoding="utf-8")
        assert kept.count("\n") == 1
        said = subprocess.run([kept.strip(), "-I", "-c", "print(6 * 7)"], capture_output=True, check=True).stdout
        assert said == b"42\n"
        point_at(data, sys.executable)

    damaged()
    assert host.stop().blocks
    assert_mended()
    damaged()
    assert "ultrawork" in host.prompt("/omo:status").stdout
    assert_mended()
    damaged()
    assert "ultrawork" in host.send("SessionStart", source="resume").stdout
    assert_mended()
    assert host.stop().blocks
    assert not list(data.glob("interpreter.*"))


HOSTS = {"claude": Host, "codex": Codex, "copilot": Copilot}
EVENTS = ("Stop", "UserPromptSubmit", "SessionStart")


@pytest.fixture(params=HOSTS)
def any_host(request: pytest.FixtureRequest, tmp_path: Path, data: Path) -> Host:
    project = tmp_path / "project"
    copied(project, git_init)
    return HOSTS[request.param](project, data=data, environ=NO_COOLDOWN.copy())


def event_of(host: Host, event: str) -> str:
    """What this host calls it."""
    if isinstance(host, Copilot):
        return {"Stop": "agentStop", "UserPromptSubmit": "userPromptSubmitted", "SessionStart": "sessionStart"}[event]
    return event


def sent(host: Host, event: str, env: dict[str, str], session: str = SESSION, prompt: str = "hello") -> Answer:
    fields = {"session_id": session, "prompt": prompt, "source": "resume"}
    return host.send(event, env=env, **fields)


def test_without_any_python_a_session_that_is_on_is_told_in_the_form_of_its_host(any_host: Host, data: Path) -> None:
    any_host.prompt("ulw begin")
    for name in ("interpreter", "environment"):
        (data / name).unlink()
    none = {"PATH": without_python(any_host), "OMO_PYTHON_DIRS": ""}
    for event in EVENTS:
        answer = sent(any_host, event, none)
        assert answer.says_to_user(CANNOT_RUN), event
        for line in answer.stdout.splitlines():
            json.loads(line)
        assert sent(any_host, event, none, session="another").stdout == "", event
    for typed in ("ulw go on", "/omo:ultragoal x", "stop ulw"):
        answer = sent(any_host, "UserPromptSubmit", none, session="another", prompt=typed)
        assert answer.says_to_user(CANNOT_RUN), typed
    assert any_host.row()["ulw"]["enabled"]


def test_a_python_that_runs_everything_but_our_code_is_told(host: Host, data: Path, tmp_path: Path) -> None:
    """As half way through an update of the plugin."""
    host.prompt("ulw begin")
    plugin = tmp_path / "plugin"
    shutil.copytree(ROOT / "hooks", plugin / "hooks")
    (plugin / "src").mkdir()
    shutil.copy(ROOT / "requirements.txt", plugin)
    host.plugin = plugin
    assert host.stop().says_to_user(CANNOT_RUN)


@pytest.mark.parametrize("path", ["", "/nonexistent"])
def test_an_empty_path_is_survived(host: Host, data: Path, path: str) -> None:
    host.prompt("ulw begin")

    def stop() -> str:
        command = ["/bin/sh", "-c", command_of("Stop")]
        environ = host.environment(PATH=path)
        done = subprocess.run(
            command, input=host.payload("Stop"), env=environ, cwd=host.project, capture_output=True, check=True
        )
        return done.stdout.decode()

    assert '"block"' in stop()
    (data / "interpreter").write_text("")
    assert '"block"' in stop()


def test_where_nothing_can_be_kept_hooks_run_all_the_same(host: Host) -> None:
    nowhere = {"OMO_ENV_HOME": "/proc/omo", "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    assert host.send("UserPromptSubmit", prompt="ulw begin", env=nowhere).says_to_agent("prompt-turned-on")
    assert host.send("Stop", env=nowhere).blocks
    answer = host.send("PreToolUse", tool_name="Bash", tool_input={"command": "omo status"}, env=nowhere)
    assert "deny" not in answer.stdout


def test_a_state_of_a_newer_version_is_told(host: Host) -> None:
    host.prompt("ulw begin")
    host.prompt("ulw begin", session_id="stopped")
    host.prompt("/omo:stop-continuation", session_id="stopped")
    text = Path(host.state, "runtime.local.json").read_text(encoding="utf-8")
    text = text.replace(f'"version": {RUNTIME_VERSION}', '"version": 99', 1)
    host.write_runtime(text)
    shutil.rmtree(Path(os.environ["HOME"], ".local"), ignore_errors=True)  # what is known of it elsewhere
    for event, situation in (("Stop", "stop-state-is-newer"), ("UserPromptSubmit", "prompt-state-is-newer")):
        assert sent(host, event, {}).says_to_user(situation, version=99, known=RUNTIME_VERSION)
        assert sent(host, event, {}, session="another").stdout == ""
        assert sent(host, event, {}, session="stopped").stdout == ""
    assert Path(host.state, "runtime.local.json").read_text(encoding="utf-8") == text


WITNESS = '#!/bin/sh\necho "$0 $*" >>{witness}\nexit 1\n'
# As pyenv's shims and uv do, they look at the directory in which they are started, and at variables.
MANAGED = """#!/bin/sh
for name in .python-version .tool-versions mise.toml uv.toml pyproject.toml; do
    [ ! -e "$name" ] || echo "$0 reads $name" >>{witness}
done
case ${{PYENV_VERSION-}}${{PYENV_DIR-}}${{UV_PYTHON-}}${{UV_CONFIG_FILE-}}${{PYTHONPATH-}}${{VIRTUAL_ENV-}} in
?*) echo "$0 heeds a variable" >>{witness} ;;
esac
{rest}
"""


class Hostile:
    """A clone that does what it can to get its own Python started."""

    def __init__(self, host: Host, tmp_path: Path) -> None:
        self.host = host
        self.project = host.project
        self.witness = tmp_path / "witness"
        self.bin = tmp_path / "bin"
        for name in ("python3", "python", "python3.14", "uv"):
            for place in (self.project, self.project / "bin", self.project / ".venv" / "bin"):
                script(place / name, WITNESS.format(witness=self.witness))
        self.home = self.project / "cache" / "omo"
        self.home.mkdir(parents=True)
        for home in (self.home, self.project):
            point_at(home, str(self.project / "python3"))
        for name in (".python-version", ".tool-versions", "mise.toml", "uv.toml", "pyproject.toml"):
            (self.project / name).write_text('python-downloads-json-url = "file:evil.json"\n')

    def manager(self, name: str, rest: str) -> None:
        """A program of the user's that starts a Python."""
        script(self.bin / name, MANAGED.format(witness=self.witness, rest=rest))

    def variables(self, home: str) -> dict[str, str]:
        project = self.project
        directories = (
            ".",
            "bin",
            "",
            str(project),
            str(project / "bin"),
            "/proc/self/cwd/bin",
            f"{project}/../{project.name}",
        )
        return {
            "PATH": os.pathsep.join([*directories, str(self.bin), without_python(self.host)]),
            "OMO_ENV_HOME": home,
            "XDG_CACHE_HOME": str(project / "cache"),
            "PYENV_VERSION": "evil",
            "PYENV_DIR": str(project),
            "PYENV_ROOT": str(project),
            "UV_PYTHON": str(project / "python3"),
            "UV_CONFIG_FILE": str(project / "uv.toml"),
            "PYTHONPATH": str(project),
            "VIRTUAL_ENV": str(project / ".venv"),
            "OMO_PYTHON_DIRS": str(project / "bin"),
        }

    def seen(self) -> str:
        return self.witness.read_text() if self.witness.exists() else ""


@pytest.fixture
def hostile(host: Host, tmp_path: Path) -> Hostile:
    return Hostile(host, tmp_path)


def homes(hostile: Hostile) -> list[str]:
    return ["cache/omo", str(hostile.home), "/proc/self/cwd/cache/omo", f"{hostile.project}/x/../cache/omo"]


def ready(home: Path) -> None:
    """So that a ulw needs not build anything."""
    home.mkdir(parents=True, exist_ok=True)
    point_at(home, sys.executable)
    (home / "interpreter").unlink()
    (home / "environment").unlink()


def test_the_project_does_not_choose_the_python_of_its_hooks(hostile: Hostile) -> None:
    host = hostile.host
    hostile.manager("python3", f"exec '{sys.executable}' \"$@\"")
    own = Path(os.environ["HOME"], ".cache", "omo")
    for home in homes(hostile):
        ready(own)
        variables = hostile.variables(home)
        assert "ltrawork" in host.send("UserPromptSubmit", env=variables, prompt="ulw x").stdout
        assert host.send("Stop", env=variables).blocks
        host.send("SessionStart", env=variables, source="resume")
        assert hostile.seen() == ""
        assert (own / "interpreter").read_text().startswith("/")
        host.prompt("/omo:stop-continuation")
        host.prompt("thanks")


def test_the_project_does_not_choose_the_python_of_a_command(hostile: Hostile) -> None:
    hostile.manager("python3", f"exec '{sys.executable}' \"$@\"")
    for home in homes(hostile):
        ready(Path(os.environ["HOME"], ".cache", "omo"))
        variables = {"HOME": os.environ["HOME"], **hostile.variables(home)}
        for arguments in (["--version"], ["ulw", "--help"], ["status"]):
            command = [str(ROOT / "bin" / "omo"), *arguments]
            subprocess.run(command, env=variables, cwd=hostile.project, capture_output=True, check=False)
            assert hostile.seen() == "", arguments
        doctor = [str(ROOT / "bin" / "omo"), "doctor"]
        done = subprocess.run(doctor, env=variables, cwd=hostile.project, capture_output=True, text=True, check=False)
        assert f"is ignored: {home} " in done.stderr


def test_uv_brings_a_python_that_the_project_does_not_choose(hostile: Hostile) -> None:
    """Without one, a ulw has uv bring it; the answer comes at once."""
    asked = hostile.witness.with_name("asked")
    hostile.manager("uv", f'echo "$*" >>{asked}\nexit 2')
    own = Path(os.environ["HOME"], ".cache", "omo")
    command = ["/bin/sh", str(ROOT / "hooks" / "environment.sh"), "ensure", str(own), str(ROOT / "requirements.txt")]
    variables = {"HOME": os.environ["HOME"], **hostile.variables("")}
    variables["OMO_PYTHON_DIRS"] = ""
    variables["PATH"] = variables["PATH"].replace(
        "/proc/self/cwd/bin", str(hostile.project / "bin")
    )  # not the system's
    done = subprocess.run(command, env=variables, cwd=hostile.project, capture_output=True, text=True, check=False)
    assert "no Python 3.10" in done.stdout
    assert hostile.seen() == ""
    assert asked.read_text().startswith("run --no-config --no-project --python")


POINTERS = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.integers(0, len(sys.executable)).map(lambda cut: sys.executable[:cut].encode()),
    st.sampled_from(
        ["/bin/true", "/bin/cat", "/", "/dev/null", "/bin/ls", "../python3", "-c", "$(touch x)", "`touch x`"]
    )
    .flatmap(lambda name: st.sampled_from([f"{name}\n", name, f"{name}\n{sys.executable}\n"]))
    .map(str.encode),
)


def test_a_pointer_of_any_bytes_is_survived(host: Host, data: Path, tmp_path: Path) -> None:
    host.environ |= {"OMO_MAX_STOP_BLOCKS": "1000", "OMO_MAX_TOTAL_BLOCKS": "1000"}
    host.prompt("ulw begin")
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    home = tempfile.mkdtemp(dir=tmp_path)

    def files() -> dict[str, bytes]:
        found = [path for path in tmp_path.rglob("*") if path.is_file() and data not in path.parents]
        own = (".sisyphus", ".local")  # the record is written anew in another home
        return {str(path): path.read_bytes() for path in found if not set(own) & set(path.parts)}

    before = files()

    @settings(max_examples=25)
    @given(POINTERS)
    def survives(raw: bytes) -> None:
        (data / "environment").unlink(missing_ok=True)
        (data / "interpreter").write_bytes(raw)
        answer = host.raw("Stop", host.payload("Stop"), PATH=path, HOME=home)
        assert (answer.code, answer.stderr) == (0, "")
        assert answer.blocks
        assert files() == before

    survives()
