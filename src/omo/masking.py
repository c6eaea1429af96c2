"""Masks secrets in all that omo keeps or shows: the values of variables whose names say so, and what has their form.

Counts and names are read from an output before it is masked. Hooks mask too, so `re` is loaded only for a text that
may have one of the forms. This list is wider than that of `variables`, which says what is withheld from gates.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

MASK = "***"
SHORTEST = 6
SHORTEST_PIECE = 12  # of a longer value: a line, a cookie, the path of a URL
SHORTEST_WRAPPED = 8  # that is looked for over several lines
SHORTEST_CUT = 4  # what is left of a value at whose end a text was clipped
# The password of a service in CI is often one plain word, as `postgres`. It is masked where it stands alone: paths and
# names of tests that have the word in them stay as they are.
LONGEST_WORD = 12

# Parts of a variable's name, between its underscores: a whole part, or the end of one (GITHUBTOKEN).
PARTS = frozenset(
    (
        *("TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "PASS", "PWD", "PAT"),
        *("KEY", "KEYS", "CREDENTIAL", "CREDENTIALS", "CREDS", "AUTH", "AUTHORIZATION", "JWT", "BEARER", "COOKIE"),
        *("COOKIES", "DSN", "WEBHOOK", "SAS", "PSK", "OTP", "PEM", "SSHPASS", "KEYPASS", "STOREPASS"),
    )
)
PART_ENDS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "ACCESSKEY", "SECRETKEY", "PRIVATEKEY")
# With one of these as its last part a name is about something beside the secret: SSH_AUTH_SOCK, API_KEY_FILE.
BESIDE = frozenset(
    (
        *("FILE", "PATH", "DIR", "SOCK", "HOME", "HOST", "PORT", "USER", "USERNAME", "NAME", "TYPE", "MODE", "METHOD"),
        *("BACKEND", "PROVIDER", "ENABLED", "DISABLED", "LIMIT", "COUNT", "TTL", "TIMEOUT", "EXPIRY", "LENGTH", "SIZE"),
        *("URL", "URI", "ENDPOINT", "ISSUER", "ALGORITHM", "REGION", "COMMAND", "HELPER", "PARALLELISM"),
    )
)
SECRET_URLS = ("WEBHOOK",)  # whose address is the secret

# Forms of a secret, wherever it comes from: what a text has where one may be, the pattern, and what is left of it.
FORMS = (
    (("://", "@"), r"(://[^\s/:@'\"]*):[^\s/@'\"]+@", r"\1:***@"),
    (("://", "@"), r"(https?://)[\w.%~-]{16,}@", r"\1***@"),
    (
        ("://", "="),
        r"(?i)([?&](?:[\w-]*token|api_?key|key|password|secret|sig|signature|auth)=)[^\s&#\"'*]{6,}",
        r"\1***",
    ),
    (("hooks.",), r"(https://hooks\.[\w.-]+/)[^\s\"']{12,}", r"\1***"),
    (("earer ",), r"\b([Bb]earer\s+)(?=\S*\d)[\w.~+/-]{12,}=*", r"\1***"),
    (("asic ",), r"\b([Bb]asic\s+)(?=\S*\d)[\w+/-]{12,}=*", r"\1***"),
    (("ookie: ",), r"\b((?:[Ss]et-)?[Cc]ookie: )[^\s=]+=\S[^\r\n\"']*", r"\1***"),
    (("uthorization: ",), r"\b([Aa]uthorization: (?:\w+ )?)(?=\S*\d)[\w.~+/=-]{12,}", r"\1***"),
    (("eyJ", "."), r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*", MASK),
    (("-----BEGIN ", "PRIVATE KEY"), r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*-----|\Z)", MASK),
)
# How tokens begin that their makers have marked.
PREFIXES = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-"),
    *("sk-", "npm_", "pypi-", "hf_", "dop_v1_", "AKIA", "ASIA", "AIza"),
)
AFTER_PREFIX = r"(?=[\w-]*\d)[\w-]{16,}"
# NAME=value, as env and a shell take it, and "NAME": "value". A value that begins with $ or < is none.
ASSIGNED = r"""\b([A-Z][A-Z0-9_]*)(=|["']\s*:\s*(?=["']))("[^"\n]*"|'[^'\n]*'|[^\s"'$<&|;,)*\\][^\s"'&|;,)]*)"""
QUOTED = r"""(['"])([A-Z][A-Z0-9_]*=)((?:(?!\1)[^\n]){6,})(?=\1)"""  # the whole word
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

# What rows keep of what programs, agents and people said. The rest is compared, run or looked up, and stays as it is:
# the command of a gate is run from its row.
TEXTS = frozenset(
    (
        *("answered", "defects", "error", "evidence", "failed", "failing", "gaps", "message", "not_here", "notes"),
        *("observed", "question", "quoted", "rationale", "reason", "reasons", "refused", "said", "subtests"),
        *("suggested_action", "summary", "tail", "text", "unexpected", "waysOn", "why"),
    )
)

# A copy of a file that the user named, digests, checks that are pinned by theirs, and a row that was masked already.
UNTOUCHED = frozenset(("after", "base", "checks", "content", "files", "rules"))

_known_names: dict[str, bool] = {}  # by name, what was found out about it
_last: tuple[list[tuple[str, str]], list[str]] = ([], [])  # the variables that were looked at last, and their values


def names_secret(name: str) -> bool:
    """Return whether a variable of this name holds a secret."""
    if (known := _known_names.get(name)) is None:
        known = _known_names[name] = _names_secret(name)
    return known


def _names_secret(name: str) -> bool:
    parts = name.upper().replace("-", "_").split("_")
    if parts[-1] in BESIDE and not any(part in SECRET_URLS for part in parts):
        return False
    if name.upper() == "PWD":  # the directory
        return False
    return any(part in PARTS or part.endswith(PART_ENDS) for part in parts)


def mask(text: str, argv: Sequence[str] = ()) -> str:
    """Return the text with each secret replaced. `argv` is the command that printed it, which may set variables."""
    values = _values(os.environ)
    if argv and (assigned := list(_assigned_in(argv))):
        values = sorted({*values, *_spellings(assigned)}, key=len, reverse=True)
    return _masked(text, values)


def has_login(value: str) -> bool:
    """Return whether a value has the form of a URL with somebody's name or password in it."""
    _, is_url, rest = value.partition("://")
    return bool(is_url) and "@" in rest.split("/")[0]


def mask_all(texts: Iterable[str], argv: Sequence[str] = ()) -> list[str]:
    return [mask(text, argv) for text in texts]


def masked_command(argv: Sequence[str]) -> list[str]:
    """Return the words of a command that others are to run. A plain word of it is not masked."""
    values = [value for value in _values(os.environ) if not _is_word(value)]
    return [_masked(word, values) for word in argv]


def masked_row(row: Mapping[str, Any]) -> Any:
    """Return what is to be kept of a row: what its fields of `TEXTS` hold is masked."""
    values = _values(os.environ)

    def masked(row: Mapping[str, Any]) -> Any:
        kept = dict(row)
        for name, value in row.items():
            if name in TEXTS:
                kept[name] = _masked_texts(value, values)
            elif name in UNTOUCHED or not value:
                continue
            elif isinstance(value, dict):
                kept[name] = masked(value)
            elif isinstance(value, list):
                kept[name] = [masked(item) if isinstance(item, dict) else item for item in value]
        return kept

    return masked(row)


def masked_data(data: Any) -> Any:
    """Return data for --json with secrets masked. A text that is one word of small letters is one of ours."""
    return _masked_texts(data, _values(os.environ), keeps_words=True)


def _masked_texts(value: Any, values: Sequence[str], *, keeps_words: bool = False) -> Any:
    """Keys stay as they are."""
    if isinstance(value, str):
        is_word = keeps_words and value.isalpha() and value.islower()
        return value if is_word else _masked(value, values)
    if isinstance(value, (list, tuple)):
        return [_masked_texts(item, values, keeps_words=keeps_words) for item in value]
    if isinstance(value, dict):
        return {name: _masked_texts(item, values, keeps_words=keeps_words) for name, item in value.items()}
    return value


def _masked(text: str, values: Sequence[str]) -> str:
    if len(text) < SHORTEST:
        return text
    for value in values:
        if value in text:
            text = _replaced_word(text, value) if _is_word(value) else text.replace(value, MASK)
    if "…" in text:
        text = _without_cut_values(text, values)
    if values and "\n" in text:
        text = _without_wrapped_values(text, values)
    return _without_forms(text)


# The values of variables


def _values(environ: Mapping[str, str]) -> list[str]:
    """Return the secrets of an environment in every spelling, the longest first."""
    global _last
    variables = []
    for name, value in environ.items():
        if len(value) < SHORTEST:
            continue
        is_secret = _known_names.get(name)
        if is_secret is None:
            is_secret = names_secret(name)
        if is_secret or ("://" in value and "@" in value):
            variables.append((name, value))
    if variables != _last[0]:
        _last = (variables, sorted(_spellings(variables), key=len, reverse=True))
    return _last[1]


def _spellings(variables: Iterable[tuple[str, str]]) -> set[str]:
    found: set[str] = set()
    for name, value in variables:
        for secret in _secrets_in(name, value):
            if len(secret) >= SHORTEST:
                found.update((secret, _in_json(secret), _in_json(secret, is_ascii=True), _in_html(secret)))
                quoted = _in_url(secret)
                found.update((quoted, quoted.replace("%20", "+"), quoted.lower() if secret.islower() else quoted))
    return found


def _secrets_in(name: str, value: str) -> Iterator[str]:
    """Yield a variable's value, if its name says that it is secret, and what of it is a secret by itself."""
    value = value.strip()
    scheme, is_url, rest = value.partition("://")
    if is_url and " " not in scheme:
        login = rest.split("/")[0].rpartition("@")[0]
        password = login.partition(":")[2]
        yield password
        yield _from_url(password)
        if names_secret(name):
            yield login
    if not names_secret(name) or (os.path.isabs(value) and os.path.exists(value)):  # where it lies
        return
    yield value
    pieces = [line.strip() for line in value.split("\n") if not line.startswith("-----")]
    pieces += [piece.partition("=")[2] for piece in value.split(";")]
    pieces += value.split(" ")[1:] if value.count(" ") == 1 else []  # Bearer …
    if is_url:
        pieces.append(rest.partition("/")[2])
    if value.startswith("{"):
        quoted = value.split('"')
        pieces += [
            text for before, text in zip(quoted[0::2], quoted[1::2], strict=False) if before.rstrip().endswith(":")
        ]
    for piece in pieces:
        if len(piece) >= SHORTEST_PIECE:
            yield piece


def _assigned_in(argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word in argv:
        name, is_assigned, value = word.partition("=")
        if is_assigned and name.isidentifier() and len(value) >= SHORTEST:
            yield name, value


def _in_json(text: str, *, is_ascii: bool = False) -> str:
    for letter, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(letter, escape)
    if not is_ascii or text.isascii():
        return text
    units = text.encode("utf-16-be", "surrogatepass")
    escaped = []
    for high, low in zip(units[0::2], units[1::2], strict=True):
        escaped.append(chr(low) if high == 0 and low < 128 else f"\\u{high:02x}{low:02x}")
    return "".join(escaped)


def _in_html(text: str) -> str:
    for letter, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;")):
        text = text.replace(letter, entity)
    return text


def _in_url(text: str) -> str:
    quoted = []
    for byte in text.encode("utf-8", "surrogateescape"):
        letter = chr(byte)
        is_plain = byte < 128 and (letter.isalnum() or letter in "_.-~")
        quoted.append(letter if is_plain else f"%{byte:02X}")
    return "".join(quoted)


def _from_url(text: str) -> str:
    """Return what percent signs stand for."""
    first, *rest = os.fsencode(text).split(b"%")
    plain = [first]
    for piece in rest:
        try:
            plain.append(bytes([int(piece[:2], 16)]) + piece[2:])
        except ValueError:
            plain.append(b"%" + piece)
    return b"".join(plain).decode("utf-8", "replace")


# Where they are in a text


def _is_word(value: str) -> bool:
    return len(value) <= LONGEST_WORD and value.isascii() and ((value.isalpha() and value.islower()) or value.isdigit())


def _replaced_word(text: str, word: str) -> str:
    pieces = text.split(word)
    kept = [pieces[0]]
    for piece in pieces[1:]:
        is_inside = _goes_on(kept[-1][-1:]) or _goes_on(piece[:1])
        if is_inside and piece[:1] == "." and not _goes_on(piece[1:2]):  # the end of a sentence
            is_inside = _goes_on(kept[-1][-1:])
        kept += [word if is_inside else MASK, piece]
    return "".join(kept)


def _goes_on(letter: str) -> bool:
    return letter.isalnum() or (bool(letter) and letter in "_-./")


def _without_cut_values(text: str, values: Sequence[str]) -> str:
    """A text that was clipped may end in the beginning of a value."""
    for value in values:
        for length in range(len(value) - 1, SHORTEST_CUT - 1, -1):
            if (cut := f"{value[:length]}…") in text:
                text = text.replace(cut, f"{MASK}…")
                break
    return text


def _without_wrapped_values(text: str, values: Sequence[str]) -> str:
    """A value that a program broke into several lines."""
    joined = "".join([line.strip() for line in text.split("\n")])
    for value in values:
        if len(value) >= SHORTEST_WRAPPED and value in joined and not _is_word(value):
            import re

            text = re.sub(r"(?:[ \t]*\r?\n[ \t]*)?".join(map(re.escape, value)), MASK, text)
    return text


def _without_forms(text: str) -> str:
    for marks, pattern, left in FORMS:
        if marks[0] in text and marks[-1] in text:  # one or two
            import re

            text = re.sub(pattern, left, text)
    for prefix in PREFIXES:
        if prefix in text:
            import re

            text = re.sub(rf"\b{prefix}{AFTER_PREFIX}", MASK, text)
    if _assigns_secret(text):
        import re

        text = re.sub(QUOTED, _masked_word, text)
        text = re.sub(ASSIGNED, _masked_assignment, text)
    return text


def _assigns_secret(text: str) -> bool:
    for sign in ("=", '":', "':", '" :'):
        for before in text.split(sign)[:-1]:
            name = before[len(before.rstrip(LETTERS)) :]
            if name and names_secret(name):
                return True
    return False


def _masked_word(found: Any) -> str:
    quote, name, value = found.groups()
    return f"{quote}{name}{MASK}" if names_secret(name[:-1]) and value[0] not in "$<" else str(found[0])


def _masked_assignment(found: Any) -> str:
    name, sign, value = found.groups()
    quote = value[0] if value[0] in "\"'" else ""
    is_secret = names_secret(name) and len(value.strip(quote or None)) >= SHORTEST
    if not is_secret or value.strip("\"'").startswith(("$", "<")):
        return str(found[0])
    return f"{name}{sign}{quote}{MASK}{quote}"
