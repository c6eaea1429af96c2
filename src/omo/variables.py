"""The user's own variables: the commands that omo runs get them beside those that find their tools.

In an agent's shell anybody may have set one. There those count that the client has too: a hook, which the client
starts, keeps a mark of each when the user asks for the work.
"""

from __future__ import annotations

import os

from omo import hosts, masking
from omo.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

SECRET = ("TOKEN", "SECRET", "PASSW", "CREDENTIAL", "KEY")
# What says which session or repository is meant, or opens an account.
NEVER_HANDED_ON = ("OMO_", "GIT_", "SSH_", "GPG_", *hosts.OWN_PREFIXES)
OF_EACH_SHELL = ("PWD", "OLDPWD", "SHLVL", "_")
MOST_MARKS = 300

_names: Callable[[], Collection[str]] = tuple


class handing_on:
    """`with handing_on(names):`. Whoever runs a command meanwhile hands these on; `names` is asked only then."""

    def __init__(self, names: Callable[[], Collection[str]]) -> None:
        self.names = names

    def __enter__(self) -> None:
        global _names
        self._before, _names = _names, self.names

    def __exit__(self, *problem: object) -> None:
        global _names
        _names = self._before


def handed_on() -> Collection[str]:
    return _names()


def is_secret(name: str) -> bool:
    return any(word in name.upper() for word in SECRET)


def may_be_handed_on(name: str) -> bool:
    return name not in OF_EACH_SHELL and not name.upper().startswith(NEVER_HANDED_ON) and not is_secret(name)


def marks(environ: Mapping[str, str]) -> list[str]:
    """By which a variable is known again, with its value."""
    return sorted(_mark(name, environ[name]) for name in environ if may_be_handed_on(name))[:MOST_MARKS]


def marked(environ: Mapping[str, str], known: Collection[str]) -> set[str]:
    """The names of those that have one of the marks."""
    return {name for name in environ if may_be_handed_on(name) and _mark(name, environ[name]) in known}


def _mark(name: str, value: str) -> str:
    return sha256(f"{name}={value}".encode("utf-8", "surrogateescape"))[:12]


# What a stranger's code gets: where its tools are and how it is to print, and nothing that opens an account.
OF_TOOLS = frozenset(
    (
        *("PATH", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR", "TEMP", "TMP", "USER", "LOGNAME", "SHELL", "CI"),
        *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_VERSION", "RBENV_VERSION", "NVM_BIN", "FNM_DIR"),
        *(
            "GOROOT",
            "GOMODCACHE",
            "GOFLAGS",
            "GOTOOLCHAIN",
            "GEM_HOME",
            "RUSTUP_TOOLCHAIN",
            "DOTNET_ROOT",
            "GEM_PATH",
            "NODE_EXTRA_CA_CERTS",
        ),
        *("JAVA_HOME", "M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT", "BUN_INSTALL"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    )
)
# Where toolchains and their caches lie, and where in the user's home if nothing says so: it gets another home.
OF_CACHES = {
    "CARGO_HOME": ".cargo",
    "RUSTUP_HOME": ".rustup",
    "GOPATH": "go",
    "GOCACHE": ".cache/go-build",
    "GRADLE_USER_HOME": ".gradle",
    "PYENV_ROOT": ".pyenv",
    "PYTHONUSERBASE": ".local",
    "PIP_CACHE_DIR": ".cache/pip",
    "UV_CACHE_DIR": ".cache/uv",
    "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python",
    "POETRY_CACHE_DIR": ".cache/pypoetry",
    "NVM_DIR": ".nvm",
    "VOLTA_HOME": ".volta",
    "PNPM_HOME": ".local/share/pnpm",
    "npm_config_cache": ".npm",
    "YARN_CACHE_FOLDER": ".cache/yarn",
    "DENO_DIR": ".cache/deno",
    "PLAYWRIGHT_BROWSERS_PATH": ".cache/ms-playwright",
    "RBENV_ROOT": ".rbenv",
    "BUNDLE_USER_CACHE": ".bundle/cache",
    "COMPOSER_CACHE_DIR": ".cache/composer",
    "NUGET_PACKAGES": ".nuget/packages",
    "ASDF_DATA_DIR": ".asdf",
    "MISE_DATA_DIR": ".local/share/mise",
}
# By an option: Maven has no variable for its cache.
MAVEN_CACHE = ("MAVEN_ARGS", "-Dmaven.repo.local={}", ".m2/repository")
OF_A_HOME = {
    "HOME": "",
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_RUNTIME_DIR": ".run",
}


def for_stranger(environ: Mapping[str, str], home: str) -> dict[str, str]:
    """Return the environment for code of a stranger's, with `home` as its home directory."""
    given = {}
    for name, value in environ.items():
        if (name in OF_TOOLS or name in OF_CACHES or name.startswith("LC_")) and not masking.has_login(value):
            given[name] = value
    # Nothing is found by the directory that it runs in.
    directories = [entry for entry in given.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(entry)]
    given["PATH"] = os.pathsep.join(directories)
    own = environ.get("HOME", "")
    for name, place in OF_CACHES.items():
        if name not in given and own and os.path.isdir(lies := os.path.join(own, place)):
            given[name] = lies
    name, option, place = MAVEN_CACHE
    if own and os.path.isdir(lies := os.path.join(own, place)):
        given[name] = option.format(lies)
    for name, place in OF_A_HOME.items():
        given[name] = os.path.normpath(os.path.join(home, place))
    return given


class strangers_home:
    """`with strangers_home() as home:`. An empty home directory, which is removed with all that was left in it."""

    def __enter__(self) -> str:
        import tempfile

        self._home = tempfile.mkdtemp(prefix="omo-home-")
        for place in OF_A_HOME.values():
            os.makedirs(os.path.join(self._home, place), mode=0o700, exist_ok=True)
        return self._home

    def __exit__(self, *problem: object) -> None:
        import shutil

        for directory, names, _ in os.walk(self._home):  # some tools leave directories that nobody may write
            for name in names:
                if not os.path.islink(below := os.path.join(directory, name)):
                    os.chmod(below, 0o700)
        shutil.rmtree(self._home, ignore_errors=True)
