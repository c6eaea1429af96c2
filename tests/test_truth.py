"""Every ending of `bench/truth.py` is told in a word that fits what happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.truth import Ending, every_ending, played


@pytest.mark.parametrize("which", every_ending(), ids=lambda which: f"{which.workflow}: {which.name}")
def test_the_user_is_told_what_happened(which: Ending, tmp_path: Path) -> None:
    word, sentence, log = played(which, tmp_path)
    assert word in which.right, sentence + "\n" + "\n".join(log)


def test_every_ending_is_there_once() -> None:
    names = [(which.workflow, which.name) for which in every_ending()]
    assert len(set(names)) == len(names)
