"""Whether a changed manifest only adds and bumps packages."""

from __future__ import annotations

import sys

import pytest

from omo.proof.manifests import only_adds

PYPROJECT = """
[build-system]
requires = ["hatchling"]
[project]
name = "calc"
version = "1.0"
dependencies = ["click>=8", "Foo_Bar"]
[project.optional-dependencies]
dev = ["pytest"]
[project.scripts]
calc = "calc:main"
[dependency-groups]
test = ["pytest", {include-group = "lint"}]
lint = ["ruff"]
[tool.poetry.dependencies]
click = "^8"
[tool.pytest.ini_options]
testpaths = ["tests"]
"""
CARGO = """
[package]
name = "calc"
version = "1.0.0"
[dependencies]
serde = "1"
[target.'cfg(unix)'.dependencies]
nix = { version = "0.20", features = ["fs"] }
[profile.dev]
overflow-checks = true
[[test]]
name = "it"
"""
PACKAGE = """
{"name": "calc", "version": "1.0.0", "type": "module", "scripts": {"test": "jest", "lint": "eslint ."},
 "dependencies": {"left-pad": "^1.2.0"}, "devDependencies": {"jest": "29"}, "jest": {"bail": true}, "keywords": []}
"""
GO_MOD = """module example.com/calc

go 1.21

require example.com/one v1.0.0

require (
	example.com/two v1.0.0 // indirect
)

replace example.com/two => ../two
"""
REQUIREMENTS = "# what it needs\nclick>=8\nattrs==23.1  # pinned\n-r more.txt\n"
PACKAGE_LOCK = '{"packages": {"node_modules/jest": {"resolved": "https://packages.example/jest-29.tgz"}}}'
TEXTS = {
    "pyproject.toml": PYPROJECT,
    "Cargo.toml": CARGO,
    "package.json": PACKAGE,
    "go.mod": GO_MOD,
    "requirements-dev.txt": REQUIREMENTS,
    "package-lock.json": PACKAGE_LOCK,
    "uv.lock": '[[package]]\nname = "calc"\nsource = { editable = "." }\n',
    "Gemfile": "gem 'rake'\n",
}
ONLY_ADDS = [
    ("pyproject.toml", 'version = "1.0"', 'version = "1.1"'),
    ("pyproject.toml", 'name = "calc"', 'name = "calc"\ndescription = "sums"\nauthors = [{name = "me"}]'),
    ("pyproject.toml", "click>=8", "click>=8.1"),
    ("pyproject.toml", '"Foo_Bar"', '"foo-bar", "rich; python_version > \'3\'"'),
    ("pyproject.toml", 'dev = ["pytest"]', 'dev = ["pytest", "hypothesis[cli]"]'),
    ("pyproject.toml", 'lint = ["ruff"]', 'lint = ["ruff>=1"]\ndocs = ["mkdocs"]'),
    ("pyproject.toml", 'click = "^8"', 'click = {version = "^8.1", extras = ["x"]}\nrich = "*"'),
    ("Cargo.toml", 'serde = "1"', 'serde = { version = "1.1", features = ["derive"] }\nlog = "0.4"'),
    ("Cargo.toml", '"0.20"', '"0.21"'),
    ("Cargo.toml", "[profile.dev]", '[dev-dependencies]\nproptest = "1"\n[profile.dev]'),
    ("package.json", '"^1.2.0"', '"^1.3.0"'),
    ("package.json", '"jest": "29"', '"jest": "29", "tsx": ">=4 <5"'),
    ("package.json", '"1.0.0"', '"1.1.0", "description": "sums", "author": "me"'),
    ("go.mod", "one v1.0.0", "one v1.2.0"),
    ("go.mod", "two v1.0.0 // indirect", "two v1.1.0"),
    ("go.mod", "\texample.com/two", "\texample.com/three v0.1.0\n\texample.com/two"),
    ("requirements-dev.txt", "click>=8", "Click>=8.1\nrich"),
    ("package-lock.json", "jest-29.tgz", "jest-30.tgz"),
    ("uv.lock", '[[package]]\nname = "calc"', '[[package]]\nname = "rich"\n\n[[package]]\nname = "calc"'),
]
MORE_THAN_THAT = [
    ("pyproject.toml", '"click>=8", ', ""),
    ("pyproject.toml", "click>=8", "click @ file:///tmp/click"),
    ("pyproject.toml", 'testpaths = ["tests"]', 'testpaths = ["tests"]\naddopts = "-k add"'),
    ("pyproject.toml", '"tests"', '"tests/unit"'),
    ("pyproject.toml", 'calc = "calc:main"', 'calc = "calc:run"'),
    ("pyproject.toml", "[project.scripts]", '[project.entry-points.pytest11]\nx = "calc.skip"\n[project.scripts]'),
    ("pyproject.toml", "[tool.pytest.ini_options]", "[tool.coverage.run]\n[tool.pytest.ini_options]"),
    ("pyproject.toml", '{include-group = "lint"}', '"rich"'),
    ("pyproject.toml", 'click = "^8"', 'click = {path = "fake"}'),
    ("pyproject.toml", 'name = "calc"', "name = "),
    ("Cargo.toml", "overflow-checks = true", "overflow-checks = false"),
    ("Cargo.toml", 'name = "it"', 'name = "it"\ntest = false'),
    ("Cargo.toml", 'serde = "1"', 'serde = { path = "fake" }'),
    ("Cargo.toml", 'serde = "1"', ""),
    ("Cargo.toml", "[profile.dev]", '[patch.crates-io]\nserde = { path = "fake" }\n[profile.dev]'),
    ("package.json", '"test": "jest"', '"test": "jest -t add"'),
    ("package.json", '"jest", "lint": "eslint ."}', '"true", "lint": "eslint ."}, "scripts.test": "jest"'),
    ("package.json", '"bail": true', '"bail": true, "testPathIgnorePatterns": ["mul"]'),
    ("package.json", '"jest": "29"', '"jest": "file:./fake"'),
    ("package.json", '"jest": "29"', '"jest": "npm:fake@1"'),
    ("package.json", '"jest": "29"', '"jest": "me/fake"'),
    ("package.json", '{"left-pad": "^1.2.0"}', "{}"),
    ("package.json", '"type": "module"', '"type": "commonjs"'),
    ("package.json", '"keywords": []', '"overrides": {"jest": "1"}'),
    ("package.json", '{"name"', '["name"'),
    ("go.mod", "require example.com/one v1.0.0\n", ""),
    ("go.mod", "go 1.21", "go 1.22"),
    ("go.mod", "../two", "../fake"),
    ("go.mod", "replace", "replace example.com/one => ../fake\nreplace"),
    ("requirements-dev.txt", "attrs==23.1", ""),
    ("requirements-dev.txt", "-r more.txt", "-r other.txt"),
    ("requirements-dev.txt", "click>=8", "click>=8\n-e ./plugin"),
    ("requirements-dev.txt", "click>=8", "click @ file:///tmp/click"),
    ("package-lock.json", "https://packages.example/jest-29.tgz", "file:fake"),
    (
        "uv.lock",
        '[[package]]\nname = "calc"',
        '[[package]]\nname = "x"\nsource = { git = "x" }\n[[package]]\nname = "calc"',
    ),
    ("Gemfile", "gem 'rake'", "gem 'rake'\ngem 'rspec'"),
]


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [*((*row, True) for row in ONLY_ADDS), *((*row, False) for row in MORE_THAN_THAT)],
)
def test_what_a_change_of_a_manifest_says(path: str, old: str, new: str, expected: bool) -> None:
    before = TEXTS[path]
    after = before.replace(old, new, 1)
    assert after != before
    if path.endswith(".toml") and sys.version_info < (3, 11):
        expected = False  # that Python has no reader of TOML: the old manifest stands
    assert only_adds(f"packages/a/{path}", before.encode(), after.encode()) == expected


def test_bytes_that_are_no_text_are_not_read() -> None:
    assert not only_adds("requirements.txt", b"a\n", b"a\n\xff")
