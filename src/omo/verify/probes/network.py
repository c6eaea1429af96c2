"""infrastructure: one connection to the address the claim names, for at most three seconds."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from omo.verify.probes import Finding, Limits, Outcome, not_probeable
from omo.verify.triggers import Address, ServiceClaim

_RESTATE = "give its address: localhost:5432 is down, or http://localhost:8080/health returns 503"


@dataclass
class Seen:
    """`kind` is one of unresolved, refused, timeout, unreachable, connected, answered, broken."""

    kind: str
    detail: str
    status: int = 0


def probe(claim: ServiceClaim, limits: Limits) -> Finding:
    if claim.address is None:
        return not_probeable(f"the claim names no single address to probe: {_RESTATE}")
    address = claim.address
    target = address.url or f"{address.host}:{address.port}"
    seen = _bounded(_head if address.url else _connect, address, limits.network_seconds)
    ran = f"{'HEAD' if address.url else 'TCP connect to'} {target}"
    outcome, reason = _judge(claim, seen)
    return Finding(outcome, ran, f"{seen.detail}, seen from this machine", reason)


def _bounded(attempt: Callable[[Address, float], Seen], address: Address, seconds: float) -> Seen:
    """Name resolution has no time limit of its own, and a server can answer one byte at a time."""
    answers: list[Seen] = []

    def work() -> None:
        answers.append(_attempt(attempt, address, seconds))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds + 0.5)
    return answers[0] if answers else Seen("timeout", f"no answer within {seconds:g} s")


def _attempt(attempt: Callable[[Address, float], Seen], address: Address, seconds: float) -> Seen:
    try:
        return attempt(address, seconds)
    except (socket.gaierror, UnicodeError):
        return Seen("unresolved", f"{address.host} does not resolve")
    except ConnectionRefusedError:
        return Seen("refused", "connection refused")
    except TimeoutError:
        return Seen("timeout", f"no answer within {seconds:g} s")
    except (ssl.SSLError, http.client.HTTPException, ConnectionError, ValueError) as error:
        return Seen("broken", f"connected, then {type(error).__name__}: {error}"[:200])
    except OSError as error:
        return Seen("unreachable", f"not reachable: {error.strerror or error}"[:200])


def _connect(address: Address, seconds: float) -> Seen:
    with socket.create_connection((address.host, address.port), timeout=seconds):
        return Seen("connected", "the connection was accepted")


def _head(address: Address, seconds: float) -> Seen:
    """One request; a redirect is an answer and is not followed."""
    secure = address.url.startswith("https:")
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(address.host, address.port, timeout=seconds)
    target = quote("/" + address.url.split("/", 3)[3], safe="/%?=&:@!$'()*+,;~[]")
    try:
        connection.request("HEAD", target, headers={"User-Agent": "omo"})
        status = connection.getresponse().status
    finally:
        connection.close()
    return Seen("answered", f"HTTP {status}", status)


# What each claim needs to have been seen, and what goes against it; anything else says neither.
_FOR = {
    "down": {"refused", "timeout", "unreachable"},
    "silent": {"refused", "timeout", "unreachable"},
    "refused": {"refused"},
    "timeout": {"timeout"},
    "unhealthy": {"refused", "timeout", "unreachable"},
}
_AGAINST = {
    "down": {"connected", "answered"},
    "silent": {"connected", "answered"},
    "refused": {"connected", "answered", "timeout"},
    "timeout": {"connected", "answered", "refused"},
    "unhealthy": set[str](),
}
_NO_HEAD = (405, 501)


def _judge(claim: ServiceClaim, seen: Seen) -> tuple[Outcome, str]:
    if claim.says == "status":
        return _judge_status(claim.status, seen)
    if seen.status and claim.says in ("down", "unhealthy"):
        return _judge_health(claim.says, seen.status)
    if seen.kind in _FOR[claim.says]:
        return "holds", f"probed now: {seen.detail}"
    if seen.kind in _AGAINST[claim.says]:
        return "contradicted", f"probed now: {seen.detail}"
    return "insufficient", f"{seen.detail}: that does not show it; {_RESTATE}"


def _judge_status(claimed: int, seen: Seen) -> tuple[Outcome, str]:
    if seen.status == claimed:
        return "holds", f"probed now: it answers {claimed}"
    if seen.kind == "answered" and seen.status in _NO_HEAD:
        return "insufficient", f"it answers {seen.status} to HEAD, so what it says to GET is not known"
    if seen.kind == "connected":
        return "insufficient", f"the port is open; for a status, {_RESTATE}"
    return "contradicted", f"probed now: {seen.detail}, not {claimed}"


def _judge_health(says: str, status: int) -> tuple[Outcome, str]:
    if status >= 500 and status not in _NO_HEAD:
        return "holds", f"probed now: it answers {status}"
    if says == "unhealthy" and status >= 400:
        return "insufficient", f"it answers {status}, which says nothing about its health"
    return "contradicted", f"probed now: it answers {status}"
