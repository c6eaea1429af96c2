"""Writes the version of src/omo/__init__.py into the files that repeat it.

python docs/make_versions.py            rewrites the files
python docs/make_versions.py VERSION    the same, and makes it this version first
python docs/make_versions.py --check    exits 1 if a file says another version
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "src/omo/__init__.py"
OF_SOURCE = re.compile(r'(?m)^(__version__ = ")([^"]+)(")$')
OF_MANIFEST = re.compile(r'(?m)^(  "version": ")([^"]+)(",)$')
OF_PROJECT = re.compile(r'(?m)^(version = ")([^"]+)(")$')
COPIES = {
    "plugin.json": OF_MANIFEST,
    ".claude-plugin/plugin.json": OF_MANIFEST,
    ".codex-plugin/plugin.json": OF_MANIFEST,
    "pyproject.toml": OF_PROJECT,
}
VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


def current() -> str:
    return said(SOURCE, OF_SOURCE)


def said(name: str, pattern: re.Pattern[str]) -> str:
    """Return the version in a file."""
    found = pattern.search((ROOT / name).read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit(f"{name}: no line says the version")
    return found[2]


def write(version: str) -> None:
    for name, pattern in {SOURCE: OF_SOURCE, **COPIES}.items():
        file = ROOT / name
        text = file.read_text(encoding="utf-8")
        file.write_text(pattern.sub(rf"\g<1>{version}\g<3>", text, count=1), encoding="utf-8")


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        stale = [name for name, pattern in COPIES.items() if said(name, pattern) != current()]
        if stale:
            print(f"{', '.join(stale)}: not version {current()}: python docs/make_versions.py", file=sys.stderr)
        return 1 if stale else 0
    version = arguments[0] if arguments else current()
    if not VERSION.fullmatch(version):
        print(f"{version}: not a version; it has three numbers, such as 0.2.1", file=sys.stderr)
        return 2
    write(version)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
