"""Which mutants are tried if there is no time for all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from omo.mutants import Mutant, mutants_of, sample
from tests.mutants.tools import every_line, made, tools

LONG = "".join(f"def f{number}(a, b):\n    if a < b and b: go(a + b)\n    return a\n" for number in range(40))
SHORT = "def g(a):\n    return a - 1\n"


def every() -> list[Mutant]:
    found: list[Mutant] = []
    for path, source in {"long.py": LONG, "short.py": SHORT, "other.py": SHORT}.items():
        content = source.encode()
        found += made(mutants_of(path, content, every_line(content), tools(Path.cwd())))
    return found


EVERY = every()


@given(st.integers(0, len(EVERY) + 1), st.text(), st.randoms())
def test_the_same_seed_picks_the_same_from_any_order(most: int, seed: str, random: Random) -> None:
    shuffled = list(EVERY)
    random.shuffle(shuffled)
    picked = sample(shuffled, most, seed)
    assert picked == sample(EVERY, most, seed)
    assert len(picked) == len(set(picked)) == min(most, len(EVERY))
    assert picked[: most // 2] == sample(EVERY, most // 2, seed)


def test_another_seed_picks_others() -> None:
    assert len({tuple(mutant.line for mutant in sample(EVERY, 10, str(seed))) for seed in range(10)}) > 1


def test_small_files_lines_and_kinds_have_their_share() -> None:
    picked = sample(EVERY, 24, "seed")
    assert Counter(mutant.path for mutant in picked) == {"long.py": 20, "short.py": 2, "other.py": 2}
    of_long = [mutant for mutant in picked if mutant.path == "long.py"]
    assert len({mutant.line for mutant in of_long}) == 20
    kinds = Counter(mutant.kind for mutant in picked)
    assert set(kinds) == {"condition", "comparison", "boolean", "call", "return", "arithmetic"}
    assert min(kinds.values()) >= 2
