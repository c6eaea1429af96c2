"""The first minute: how long until omo's Python environment is ready, and until a session goes on.

    python3 bench/install.py [--rounds N]      exits 1 when a bound is not met

An environment is built as the first `ulw` has one built, in a home of its own: `warm` with the packages in the cache of
pip or uv, `cold` with an empty one, as far as the package index is reached over a network. `cold` may take no longer
than `plain`: python3 -m venv and pip install pydantic, by the same interpreter, with an empty cache too. `named` is a
session start whose OMO_ENV_HOME names a home that has an environment. Seconds on the wall, the best of the rounds: run
it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENSURE = ["sh", str(ROOT / "hooks" / "environment.sh"), "ensure"]
REQUIREMENTS = str(ROOT / "requirements.txt")
START = 'plugin_root=$1 plugin_data=$2 plugin_project=$PWD host=claude event=session-start; . "$1/hooks/launch.sh"'
EVENT = b'{"session_id": "bench", "hook_event_name": "SessionStart", "source": "startup", "cwd": "."}\n'
BOUNDS = {"warm": 10.0, "named": 1.0}


def seconds(command: list[str], environ: Mapping[str, str], cwd: Path, given: bytes = b"") -> float:
    began = time.perf_counter()
    subprocess.run(command, env=dict(environ), cwd=cwd, input=given, check=True, capture_output=True)
    return time.perf_counter() - began


def built(scratch: Path, name: str, **variables: str) -> float:
    home = scratch / name
    return seconds([*ENSURE, str(home), REQUIREMENTS], {**os.environ, **variables}, scratch)


def started(scratch: Path, name: str, ready: Path) -> float:
    """With data of its own that has nothing in it."""
    project = scratch / f"{name} project"
    project.mkdir()
    data = scratch / name
    environ = {**os.environ, "OMO_ENV_HOME": str(ready), "HOME": str(scratch)}
    took = seconds(["sh", "-c", START, "sh", str(ROOT), str(data)], environ, project, EVENT)
    if data.exists() and [path.name for path in data.iterdir()] != ["root"]:
        raise SystemExit(f"the session built something in {data}, though it was told where an environment is")
    return took


def plain(scratch: Path, number: int, cache: str) -> float:
    python = (scratch / "ready" / "interpreter").read_text(encoding="utf-8").strip()
    environment = scratch / f"plain {number}"
    environ = {**os.environ, "PIP_CACHE_DIR": cache}
    took = seconds([python, "-m", "venv", str(environment)], environ, scratch)
    return took + seconds([str(environment / "bin" / "pip"), "install", "pydantic"], environ, scratch)


def measured(rounds: int) -> dict[str, float]:
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="omo install ") as directory:
        scratch = Path(directory)
        built(scratch, "ready")  # which fills the cache
        for number in range(rounds):
            cache = str(scratch / f"cache {number}")
            taken = {
                "warm": built(scratch, f"warm {number}"),
                "plain": plain(scratch, number, f"{cache} of plain"),
                "cold": built(scratch, f"cold {number}", PIP_CACHE_DIR=cache, UV_CACHE_DIR=cache),
                "named": started(scratch, f"named {number}", scratch / "ready"),
            }
            for name, value in taken.items():
                best[name] = min(value, best.get(name, value))
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    best = measured(parser.parse_args().rounds)
    print(f"{'':8} {'seconds':>8} {'bound':>6}")
    bounds = {**BOUNDS, "cold": best["plain"]}
    print(f"{'plain':8} {best['plain']:8.1f}")
    for name, bound in bounds.items():
        print(f"{name:8} {best[name]:8.1f} {bound:6.1f}{'' if best[name] <= bound else '  over'}")
    return 1 if any(best[name] > bound for name, bound in bounds.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
