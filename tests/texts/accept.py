"""Accept the text of one situation.

    python3 tests/texts/accept.py NAME (user|agent|both) 'TEXT with {words} for what varies'

A row of that name gets the text; without one it is new, in the file that its name begins with.
Without arguments the rows of each file are put in order, as after a merge.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.texts import rows


def main() -> int:
    if len(sys.argv) == 1:
        for path in rows.files():
            path.write_text(rows.written(list(dict.fromkeys(rows.rows_of(path)))), encoding="utf-8")
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("reader", choices=(rows.USER, rows.AGENT, rows.BOTH))
    parser.add_argument("text")
    given = parser.parse_args()
    try:
        path = accept(rows.HERE, rows.Row(given.name, given.reader, given.text))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{path.name}: {given.name}")
    return 0


def accept(directory: Path, row: rows.Row) -> Path:
    """Write one row. Another reader makes a row that was there one for both."""
    rows.parse(rows.written([row]))
    path = directory / f"{row.name.partition('-')[0]}.txt"
    kept = {each.name: each for each in rows.rows_of(path)} if path.exists() else {}
    if row.name in kept and kept[row.name].reader != row.reader:
        row = rows.Row(row.name, rows.BOTH, row.text)
    kept[row.name] = row
    path.write_text(rows.written(list(kept.values())), encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.exit(main())
