"""A headless Chromium, driven over its debugging pipe: started once, and asked about one page after the other."""

from __future__ import annotations

import base64
import json
import select
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    "--remote-debugging-pipe",
)
# The browser reads commands from descriptor 3 and answers on 4.
WITH_PIPES = 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null'
PATIENCE = 60.0


def program() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


@dataclass
class Browser:
    process: subprocess.Popen[bytes]
    tab: str = ""
    count: int = 0
    rest: bytes = b""
    events: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def start(cls, path: str, profile: Path) -> Browser:
        argv = ["sh", "-c", WITH_PIPES, "sh", path, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        made = cls(subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        target = made.ask("Target.createTarget", url="about:blank")["targetId"]
        made.tab = made.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for room in ("Page", "Runtime", "Network", "Log"):
            made.ask(f"{room}.enable")
        return made

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def ask(self, method: str, **given: Any) -> dict[str, Any]:
        self.count += 1
        message = {"id": self.count, "method": method, "params": given, **({"sessionId": self.tab} if self.tab else {})}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\0")
        self.process.stdin.flush()
        while True:
            told = self._next()
            if told.get("id") == self.count:
                assert "error" not in told, told
                answer: dict[str, Any] = told["result"]
                return answer
            self.events.append(told)

    def _next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            assert ready, "the browser says nothing"
            more = self.process.stdout.read1(1 << 20)  # type: ignore[attr-defined]
            assert more, "the browser is gone"
            self.rest += more
        line, self.rest = self.rest.split(b"\0", 1)
        told: dict[str, Any] = json.loads(line)
        return told

    def open(self, path: Path, *, width: int = 1200, height: int = 900, media: str = "", scheme: str = "light") -> None:
        """Load a page, and wait until everything it asks for is there."""
        self.events.clear()
        self.look(width, height, media, scheme)
        self.ask("Page.navigate", url=path.as_uri())
        while not self.said("Page.loadEventFired"):
            self.events.append(self._next())

    def look(self, width: int, height: int, media: str = "", scheme: str = "light") -> None:
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", media=media, features=features)

    def said(self, method: str) -> list[dict[str, Any]]:
        return [one["params"] for one in self.events if one.get("method") == method]

    def value(self, expression: str) -> Any:
        """What a script of ours finds; the page's own policy does not hold for it."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self, *, whole: bool = False) -> bytes:
        return base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

    def pdf(self) -> bytes:
        given = {"generateDocumentOutline": True, "generateTaggedPDF": True, "printBackground": True}
        return base64.b64decode(self.ask("Page.printToPDF", **given)["data"])

    def requests(self) -> list[str]:
        """Everything that was asked for but data that the page itself holds."""
        urls = [str(one["request"]["url"]) for one in self.said("Network.requestWillBeSent")]
        return [url for url in urls if not url.startswith("data:")]
