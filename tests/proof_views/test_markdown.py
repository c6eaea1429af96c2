"""A proof in a pull request: short, and what the change says stays text."""

from __future__ import annotations

import re

import pytest

from omo.json_text import Json
from omo.views.proof.markdown import markdown
from tests.proof_views import samples
from tests.proof_views.samples import hunk, mutant
from tests.report.hostile import NASTY
from tests.report.test_markdown import LINKED, WRITTEN, finished, tokens

PROVEN = """\
**✅ proven.** test\\_two fails without the change; 2 tests pass with it.

| | without the work | as it is |
|---|---|---|
| make test | fail: 1 failed, 1 passed: test\\_two | pass: 2 passed |

- make test: fails without the work and passes with it

2 hunks: 1 checked, 1 not checked.

1 of 2 mutants killed.

<details>
<summary>1 hunk that no test checks</summary>

```diff
@@ src/calc.py:1 @@
# no test fails when it is reverted, but tests kill 1 mutant of it
- LIMIT = 9
+ LIMIT = 11
```

</details>

<details>
<summary>1 mutant that lived: no test fails when the code says this instead</summary>

- src/calc.py:5: \\+ → \\-

</details>

<sub>omo 0.2.0, changes since `0123456789ab` (main)</sub>
"""

NOT_PROVEN = """\
**❌ not proven.** All 2 tests pass without the change too.

| | without the work | as it is |
|---|---|---|
| make test | pass: 2 passed | pass: 2 passed |

- make test: passes without the work

1 hunk: 1 not checked.

<details>
<summary>1 hunk that no test checks</summary>

```diff
@@ src/calc.py:1 @@
- LIMIT = 9
+ LIMIT = 11
```

</details>

What would help: write a test that fails without the change

<sub>omo 0.2.0, changes since `0123456789ab` (main), also those in no commit</sub>
"""

CANNOT_TELL = """\
**❔ cannot tell.** It fails and passes on the same files.

<sub>omo 0.2.0, changes since `0123456789ab`</sub>
"""


@pytest.mark.parametrize(
    ("data", "text"),
    [(samples.PROVEN, PROVEN), (samples.NOT_PROVEN, NOT_PROVEN), (samples.CANNOT_TELL, CANNOT_TELL)],
    ids=["proven", "not proven", "cannot tell"],
)
def test_the_verdict_comes_first_and_the_lines_are_folded_away(data: Json, text: str) -> None:
    assert markdown(data).replace("\N{WORD JOINER}", "") == text


def hostile(written: str) -> Json:
    data = samples.data("not proven", written, 3, facts=[written], fix=written, since=written)
    command = samples.command("x", written, now=f"pass: {written}") | {"command": written, "directory": written}
    data["commands"] = [command]
    row = hunk("a.py:1", "not held", written, (written, "```", "</details>"), (written,))
    data["lines"] = samples.lines(row | {"path": written, "place": f"{written}:1"})
    data["mutants"] = samples.mutants(mutant(written, 1, "lived", written, written), text=written)
    return data


@pytest.mark.parametrize("written", [*WRITTEN, NASTY])
def test_nothing_of_the_change_is_more_than_text(written: str) -> None:
    text = markdown(hostile(written))
    found = tokens(text)
    markup = [content.strip() for kind, content in found if kind in ("html_block", "html_inline")]
    assert [one for one in markup if not re.fullmatch(r"<details>\n<summary>[\w ,:]+</summary>", one)] == [
        *("</details>", "</details>", "<sub>", "</sub>")
    ]
    assert not {kind for kind, _ in found} & {"link_open", "image", "code_block", "hr", "s_open", "heading_open"}
    (code,) = [content for kind, content in found if kind == "fence"]
    assert all(line.startswith(("- ", "+ ", "@@ ")) for line in code.splitlines())
    of_commits = [content for kind, content in found if kind == "code_inline"]
    assert [content for content in of_commits if not re.fullmatch("[0-9a-fA-F-]+", content)] == []
    assert LINKED.search(finished(text)) is None
    assert len(re.findall(r"(?m)^\| ", text)) == 2
    assert [kind for kind, _ in found].count("td_open") == 2


def test_it_is_short_and_fits_a_comment_whatever_there_is() -> None:
    rows = [hunk(f"a.py:{at}", "not held", "", (), ("x" * 500,) * 60) for at in range(1, 3000)]
    lived = [mutant("a.py", at, "lived", "y" * 500, "|" * 500) for at in range(1, 3000)]
    many = [samples.command("holds", "x", now="pass: 1 passed")] * 50
    data = samples.data("not proven", "z" * 9000, 3, facts=["|" * 9000] * 99, fix="f" * 9000, commands=many)
    text = markdown(data | {"lines": samples.lines(*rows), "mutants": samples.mutants(*lived, text="m" * 9000)})
    assert len(text) < 60_000
    assert text.count("<details>") == text.count("</details>") == 2
    for what, all_of_them in (("hunks", 2999), ("mutants", 2999)):
        (more,) = re.findall(rf"and (\d+) more {what}: omo proof --json has them all", text)
        assert 0 < int(more) < all_of_them
    folded = re.sub(r"(?s)</summary>.*?</details>", "</summary>", text)
    assert len([line for line in folded.splitlines() if line.strip()]) <= 25


def test_a_usual_verdict_has_at_most_fifteen_lines_until_a_part_is_opened() -> None:
    for data in (samples.PROVEN, samples.NOT_PROVEN, samples.CANNOT_TELL):
        folded = re.sub(r"(?s)<details>\n(.*?)</summary>.*?</details>", r"\1", markdown(data))
        assert len([line for line in folded.splitlines() if line.strip()]) <= 15


def test_secrets_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "s3cr3t-value-of-a-token")
    text = markdown(hostile("key = 's3cr3t-value-of-a-token'"))
    assert "s3cr3t" not in text
    assert "***" in text or r"\*\*\*" in text
