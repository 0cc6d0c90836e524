"""A real headless Chromium, controlled over WebDriver."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


class Browser:
    """One session of WebDriver: opens pages, runs scripts in them, tells what was logged."""

    def __init__(self, driver: str, profile: Path, *flags: str, width: int) -> None:
        self._web, self._base = requests.Session(), driver
        # The driver is on this machine: no proxy of the user's is needed.
        self._web.trust_env = False
        options = {
            "args": [*FLAGS, *flags, f"--user-data-dir={profile}"],
            # No window is as narrow as a telephone.
            "mobileEmulation": {"deviceMetrics": {"width": width, "height": 800, "pixelRatio": 1}},
        }
        capabilities = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        made = self._ask("POST", "session", {"capabilities": {"alwaysMatch": capabilities}})
        self._base = f"{driver}/session/{made['sessionId']}"

    def open(self, page: Path) -> None:
        """Open a file and wait until it is loaded."""
        self._ask("POST", "url", {"url": page.as_uri()})

    def run(self, script: str) -> Any:
        """Run a script in the page and return what it returns."""
        return self._ask("POST", "execute/sync", {"script": script, "args": []})

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, wherever the page's focus is."""
        pressed = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        device = {"type": "key", "id": "keys", "actions": pressed}
        self._ask("POST", "actions", {"actions": [device]})

    def console(self) -> list[str]:
        """Return what the page and the browser complained of."""
        return [entry["message"] for entry in self._ask("POST", "se/log", {"type": "browser"})]

    def requests(self) -> list[str]:
        """Return the requested addresses; not those of the browser's own first page."""
        log = self._ask("POST", "se/log", {"type": "performance"})
        messages = [json.loads(entry["message"])["message"] for entry in log]
        sent = [each for each in messages if each["method"] == "Network.requestWillBeSent"]
        addresses = [each["params"]["request"]["url"] for each in sent]
        return [url for url in addresses if not url.startswith(("chrome:", "chrome-", "data:"))]

    def close(self) -> None:
        """End the browser."""
        self._web.delete(self._base, timeout=60)

    def _ask(self, method: str, name: str, content: Any = None) -> Any:
        """Return the driver's answer. Raises AssertionError with what it says of an error."""
        answer = self._web.request(method, f"{self._base}/{name}", json=content, timeout=60)
        value = answer.json()["value"]
        assert answer.ok, value["message"]
        return value


@contextmanager
def browser(*flags: str, width: int = 1200) -> Iterator[Browser]:
    """Give a browser of its own, with nothing of any user's; skip where there is none."""
    missing = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed: Debian's chromium, chromium-driver")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        driver = subprocess.Popen(
            ["chromedriver", "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            # Fonts and settings of a user's would be read and written there.
            env={**os.environ, "HOME": folder},
        )
        try:
            assert driver.stdout
            ports = (re.search(r"successfully on port (\d+)", line) for line in driver.stdout)
            url = f"http://127.0.0.1:{next(found[1] for found in ports if found)}"
            opened = Browser(url, Path(folder) / "profile", *flags, width=width)
            try:
                yield opened
            finally:
                opened.close()
        finally:
            driver.terminate()
            driver.communicate()
