"""Reads the names of tests from the JUnit files that Maven's Surefire writes with each run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from xml.etree import ElementTree

from omo import safe_open
from omo.proof.kinds import PACKAGES

DIRECTORY = os.path.join("target", "surefire-reports")
LARGEST = 8_000_000  # bytes of a report, which has in it what its tests print


class Reports:
    """The reports below a directory. Those that were there before are of an earlier run."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._before = dict(self._versions())

    def names_since(self) -> list[str]:
        """Return the tests that ran since then, passed or failed, as `Class.test`."""
        names: list[str] = []
        for path, version in self._versions():
            if self._before.get(path) != version:
                names += _names_in(path)
        return names

    def _versions(self) -> Iterator[tuple[str, tuple[int, int]]]:
        for where, directories, _ in os.walk(self.directory):
            directories[:] = [name for name in directories if not name.startswith(".") and name not in PACKAGES]
            if "target" not in directories:
                continue
            directories.remove("target")
            reports = os.path.join(where, DIRECTORY)
            if not os.path.isdir(reports):
                continue
            for entry in os.scandir(reports):
                if entry.name.startswith("TEST-") and entry.name.endswith(".xml"):
                    status = entry.stat(follow_symlinks=False)
                    yield entry.path, (status.st_mtime_ns, status.st_ino)


def _names_in(path: str) -> list[str]:
    try:
        suite = ElementTree.fromstring(safe_open.read_file(path, LARGEST))
    except (OSError, ElementTree.ParseError):
        return []  # then there are fewer names than tests, and none counts
    names = []
    for case in suite.iter("testcase"):
        if case.find("skipped") is None:
            names.append(f"{case.get('classname', '')}.{case.get('name', '')}")
    return names
