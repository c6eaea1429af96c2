"""Whether a host can be reached: a connection is made or it is not, no words are read."""

from __future__ import annotations

import base64
import http.client
import socket
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urlsplit

SECONDS = 8.0
HTTP, HTTPS = 80, 443


def reaches(host: str, environ: Mapping[str, str]) -> bool:
    """By https. Behind a proxy that cannot be asked for a connection nothing is known to be reached."""
    proxy = proxy_for(host, environ)
    try:
        if proxy is None:
            with socket.create_connection((host, HTTPS), timeout=SECONDS):
                return True
        if proxy.scheme not in ("http", "") or not proxy.hostname:
            return False
        return _tunnels(proxy, host)
    except (OSError, http.client.HTTPException, UnicodeError, ValueError):
        return False


def proxy_for(host: str, environ: Mapping[str, str]) -> SplitResult | None:
    """The proxy that the environment names for this host, in the variables that git and curl read."""
    if _is_exempt(host, environ):
        return None
    names = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    text = next((environ[name] for name in names if environ.get(name)), "")
    return urlsplit(text if "://" in text else f"http://{text}") if text else None


def _is_exempt(host: str, environ: Mapping[str, str]) -> bool:
    """`no_proxy`: names, each with all below it, or `*` for every host."""
    listed = (environ.get("no_proxy") or environ.get("NO_PROXY") or "").replace(" ", "").lower().split(",")
    names = [name.lstrip(".") for name in listed if name]
    return any(name == "*" or host.lower() == name or host.lower().endswith(f".{name}") for name in names)


def _tunnels(proxy: SplitResult, host: str) -> bool:
    """The proxy's answer to CONNECT is a status code; any but 200 raises OSError."""
    connection = http.client.HTTPConnection(proxy.hostname or "", proxy.port or HTTP, timeout=SECONDS)
    connection.set_tunnel(host, HTTPS, headers=_credentials(proxy))
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
