"""`claude plugin validate --strict`: the plugin, its marketplace, and as the plugin directory would take it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.e2e.client import find_binary  # noqa: E402


def main() -> int:
    binary = find_binary()
    if binary is None:
        print("the Claude Code client is not installed: ./tests/run --clients fetches it")
        return 1
    with tempfile.TemporaryDirectory() as home:
        of_plugin = ROOT / ".claude-plugin"
        for path, options in (
            (of_plugin / "plugin.json", []),
            (of_plugin / "marketplace.json", []),
            (ROOT, ["--profile", "directory"]),
        ):
            command = [str(binary), "plugin", "validate", "--strict", *options, str(path)]
            done = subprocess.run(
                command, env={"HOME": home, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False
            )
            said = "passed" if done.returncode == 0 else done.stdout + done.stderr
            print(f"validate {' '.join([path.name, *options])}: {said}")
            if done.returncode:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
