"""What looks like a secret, and what looks like one and is none."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from omo import masking

# By a variable's name: one that is a secret, and a neighbour that is none.
NAMES = [
    ("API_TOKEN", "TOKENIZERS_PARALLELISM"),
    ("GITHUBTOKEN", "MAX_TOKENS"),
    ("CLIENT_SECRET", "SECRETARY"),
    ("DB_PWD", "PWD"),
    ("DB_PASS", "OLDPWD"),
    ("PGPASSWORD", "PGPASSFILE"),
    ("PASSPHRASE", "BYPASS"),
    ("GH_PAT", "PATH"),
    ("STRIPE_KEY", "KEYBOARD"),
    ("APIKEY", "MONKEY"),
    ("SSH_KEY", "SSH_AUTH_SOCK"),
    ("NPM_AUTH", "GIT_AUTHOR_NAME"),
    ("DOCKER_AUTH_CONFIG", "AUTHOR"),
    ("JWT", "LANG"),
    ("BEARER", "HOME"),
    ("COOKIE", "COOKIECUTTER"),
    ("SENTRY_DSN", "DSNAME"),
    ("SLACK_WEBHOOK_URL", "HOMEPAGE_URL"),
    ("AWS_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS_FILE"),
    ("npm_config__authToken", "npm_config_cache"),
]


@pytest.mark.parametrize(("secret", "neighbour"), NAMES)
def test_a_name_says_that_its_value_is_a_secret(monkeypatch: pytest.MonkeyPatch, secret: str, neighbour: str) -> None:
    monkeypatch.setenv(secret, "hunter-2-hunter")
    monkeypatch.setenv(neighbour, "plain-3-plain")
    assert masking.mask("got hunter-2-hunter, plain-3-plain.") == "got ***, plain-3-plain."


TOKEN = "a1B2c3D4e5F6g7H8i9J0"
# By its form: what is printed, what is left of it; and what looks like it.
FORMS = [
    ("postgres://u:pa55@h/db", "postgres://u:***@h/db", "postgres://u@h:5432/db http://h:80/@a"),
    (f"https://{TOKEN}@h/x", "https://***@h/x", "https://git@h/x"),
    (f"https://h/x?a=1&token={TOKEN}", "https://h/x?a=1&token=***", "https://h/x?page=1234567"),
    ("https://hooks.example.com/services/T0/B0/abcdef", "https://hooks.example.com/***", "https://h/services/T0/B0"),
    (f"Bearer {TOKEN}", "Bearer ***", "Bearer authentication is missing"),
    (f"Basic {TOKEN}==", "Basic ***", "Basic understanding of it"),
    ("Cookie: id=abcdef; x=y", "Cookie: ***", "Cookie: none was sent"),
    (f"Authorization: {TOKEN}", "Authorization: ***", "Authorization: is required here"),
    ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0", "***", "eyJhbGciOiJI"),
    (f"ghp_{TOKEN}", "***", "ghp_of_the_project"),
    (f"glpat-{TOKEN}", "***", "glpat-short"),
    (f"xoxb-{TOKEN}", "***", "xoxb-1"),
    (f"sk-{TOKEN}", "***", "task-1-of-the-long-list-of-tasks"),
    ("AKIAABCDEFGHIJKLMN12", "***", "AKIA"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "***", "-----BEGIN CERTIFICATE-----"),
    ("API_TOKEN=abc-123", "API_TOKEN=***", "KEYBOARD=abc-123"),
    ("env 'DB_PWD=a b-123' make", "env 'DB_PWD=***' make", "sort(key=lambda-1)"),
    ('DB_PWD="a b-123"', 'DB_PWD="***"', "DB_PWD=$DB_PWD DB_PWD=<none>"),
    ('{"GH_PAT": "abc-123"}', '{"GH_PAT": "***"}', '{"GH_PATH": "abc-123"}'),
]


@pytest.mark.parametrize(("printed", "left", "neighbour"), FORMS)
def test_a_form_says_that_it_is_a_secret(printed: str, left: str, neighbour: str) -> None:
    assert masking.mask(f"at {printed}\n") == f"at {left}\n"
    assert masking.mask(neighbour) == neighbour


SECRET = 'pa"ss\\wörd&2/x'


@pytest.mark.parametrize(
    "spelled",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        quote(SECRET, safe=""),
        SECRET[:5] + "\n    " + SECRET[5:],
        "…: " + SECRET[:6] + "…",
    ],
    ids=["plain", "JSON in ASCII", "JSON", "in a URL", "broken into lines", "clipped"],
)
def test_a_secret_is_known_however_it_is_spelled(monkeypatch: pytest.MonkeyPatch, spelled: str) -> None:
    monkeypatch.setenv("DB_PWD", SECRET)
    masked = masking.mask(f"at {spelled} end")
    assert "ss" not in masked
    assert "***" in masked


def test_the_password_of_a_url_is_a_secret_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://user:p%40ss-w0rd@db.example.com/shop")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:proxy-pa55@proxy.example.com")
    masked = masking.mask("p@ss-w0rd, p%40ss-w0rd and proxy-pa55 at db.example.com")
    assert masked == "***, *** and *** at db.example.com"


def test_parts_of_a_long_secret_are_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_AUTH_CONFIG", '{"auths": {"registry.example.com": {"auth": "dXNlcjpwYXNzMTIz"}}}')
    monkeypatch.setenv("SIGNING_KEY", "-----BEGIN KEY-----\nfirstline0123\nsecondline012\n-----END KEY-----")
    masked = masking.mask("dXNlcjpwYXNzMTIz of registry.example.com, secondline012")
    assert masked == "*** of registry.example.com, ***"


def test_a_plain_word_is_masked_where_it_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The password of a service in CI is often its name."""
    monkeypatch.setenv("PGPASSWORD", "postgres")
    masked = masking.mask("pw=postgres in tests/postgres/test_postgres.py. It is postgres.")
    assert masked == "pw=*** in tests/postgres/test_postgres.py. It is ***."


def test_short_values_and_paths_stay(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("DB_PWD", "12345")
    monkeypatch.setenv("SSH_KEY", str(tmp_path))
    text = f"12345 {tmp_path}"
    assert masking.mask(text) == text


def test_a_value_that_the_command_itself_sets_is_one_too() -> None:
    assert masking.mask("it is hunter-22", ["env", "DB_PWD=hunter-22", "make"]) == "it is ***"
    assert masking.mask("it is hunter-22", ["env", "DB_NAME=hunter-22", "make"]) == "it is hunter-22"


def test_of_a_row_only_what_was_said_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PWD", "hunter-22")
    row: dict[str, object] = {
        "kind": "hunter-22",
        "argv": ["hunter-22"],
        "tail": "hunter-22",
        "terms": {"work": [{"why": "hunter-22"}]},
        "after": {"why": "masked before"},
    }
    row |= {"files": [{"text": "hunter-22"}], "failing": ["a", "hunter-22"]}
    assert masking.masked_row(row) == {
        "kind": "hunter-22",
        "argv": ["hunter-22"],
        "tail": "***",
        "terms": {"work": [{"why": "***"}]},
        "after": {"why": "masked before"},
        "files": [{"text": "hunter-22"}],
        "failing": ["a", "***"],
    }
