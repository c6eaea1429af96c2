"""Where a URL of git leads, and whether that can be reached: a connection is made or it is not, no words are read."""

from __future__ import annotations

import base64
import http.client
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

SECONDS = 8.0
PORTS = {"http": 80, "https": 443, "ssh": 22, "git": 9418}


@dataclass(frozen=True)
class Place:
    """Where a remote is. `host` is empty for a directory of this machine, `scheme` for what could not be read."""

    scheme: str
    host: str = ""
    port: int | None = None
    path: str = ""


def place_of(url: str) -> Place:
    """git's own rules: a scheme, or `host:path` unless a slash comes first, else a directory."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*::", url):
        return Place("")
    if "://" in url:
        return _from_url(url)
    scp = re.match(r"(?:[^/@:]*@)?(\[[^\]]+\]|[^/:]+):", url)
    if scp:
        return Place("ssh", scp[1].strip("[]"))
    return Place("file", path=url)


def _from_url(url: str) -> Place:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return Place("")
    scheme = {"git+ssh": "ssh", "ssh+git": "ssh"}.get(parts.scheme, parts.scheme)
    if scheme == "file":
        return Place("file", path=parts.path)
    return Place(scheme, host, port) if scheme in PORTS and host else Place("")


def reaches(host: str, port: int, environ: Mapping[str, str], *, scheme: str = "https") -> bool | None:
    """None where a proxy stands between that cannot be asked for a connection."""
    proxy = proxy_for(host, environ, scheme)
    try:
        if proxy is None:
            with socket.create_connection((host, port), timeout=SECONDS):
                return True
        if proxy.scheme not in ("http", "") or not proxy.hostname:
            return None
        return _tunnels(proxy, host, port)
    except (OSError, http.client.HTTPException, UnicodeError, ValueError):
        return False


def proxy_for(host: str, environ: Mapping[str, str], scheme: str) -> SplitResult | None:
    """The proxy that the environment names for this host; ssh and git know none."""
    if scheme not in ("http", "https") or _is_exempt(host, environ):
        return None
    # As git and curl: HTTP_PROXY in capitals is not read, since a web server sets it from what a client sends.
    names = ["http_proxy"] if scheme == "http" else ["https_proxy", "HTTPS_PROXY"]
    text = next((environ[name] for name in [*names, "all_proxy", "ALL_PROXY"] if environ.get(name)), "")
    return urlsplit(text if "://" in text else f"http://{text}") if text else None


def _is_exempt(host: str, environ: Mapping[str, str]) -> bool:
    """`no_proxy`: names, each with all below it, or `*` for every host."""
    listed = (environ.get("no_proxy") or environ.get("NO_PROXY") or "").replace(" ", "").lower().split(",")
    names = [name.lstrip(".") for name in listed if name]
    return any(name == "*" or host.lower() == name or host.lower().endswith(f".{name}") for name in names)


def _tunnels(proxy: SplitResult, host: str, port: int) -> bool:
    """The proxy's answer to CONNECT is a status code; any but 200 raises OSError."""
    connection = http.client.HTTPConnection(proxy.hostname or "", proxy.port or PORTS["http"], timeout=SECONDS)
    connection.set_tunnel(host, port, headers=_credentials(proxy))
    try:
        connection.connect()
    finally:
        connection.close()
    return True


def _credentials(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}
