"""SHA-256 without hashlib, whose import loads OpenSSL: 4 ms on every hook that writes a ledger row."""

from __future__ import annotations

try:
    from _sha2 import sha256 as _sha256  # type: ignore[import-not-found]  # CPython 3.12 and newer
except ImportError:
    try:
        from _sha256 import sha256 as _sha256  # type: ignore[import-not-found]  # CPython 3.10 and 3.11
    except ImportError:
        from hashlib import sha256 as _sha256

new_sha256 = _sha256


def sha256(data: bytes) -> str:
    digest: str = _sha256(data).hexdigest()
    return digest
