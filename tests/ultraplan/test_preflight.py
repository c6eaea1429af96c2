"""What a session needs is asked before its first step, of git, the file system and the network, never of prose."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from omo.workflows.ultraplan import preflight
from tests import texts
from tests.ultraplan.plans import git, project


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path)


@pytest.fixture
def remote(tmp_path: Path, root: Path) -> Path:
    """A bare repository that is the project's origin."""
    bare = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    git(root, "remote", "add", "origin", str(bare))
    return bare


def ask(root: Path, need: str, environ: Mapping[str, str] | None = None) -> preflight.PreflightNeed:
    (answer,) = preflight.check([need], root, environ=os.environ if environ is None else environ, by="user").needs
    return answer


def push(root: Path, **environ: str) -> preflight.PreflightNeed:
    return ask(root, "git_push", {**os.environ, **environ})


def pointed_at(root: Path, url: str) -> None:
    git(root, "remote", "add", "origin", url)


@contextmanager
def served(answers: Mapping[str, int]) -> Iterator[tuple[int, list[str]]]:
    """A server on this machine that answers each method with a status; its port, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            asked.append(f"{self.command} {self.path}")
            self.send_response(answers[self.command])
            if answers[self.command] == 401:
                self.send_header("WWW-Authenticate", 'Basic realm="here"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_CONNECT = answer

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1], asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def closed() -> Iterator[int]:
    """A port that nobody listens on: bound, so that nobody else gets it."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])


# git_push: what is fine


@pytest.mark.usefixtures("remote")
def test_a_branch_may_be_called_anything(root: Path) -> None:
    for branch in ("main", "fix-error-handling", "rejected/permission-denied", "forbidden", "fatal-128", "!"):
        git(root, "checkout", "-q", "-B", branch)
        assert push(root).status == "ok", branch


def test_nothing_is_pushed_and_the_answer_says_that_the_servers_hooks_were_not_asked(root: Path, remote: Path) -> None:
    hook = remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    answer = push(root)
    assert answer.status == "ok"
    assert texts.says(answer.detail, "ultraplan-push-would-do")
    assert git(remote, "for-each-ref") == ""
    hook.unlink()
    git(root, "push", "-q", str(remote), "main")
    assert push(root).status == "ok", "what is up to date can be pushed"


# git_push: what keeps it from working, in git's words


def unborn(root: Path, port: int) -> None:
    pointed_at(root, str(root / "elsewhere"))
    git(root, "checkout", "-q", "--orphan", "new")


def detached(root: Path, port: int) -> None:
    pointed_at(root, str(root / "elsewhere"))
    git(root, "checkout", "-q", "--detach")


FAILURES = {
    "before the first commit": (unborn, "new"),
    "no branch checked out": (detached, "not currently on a branch"),
    "a directory that is not there": (lambda root, port: pointed_at(root, str(root / "nowhere.git")), "nowhere.git"),
    "a directory that is no repository": (lambda root, port: pointed_at(root, str(root / "src")), "src"),
    "ssh to a closed port": (lambda root, port: pointed_at(root, f"ssh://git@127.0.0.1:{port}/x.git"), "fatal"),
    "http to a closed port": (lambda root, port: pointed_at(root, f"http://127.0.0.1:{port}/x.git"), "127.0.0.1"),
    "a host without an address": (lambda root, port: pointed_at(root, "https://nowhere.invalid/x.git"), "nowhere"),
    "a transport nobody knows": (lambda root, port: pointed_at(root, "carrier::pigeon"), "carrier"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_what_git_says_is_kept_with_its_exit_code(root: Path, closed: int, failure: str) -> None:
    bring_about, words = FAILURES[failure]
    bring_about(root, closed)
    answer = push(root)
    assert answer.status == "missing"
    assert texts.says(answer.detail, "ultraplan-push-ended")
    assert not texts.says(answer.detail, "ultraplan-push-ended", exit=0)
    assert words in answer.detail


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_host_that_turns_git_away_was_asked_for_a_push_and_no_credentials_are_shown(root: Path, status: int) -> None:
    with served({"GET": status}) as (port, asked):
        pointed_at(root, f"http://user:s3cret@127.0.0.1:{port}/x.git")
        answer = push(root)
    assert asked[0] == "GET /x.git/info/refs?service=git-receive-pack"
    assert answer.status == "missing"
    assert ("s3cret" in answer.detail, "127.0.0.1" in answer.detail) == (False, True)


def test_a_host_that_takes_the_connection_and_never_answers_is_unknown(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "PUSH_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        pointed_at(root, f"http://127.0.0.1:{silent.getsockname()[1]}/x.git")
        answer = push(root)
    assert answer.status == "unknown"
    assert texts.says(answer.detail, "ultraplan-push-timed-out", seconds=0.3)


def test_nor_are_they_where_the_push_would_work(root: Path, remote: Path) -> None:
    git(root, "config", f"url.{remote}.insteadOf", "http://user:s3cret@host/x.git")
    git(root, "remote", "set-url", "origin", "http://user:s3cret@host/x.git")
    answer = push(root)
    assert (answer.status, "s3cret" in answer.detail) == ("ok", False)


# git_push: which remote


def test_the_remote_is_the_one_git_would_push_to_and_the_only_one_whatever_its_name(root: Path, remote: Path) -> None:
    git(root, "remote", "rename", "origin", "upstream")
    assert push(root).status == "ok"
    git(root, "remote", "add", "origin", str(root / "nowhere.git"))
    assert push(root).status == "missing"
    git(root, "config", "remote.pushDefault", "upstream")
    assert push(root).status == "ok"


def test_a_remote_that_looks_like_an_option_is_none(root: Path, remote: Path, tmp_path: Path) -> None:
    mark, program = marking(tmp_path)
    git(root, "config", "remote.pushDefault", f"--receive-pack={program}")
    assert push(root).status == "missing"
    assert not mark.exists()


# git_push: nothing that the repository names is started


def marking(tmp_path: Path) -> tuple[Path, Path]:
    mark, program = tmp_path / "mark", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    program.chmod(0o755)
    return mark, program


@pytest.mark.parametrize(
    "key", ["core.sshCommand", "credential.helper", "credential.http://127.0.0.1.helper", "core.askPass"]
)
def test_a_program_in_the_repositorys_configuration_is_not_started(root: Path, tmp_path: Path, key: str) -> None:
    mark, program = marking(tmp_path)
    with served({"GET": 401}) as (port, _):
        url = f"ssh://127.0.0.1:{port}/x" if "ssh" in key else f"http://127.0.0.1:{port}/x"
        pointed_at(root, url)
        git(root, "config", key, f"!{program}" if "helper" in key else str(program))
        answer = push(root)
    assert answer.status == "unknown"
    assert texts.says(answer.detail, "ultraplan-push-program-not-started")
    assert key.lower() in answer.detail.lower()
    assert not mark.exists()


def test_nor_one_that_stands_in_an_included_file(root: Path, tmp_path: Path) -> None:
    mark, program = marking(tmp_path)
    (root / ".git" / "more").write_text(f"[core]\n\tsshCommand = {program}\n")
    git(root, "config", "include.path", "more")
    pointed_at(root, "ssh://127.0.0.1/x")
    assert push(root).status == "unknown"
    assert not mark.exists()


def test_nor_a_hook(root: Path, remote: Path, tmp_path: Path) -> None:
    mark, program = marking(tmp_path)
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    (root / ".git" / "hooks" / "pre-push").symlink_to(program)
    assert push(root).status == "ok"
    assert not mark.exists()


def test_nor_a_remote_that_is_a_command(root: Path, tmp_path: Path) -> None:
    mark, program = marking(tmp_path)
    mine = tmp_path / "gitconfig"
    mine.write_text("[protocol]\n\tallow = always\n")
    pointed_at(root, f"ext::{program}")
    assert push(root, GIT_CONFIG_GLOBAL=str(mine)).status == "missing"
    assert not mark.exists()


def test_the_users_own_credential_helper_is_asked(root: Path, tmp_path: Path) -> None:
    mark, program = marking(tmp_path)
    mine = tmp_path / "gitconfig"
    mine.write_text(f"[credential]\n\thelper = !{program}\n")
    with served({"GET": 401}) as (port, _):
        pointed_at(root, f"http://127.0.0.1:{port}/x.git")
        assert push(root, GIT_CONFIG_GLOBAL=str(mine)).status == "missing"
    assert mark.exists()


@pytest.mark.usefixtures("remote")
def test_variables_that_speak_of_another_repository_are_not_heard(root: Path, tmp_path: Path) -> None:
    other = project(tmp_path / "other")
    assert push(root, GIT_DIR=str(other / ".git"), GIT_CONFIG_PARAMETERS="'remote.origin.url=/nowhere'").status == "ok"


@pytest.mark.parametrize(("status", "wanted"), [(200, "ok"), (403, "missing"), (407, "missing")])
def test_the_network_is_asked_through_the_proxy_and_its_status_counts(root: Path, status: int, wanted: str) -> None:
    with served({"CONNECT": status}) as (port, asked):
        answer = ask(root, "network", {"https_proxy": f"http://127.0.0.1:{port}"})
    assert answer.status == wanted
    assert asked[0] == "CONNECT github.com:443"


def test_a_proxy_that_is_not_there_is_no_network(root: Path, closed: int) -> None:
    assert ask(root, "network", {"HTTPS_PROXY": f"http://127.0.0.1:{closed}"}).status == "missing"
