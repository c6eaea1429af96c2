"""The packages from npm that some tests use, in the user's cache: in the clone an installation would copy them along.

    python tests/packages.py        fetches what is not there yet, which `tests/run --clients` does

Each folder with a lock file has a directory that the digest of that file names.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CLIENT, CODEX, COPILOT, RUNNERS = "tests/e2e/client", "tests/e2e/codex", "tests/e2e/copilot", "tests/runners"
FOLDERS = (CLIENT, CODEX, COPILOT, RUNNERS)
HOME = "OMO_TEST_NPM"  # names the directory of them all, also in a test whose home is another
KEPT_SECONDS = 30 * 86400  # after the last run that asked for them
ABANDONED_SECONDS = 86400


def home() -> Path:
    named = os.environ.get(HOME)
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache, "omo", "dev", "npm")


def directory(folder: str) -> str:
    """Return the digest of this folder's lock file, which names the directory."""
    return hashlib.sha256((ROOT / folder / "package-lock.json").read_bytes()).hexdigest()[:16]


def node_modules(folder: str) -> Path:
    """Return where the packages of this folder's lock file are once they were fetched."""
    return home() / directory(folder) / "node_modules"


def main() -> int:
    home().mkdir(parents=True, exist_ok=True)
    remove_old()
    failed = [folder for folder in FOLDERS if not fetch(folder)]
    for folder in failed:
        print(f"tests/run: npm ci failed in {folder}; tests that need what it lists are skipped", file=sys.stderr)
    return 1 if failed else 0


def fetch(folder: str) -> bool:
    """Install the packages beside their place and move them there, so that what is there is whole."""
    target = node_modules(folder).parent
    if target.is_dir():
        os.utime(target)  # so that it is not removed
        return True
    npm = shutil.which("npm")
    if npm is None:
        return False
    aside = Path(tempfile.mkdtemp(prefix="new-", dir=home()))
    for name in ("package.json", "package-lock.json", ".npmrc"):
        if (ROOT / folder / name).exists():
            shutil.copy(ROOT / folder / name, aside)
    # `ci` refuses a lock without the packages for other systems, and a registry need not have them.
    for words in (["ci"], ["install", "--no-save"]):
        command = [npm, *words, "--silent", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=aside, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode == 0:
            break
    else:
        shutil.rmtree(aside)
        return False
    try:
        aside.rename(target)
    except OSError:  # another run has fetched the same
        shutil.rmtree(aside)
    return True


def remove_old() -> None:
    for path in home().iterdir():
        age = time.time() - path.stat().st_mtime
        if age > (ABANDONED_SECONDS if path.name.startswith("new-") else KEPT_SECONDS):
            shutil.rmtree(path, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
