"""Fails when a test was skipped for any reason but those listed here.

python .ci/skipped.py REPORT ...        the JUnit reports of the parts of the tests
"""

from __future__ import annotations

import sys
from xml.etree import ElementTree

EXCUSED = (
    "root may",
    "root reads",  # file permissions cannot be tried as root
    "busybox",  # one more shell, where it is installed
)


def main(*paths: str) -> int:
    parts = [list(ElementTree.parse(path).iter("testcase")) for path in paths]
    cases = [case for part in parts for case in part]
    skipped = [(case, found.get("message", "")) for case in cases if (found := case.find("skipped")) is not None]
    unexcused = [(case, why) for case, why in skipped if not any(excuse in why for excuse in EXCUSED)]
    for case, why in unexcused:
        print(f"skipped, but should have run: {case.get('classname')}::{case.get('name')}: {why}")
    print(f"{len(cases)} tests, {len(skipped)} skipped, {len(unexcused)} of them without an excuse")
    return 0 if all(parts) and not unexcused else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
