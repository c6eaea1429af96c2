"""Time as the state files write it: UTC, milliseconds, `2026-02-22T17:20:01.000Z`."""

from __future__ import annotations

import time


def stamp(now: float) -> str:
    whole = int(now // 1)
    moment = time.gmtime(whole)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', moment)}.{int((now - whole) * 1000):03d}Z"


def seconds(text: str) -> float:
    """Back from a stamp, also one written by hand without milliseconds. Raises ValueError on anything else.

    By hand because hooks need it: datetime.strptime costs more than the rest of the decision.
    """
    date, _, clock = text.removesuffix("Z").partition("T")
    if not text.endswith("Z") or len(date) != 10 or len(clock) < 8:
        raise ValueError(f"{text!r} is not a UTC time such as 2026-02-22T17:20:01Z")
    year, month, day = map(int, date.split("-"))
    hours, minutes, rest = clock.split(":")
    return (_days(year, month, day) * 24 + int(hours)) * 3600.0 + int(minutes) * 60 + float(rest)


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the Gregorian calendar, years counted from March so that leap days come last."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        raise ValueError(f"{year}-{month}-{day} is not a date")
    year -= month <= 2
    since_march = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + since_march - 719468
