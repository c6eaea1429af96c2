"""`claude plugin validate --strict` on the plugin and on its marketplace, with the client the tests use."""

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
        print("the Claude Code client is not installed: run npm ci in tests/e2e/client")
        return 1
    with tempfile.TemporaryDirectory() as home:
        for path in (ROOT / ".claude-plugin" / "plugin.json", ROOT / ".claude-plugin" / "marketplace.json"):
            command = [str(binary), "plugin", "validate", "--strict", str(path)]
            done = subprocess.run(
                command, env={"HOME": home, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False
            )
            print(f"validate {path.name}: {'passed' if done.returncode == 0 else done.stdout + done.stderr}")
            if done.returncode:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
