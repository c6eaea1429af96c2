"""Which file is the work, which the rest, for gates that test and gates of form."""

from __future__ import annotations

import pytest

from omo.proof import form, kinds
from omo.proof.kinds import NEITHER, NEVER, REST, WORK, Kinds

PRESENT = ("pyproject.toml", "calc.py", "packages/a/package.json", "packages/a/index.js")

BY_KIND = {
    WORK: """
        calc.py src/omo/calc.py src/lib.rs main.go index.ts src/App.tsx lib/calc.rb Calc.java VERSION Dockerfile
        bin/todo src/mail.jinja mail.jinja2 src/a.mts src/a.cts install.bash src/omo/py.typed views/a.hbs views/a.ejs
        views/a.erb deploy/a.tmpl pages/a.mdx pages/a.astro lib/a.dart src/a.zig a.vue style.css index.html
        schema.sql api.proto schema.graphql main.tf notebook.ipynb build.rs scripts/deploy.sh types.d.ts
        testing/calc.py testing/new.py snapshot.py src/snapshots/store.py commands/test.py commands/test.js spec.py
        latest.py inspector.py contest.go src/test.rs lib/spec.rb src/spec.ts history.py security.py news.js
        src/attest.py testing.py protest/march.py src/commands/test/index.ts cli/test/index.ts web/test/client.py
        src/features/cart/index.ts src/features/cart/support/chat.ts features/cart/index.ts src/docs/page.tsx
        src/examples.py src/main/java/Test.java src/main/java/LoadTest.java app/src/main/kotlin/TestRunner.kt
        src/fixtures/users.ts tasks.py license-check.js src/app.config.ts src/golden_ratio.py src/conf.py
        src/vendor/lib.js Readme_generator.py src/app/setup.py src/requirements/parse.py page.html.in
        """,
    REST: """
        tests/test_calc.py tests/helpers.py tests/__init__.py tests/data/sample.md tests/golden/plot.png test_calc.py
        pkg/test_calc.py pkg/calc_test.py app/tests.py conftest.py docs/test_docs.py examples/conftest.py
        src/cases.spec.ts src/redos.spec.ts src/App.test.tsx src/a.test.mjs src/a.bench.ts src/types.test-d.ts
        src/__tests__/helper.ts src/__mocks__/fs.js src/__snapshots__/a.snap test.js test/helper.js test-a.mjs
        spec/calc_spec.rb spec/spec_helper.rb lib/calc_spec.rb example_test.go export_test.go pkg/testdata/a.golden
        tests/it.rs src/tests.rs src/calc_tests.rs benches/speed.rs test/calc_test.exs src/test/java/Helper.java
        CalcTest.java core/CalcTests.kt src/integrationTest/kotlin/A.kt Calc.Tests/Helper.cs CalcTests.cs
        CalcUITests/Page.swift tests/CalcTest.php cypress/support/commands.ts e2e/login.ts run.bats t/a.t
        features/add.feature features/environment.py features/steps/add.py features/step_definitions/a.js
        api-tests/pages/login.js lib/integration_tests/speed.py
        packages/a/test/helper.js packages/a/test/new.js packages/a/test.js a_test.cc src/setupTests.ts
        jest.setup.js vitest.setup.ts sitecustomize.py
        pyproject.toml package.json packages/a/package.json packages/a/setup.py Cargo.toml Cargo.lock go.mod go.sum
        setup.cfg setup.py requirements/tests.in dev-requirements.in
        requirements.txt requirements-dev.txt dev-requirements.txt poetry.lock package-lock.json yarn.lock pom.xml
        Makefile build/rules.mk justfile tox.ini noxfile.py pytest.ini .coveragerc mypy.ini ruff.toml .eslintrc.json
        eslint.config.mjs jest.config.ts vitest.config.ts vite.config.ts tsconfig.json tsconfig.build.json .mocharc.yml
        .npmrc .nycrc .env .env.test CMakeLists.txt .pre-commit-config.yaml rust-toolchain.toml .cargo/config.toml
        node_modules/.bin/node node_modules/jest/index.js vendor/github.com/a/a.go .rubocop_todo.yml build.gradle.kts
        data/expected.json locales/de.json conf/settings.yaml data/a.csv data/a.tsv notes.txt robots.txt config.toml
        a.snap a.golden tests/__snapshots__/a.ambr cassettes/login.yaml fixtures/user.rb fixtures/page.html
        src/snapshots/page.png src/fixtures/mail.md data/page.xml eslint-suppressions.json
        """,
    NEITHER: """
        README.md README CHANGELOG.md changelog/42.rst changelog/42.bugfix CHANGES.txt LICENSE LICENSE-MIT COPYING
        AUTHORS CONTRIBUTING.md docs/index.md docs/conf.py docs/_static/a.css docs/Makefile docs/requirements.txt
        packages/a/docs/conf.py examples/hello.py examples/web/package.json example/main.go .github/workflows/ci.yml
        .github/dependabot.yml .gitlab-ci.yml .gitlab/ci.yml Jenkinsfile .circleci/config.yml .travis.yml codecov.yml
        .readthedocs.yaml azure-pipelines.yml logo.png src/logo.svg public/favicon.ico fonts/a.woff2 guide.adoc
        src/notes.md src/README.md paper.pdf .changeset/a.md .vscode/settings.json .devcontainer/Dockerfile
        """,
    NEVER: """
        .gitignore src/.gitignore .gitattributes .gitmodules .gitkeep .git/config sub/.git/HEAD .git
        .sisyphus/cc-omo/state.json .sisyphus/plans/a.md
        """,
}
OF_FORM = {
    WORK: """
        calc.py tests/test_calc.py tests/conftest.py src/cases.spec.ts example_test.go tests/it.rs src/a.pyi
        data/expected.json README.md docs/conf.py docs/index.md examples/hello.py .github/workflows/ci.yml a.snap
        locales/de.json features/add.feature
        """,
    REST: """
        pyproject.toml mypy.ini .mypy.ini ruff.toml .flake8 setup.cfg pyrightconfig.json tsconfig.json eslint.config.js
        .eslintrc.json .eslintignore .prettierrc .prettierignore biome.json package.json Cargo.toml clippy.toml go.mod
        .golangci.yml Makefile noxfile.py tox.ini .pre-commit-config.yaml eslint-suppressions.json mypy-baseline.txt
        .basedpyright/baseline.json phpstan-baseline.neon lint-baseline.xml .rubocop_todo.yml .pylintrc .shellcheckrc
        node_modules/eslint/index.js yarn.lock tests/tsconfig.json .editorconfig
        """,
    NEVER: ".gitignore tests/.gitattributes .sisyphus/cc-omo/state.json",
}


def rows(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(path, kind) for kind, paths in table.items() for path in paths.split()]


@pytest.mark.parametrize(("path", "kind"), rows(BY_KIND))
def test_kinds_for_a_gate_that_tests(path: str, kind: str) -> None:
    assert Kinds(present=PRESENT).of(path) == kind


@pytest.mark.parametrize(("path", "kind"), rows(OF_FORM))
def test_kinds_for_a_gate_of_form(path: str, kind: str) -> None:
    assert Kinds(present=PRESENT, is_form=True).of(path) == kind


@pytest.mark.parametrize("is_form", [False, True])
def test_what_a_gate_starts_and_what_is_sealed_is_the_rest(is_form: bool) -> None:
    sealed = Kinds(started=["scripts/check.sh"], sealed=["src/prices/**", "rates.py"], is_form=is_form)
    paths = ["scripts/check.sh", "scripts/deploy.sh", "src/prices/a.py", "rates.py", "src/rates.py"]
    assert [sealed.of(path) for path in paths] == [REST, WORK, REST, REST, WORK]


@pytest.mark.parametrize("path", ["src/.gitignore", "a\nb/.git/config", "a\n/.gitignore"])
def test_a_seal_swaps_nothing_of_git(path: str) -> None:
    assert Kinds(sealed=["**"]).of(path) == NEVER


@pytest.mark.parametrize(
    ("configuration", "command", "read"),
    [
        ('[tool.pytest.ini_options]\naddopts = "--doctest-glob=*.md"', "", "README.md docs/index.md"),
        ("[pytest]\ntestpaths =\n    docs\n    tests\n", "", "docs/index.md docs/conf.py"),
        ('testpaths = ["tests", "docs/guide"]\nreadme = "README.md"', "", "docs/guide/a.md"),
        ("", "python3 -m doctest README.md", "README.md"),
        ("", "./check-links ./examples/", "examples/hello.py"),
        ('[project]\nreadme = "README.md"\n[tool.pytest.ini_options]\ntestpaths = ["tests"]', "", ""),
        ("", "pytest -q src", ""),
    ],
)
def test_a_document_that_a_runner_reads_is_the_rest(configuration: str, command: str, read: str) -> None:
    gate = Kinds(documents=kinds.documents_named(configuration, command.split()))
    documents = ["README.md", "docs/index.md", "docs/conf.py", "docs/guide/a.md", "examples/hello.py", "a.png"]
    of_runner = [path for path in documents if gate.of(path) == REST]
    assert set(read.split()) <= set(of_runner)
    assert bool(read) == bool(of_runner)
    assert gate.of("calc.py") == WORK


def test_without_the_paths_of_the_project_a_word_in_the_path_makes_no_test() -> None:
    paths = ["testing/calc.py", "packages/a/test/helper.js", "test/helper.js", "packages/a/a.test.js"]
    assert [kinds.is_test(path) for path in paths] == [False, False, True, True]


@pytest.mark.parametrize(
    ("command", "is_form"),
    [
        *(
            (command, True)
            for command in ("mypy", "pyright src", "tsc --noEmit", "ruff check .", "ruff format --check")
        ),
        *((command, True) for command in ("npx eslint .", "uv run mypy src", "poetry run black --check .", "uvx ty")),
        *(
            (command, True)
            for command in ("python3 -m mypy --strict", ".venv/bin/python -m ruff check", "cargo clippy")
        ),
        *(
            (command, True)
            for command in ("cargo +nightly fmt --check", "go vet ./...", "prettier --check .", "gofmt -l .")
        ),
        *(
            (command, True)
            for command in ("node_modules/.bin/tsc -p .", "npx --no-install tsc", "uv run --with x mypy")
        ),
        *((command, True) for command in ("npm run lint", "yarn tsc --noEmit", "pnpm lint:css", "npm run type-check")),
        *(
            (command, True)
            for command in ("make lint", "make -j 4 -C api lint types", "tox -e lint,mypy", "nox -s lint")
        ),
        *((command, True) for command in ("CI=1 mypy", "env CI=1 timeout 60 mypy", "vendor/bin/phpstan analyse")),
        *(
            (command, True)
            for command in ("sh -c 'cd api && mypy . && ruff check'", "npm exec -- eslint .", "node --check a")
        ),
        *((command, True) for command in ("mkdocs build --strict", "pre-commit run -a", "make check-types", "vue-tsc")),
        *(
            (command, False)
            for command in ("pytest", "python3 -m pytest", "npm test", "npx jest", "cargo test", "make")
        ),
        *(
            (command, False)
            for command in ("go test ./...", "tox", "make test", "make lint test", "npm run lint-and-test")
        ),
        *(
            (command, False)
            for command in ("sh -c 'ruff check && pytest'", "./mypy", "scripts/mypy", "python3 mypy.py")
        ),
        *(
            (command, False)
            for command in ("sh -c 'cd api'", "uv run pytest", "node a.js", "npm run check", "deno test")
        ),
        *((command, False) for command in ("tox -e lint,py312", "sh check.sh", "npx", "yarn", 'sh -c "it\'s"')),
    ],
)
def test_gates_of_form(command: str, is_form: bool) -> None:
    argv = command.split()
    if argv[:2] == ["sh", "-c"]:
        argv = ["sh", "-c", command.removeprefix("sh -c ")[1:-1]]
    assert form.is_form(argv) == is_form


def test_no_command_is_no_gate_of_form() -> None:
    assert not form.is_form([])
