"""infrastructure: what is said not to answer, or to answer with a status."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from omo.verify.triggers.clauses import anchors, trigger
from omo.verify.triggers.model import INFRASTRUCTURE, Address, ServiceClaim, Trigger
from omo.verify.wording import Sentence, Word, path_in

_SERVICE = re.compile(
    r"\b(?:servers?|services?|database|db|api|endpoint|host|site|website|backend|cluster|daemon|broker|proxy|gateway"
    r"|registry|dns|vpn|network|port \d{1,5}|redis|postgres(?:ql)?|mysql|mariadb|mongo(?:db)?|nginx|kafka|rabbitmq"
    r"|elasticsearch)\b"
    r"(?![-_ /.](?:tests?|suite|module|client|code|config|file|docs?|response|schema|class|function|py|js|ts|md)\b)",
    re.I,
)
_IS = r"(?:is|are)(?: currently| still| now)?"
_IS_NOT = rf"(?:{_IS} not|(?:is|are)n't)"
_TROUBLE = re.compile(
    rf"\b(?:(?P<down>{_IS} (?:down|offline|unreachable|unavailable)(?! (?:to|from|by|for|about|\d)))"
    rf"|(?P<silent>{_IS_NOT} (?:responding|reachable|answering|listening|up(?! to\b)|running(?! (?:the|a)\b)"
    r"|available(?! (?:in|on|for|to)\b))"
    r"|(?:does not|doesn't|do not|don't) (?:respond|answer)|no response from|nothing is listening)"
    r"|(?P<refused>connections? (?:(?:was|is|were|got|are) )?refused|refus(?:es|ed)(?: the| all)? connections?)"
    r"|(?P<timeout>tim(?:ed|es|ing) out)"
    rf"|(?P<unhealthy>unhealthy|{_IS_NOT} healthy))\b",
    re.I,
)
_STATUS = re.compile(
    r"(?:\b(?:returns?|returned|returning|gives?|gave|(?:responds?|responded|answers?|answered)(?: with)?"
    r"|status(?: code)?(?: is| was)?|http)|→|->)"
    r"(?: (?:an?|the|http|status|code)){0,4} (?P<code>[1-5]\d\d)\b(?![.%:]?\d)",
    re.I,
)
_URL = re.compile(r"\bhttps?://[^\s`\"'<>)\]}]{1,500}", re.I)
_HOST_PORT = re.compile(
    r"(?<![\w./:@-])(?P<host>localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.]{2,45}\]"
    r"|[A-Za-z][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){0,8}):(?P<port>\d{1,5})(?!\w|:\S)"
)
_PORT = re.compile(r"\bport (?P<port>\d{1,5})\b", re.I)
LOOPBACK = "127.0.0.1"


def claims(sentence: Sentence, everywhere: list[Address]) -> Iterator[Trigger]:
    here = addresses_in(sentence)
    for anchor in anchors(_TROUBLE, sentence):
        kind = anchor.lastgroup or "down"
        # "Connection refused." often is a sentence of its own, after the one that names the address.
        known = here or (everywhere if kind in ("refused", "silent") else [])
        if known or _SERVICE.search(sentence.plain):
            yield trigger(INFRASTRUCTURE, sentence, anchor, ServiceClaim(kind, _only(known)), [])
    if here:
        for anchor in anchors(_STATUS, sentence):
            claim = ServiceClaim("status", _only(here), int(anchor["code"]))
            yield trigger(INFRASTRUCTURE, sentence, anchor, claim, [])


def _only(addresses: list[Address]) -> Address | None:
    """One address can be probed for a claim; of several, the claim does not say which."""
    return addresses[0] if len(set(addresses)) == 1 else None


def addresses_in(sentence: Sentence) -> list[Address]:
    urls = [address for match in _URL.finditer(sentence.text) if (address := _from_url(match[0]))]
    without = _URL.sub(" ", sentence.text)
    pairs = [(match["host"].strip("[]"), match["port"], match["host"]) for match in _HOST_PORT.finditer(without)]
    hosts = [
        Address(host, int(port))
        for host, port, written in pairs
        if 0 < int(port) < 65536 and not path_in(Word(written, False, 0, 0))
    ]
    if urls or hosts:
        return list(dict.fromkeys([*urls, *hosts]))
    return [
        Address(LOOPBACK, int(match["port"])) for match in _PORT.finditer(without) if 0 < int(match["port"]) < 65536
    ]


def _from_url(text: str) -> Address | None:
    try:
        parts = urlsplit(text.rstrip(".,:;!?"))
        host, port = parts.hostname, parts.port or (443 if parts.scheme.lower() == "https" else 80)
    except ValueError:
        return None
    if not host or not host.isascii():
        return None
    shown = f"[{host}]" if ":" in host else host
    # No user or password goes along, whatever the claim holds.
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Address(host, port, f"{parts.scheme.lower()}://{shown}:{port}{target}")
