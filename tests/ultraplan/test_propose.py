"""What omo proposes to hold a step to: which lines of code meet it, and that writing it twice changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from omo.proof import patterns
from omo.workflows.ultraplan.document import parse
from omo.workflows.ultraplan.propose import fill_in
from tests.ultraplan.plans import plan_text

STEP = "# T\n\nplan_version: 1.7\nverify: `make test`\n\n### Step 1: feat: x\n\n- Files: `{}`\n- Changes: `{}`\n"


@pytest.mark.parametrize(
    ("path", "name", "met_by", "not_by"),
    [
        (
            "a.py",
            "load(x)",
            ["def load(x):", "    async def load(self):", "class load:", "rows, load = 1, 2", "load: int = 3"],
            ["# def load", "x = load(1)", "load(3)", "return load(x)", "load == 3"],
        ),
        (
            "a.ts",
            "load(x)",
            ["export function load(x) {", "export const load: F = 1", "export default class load {", "  load(x) {"],
            ["// function load", "return load(x)", "x = load(1);", "load(1);"],
        ),
        ("a.go", "Load()", ["func Load(x int) error {", "func (s *S) Load() {", "Load := 3"], ["x := Load(3)"]),
        ("a.rs", "load()", ["pub(crate) fn load() {", "struct load;", "let load = 3;"], ["// fn load", "load(3);"]),
        ("a.c", "load()", ["int load(int x) {", "static void load(int x)", "#define load 3"], ["return load(x);"]),
        ("bin/x", "load()", ["load() {", "function load {", "load=3"], ["# load() {", "load 3"]),
        ("a.py", "test_it", ["    def test_it(self):"], ["# test_it", "test_it()"]),
        ("a.py", "refused", ["return rows, refused", "def f(refused=None):"], ["# refused", "import refused"]),
        ("a.ts", "refused", ["  refused: string[];"], ["// refused", "import {refused} from 'x'"]),
        ("a.md", "refused", ["# what is refused"], ["nothing"]),
    ],
)
def test_a_name_in_backticks_has_to_be_in_the_code(
    path: str, name: str, met_by: list[str], not_by: list[str], tmp_path: Path
) -> None:
    filled = fill_in(parse(STEP.format(path, name), "plan.md"), tmp_path)
    manifest = parse(filled.text, "plan.md").steps[0].manifest
    (asked,) = manifest.must_contain
    assert patterns.defect(asked.pattern) is None
    for line in met_by:
        assert patterns.found(asked.pattern, f"first\n{line}\n"), line
    for line in not_by:
        assert not patterns.found(asked.pattern, f"first\n{line}\n"), line


@pytest.mark.parametrize(
    ("files", "paths"),
    [
        ("docs/größe und preis.md", ("docs/größe und preis.md",)),
        ("x.py`, and its helpers, `y.py", ("x.py", "y.py")),
        ("x.py`, `all that it needs", ("x.py",)),
    ],
)
def test_a_path_in_backticks_may_have_blanks(files: str, paths: tuple[str, ...], tmp_path: Path) -> None:
    filled = fill_in(parse(STEP.format(files, "load"), "plan.md"), tmp_path)
    manifest = parse(filled.text, "plan.md").steps[0].manifest
    assert manifest is not None
    assert manifest.expected_paths == paths


def test_a_step_that_names_no_file_commits_what_there_is(tmp_path: Path) -> None:
    filled = fill_in(parse("# T\n\nplan_version: 1.7\n\n### Step 1: Tidy up\n", "plan.md"), tmp_path)
    assert "git add -A && git commit -m 'Tidy up'" in filled.text


def test_a_module_that_moves_is_its_files_and_no_name_in_them(tmp_path: Path) -> None:
    files = "basket.py`, `cart.py` (removed), `tests/test_basket.py`, `tests/test_cart.py` (removed), `"
    plan = STEP.format(files.removesuffix(", `"), "cart` becomes `basket`, with `total()").replace(
        "removed)`", "removed)"
    )
    step = parse(fill_in(parse(plan, "plan.md"), tmp_path).text, "plan.md").steps[0]
    assert [content.path for content in step.manifest.must_contain] == ["basket.py", "tests/test_basket.py"]
    assert all("cart" not in content.pattern for content in step.manifest.must_contain)
    assert step.fields["Files"].startswith("basket.py, cart.py (removed), ")
    assert step.checkpoint == (
        "`git rm -q --ignore-unmatch cart.py tests/test_cart.py && git add basket.py tests/test_basket.py && "
        "git commit -m 'feat: x'`"
    )


@pytest.mark.parametrize("name", ["HEAD", "ValueError", "class", "--force", "a b", "x", "src/b.py", "2026-03-01"])
def test_what_is_no_name_of_the_projects_asks_nothing(name: str, tmp_path: Path) -> None:
    filled = fill_in(parse(STEP.format("a.py", name), "plan.md"), tmp_path)
    manifest = parse(filled.text, "plan.md").steps[0].manifest
    assert manifest.must_contain == ()


ODD = ["", "---", "```", "> x", "  - a", "<!--", "\t", "- Manifest (proposed):", "  ```yaml", "  manifest:", "\x0c"]
LINES = [*plan_text(2, sessions=[[1], [2]]).splitlines(), *STEP.format("a.py", "load()").splitlines(), *ODD]


@example("### Step 1: Add part 1\n  ```yaml\n  manifest:", "\n")
@settings(max_examples=50)
@given(st.lists(st.sampled_from(LINES), max_size=40).map("\n".join), st.sampled_from(["\n", "\r\n"]))
def test_what_was_filled_in_reads_back_and_is_not_filled_in_twice(
    tmp_path_factory: pytest.TempPathFactory, text: str, newline: str
) -> None:
    root = tmp_path_factory.getbasetemp()
    document = parse(f"# T\n\nplan_version: 1.7\n\n{text}".replace("\n", newline), "plan.md")
    filled = fill_in(document, root)
    again = parse(filled.text, "plan.md")
    assert [step.number for step in again.steps] == [step.number for step in document.steps]
    assert len(filled.lines) == len(filled.text.split("\n"))
    assert fill_in(again, root).text == filled.text
