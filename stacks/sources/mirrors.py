"""Mirrors and indexes from the user's own configuration of pip, apt and the environment."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from stacks.core.errors import FetchError
from stacks.core.process import CommandError, call

APT = Path("/etc/apt")
_SUITES = re.compile(
    r"(buster|bullseye|bookworm|trixie|forky|duke|sid|unstable|testing|(old)*stable)(-\w+)*"
)
_COMMENT = re.compile(r"(^|\s)#.*")


@dataclass(frozen=True, kw_only=True)
class PipSettings:
    """The part of pip's configuration for finding and fetching files; the timeout is in seconds."""

    index_urls: tuple[str, ...]
    find_links: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    cert: str | None = None
    client_cert: str | None = None
    proxy: str | None = None
    timeout: float = 15.0
    retries: int = 5


def public_url(url: str) -> str:
    """Return a URL or path for messages: without user, password, query and fragment.

    It may be one that cannot be parsed, and may come from a server: control characters are quoted.
    """
    address = re.split(r"[?#]", url, maxsplit=1)[0]
    address = re.sub(r"//[^/]*@", "//", address, count=1)
    return re.sub(r"[^\x20-\x7e]", lambda letter: quote(letter[0]), address)


def valid_url(url: str, where: str) -> str:
    """Return a URL; FetchError, which names `where` it was set, if it cannot be parsed."""
    try:
        urlsplit(url)
    except ValueError as error:
        raise FetchError(
            f"{where}: the address cannot be parsed: {error}", fix="check its spelling"
        ) from error
    return url


def pip_settings() -> PipSettings:
    """Read pip's configuration: its files, its PIP_* variables, its default index.

    Raises FetchError if this Python has no pip, or pip rejects its configuration.
    """
    try:
        listing = call([sys.executable, "-m", "pip", "--no-input", "config", "list"])
    except CommandError as error:
        raise FetchError(
            f"pip's configuration cannot be read: {error.what}",
            fix=f"`{sys.executable} -m pip config debug` shows where its settings come from",
        ) from error
    options: dict[str, str] = {}
    ranks = ("global.", "install.", ":env:.")
    lines = [line.partition("=") for line in listing.splitlines() if "=" in line]
    for rank in ranks:
        options |= {
            key.removeprefix(rank): str(ast.literal_eval(value))
            for key, _, value in lines
            if key.startswith(rank)
        }
    indexes = [
        options.get("index-url") or _default_index(),
        *options.get("extra-index-url", "").split(),
    ]
    if options.get("no-index", "").lower() in ("1", "true", "yes", "on", "y", "t"):
        indexes = []
    return PipSettings(
        index_urls=tuple(valid_url(url, "pip's index-url") for url in dict.fromkeys(indexes)),
        find_links=tuple(
            valid_url(url, "pip's find-links") for url in options.get("find-links", "").split()
        ),
        trusted_hosts=tuple(options.get("trusted-host", "").split()),
        cert=options.get("cert") or None,
        client_cert=options.get("client-cert") or None,
        proxy=options.get("proxy") or None,
        timeout=float(options.get("timeout") or options.get("default-timeout") or 15),
        retries=int(options.get("retries") or 5),
    )


def _default_index() -> str:
    # Only pip knows its own default; the constant is there since pip 10.
    try:
        from pip._internal.models.index import PyPI
    except ImportError as error:
        raise FetchError(
            "pip's default package index cannot be read",
            fix="export PIP_INDEX_URL=<the address of a package index>",
        ) from error
    return str(PyPI.simple_url)


def debian_mirrors() -> tuple[str, ...]:
    """Return the roots of Debian's archive to ask, in order.

    DEBIAN_MIRROR, else what the host's apt uses; then DEBIAN_SNAPSHOT_MIRROR. Raises FetchError
    if there is none.
    """
    mirror = os.environ.get("DEBIAN_MIRROR")
    roots = [valid_url(mirror, "DEBIAN_MIRROR")] if mirror else _apt_uris()
    if snapshot := os.environ.get("DEBIAN_SNAPSHOT_MIRROR"):
        roots.append(valid_url(snapshot, "DEBIAN_SNAPSHOT_MIRROR"))
    mirrors = tuple(dict.fromkeys(root.rstrip("/") for root in roots))
    if not mirrors:
        raise FetchError(
            "no mirror of Debian's archive is known",
            expected="DEBIAN_MIRROR in the environment, or a Debian system's apt sources",
            fix="export DEBIAN_MIRROR=<the address of any mirror of Debian's archive>",
        )
    return mirrors


def _apt_uris() -> list[str]:
    """Return the archive roots that the host's apt takes Debian's main component from."""
    files = [APT / "sources.list", *sorted((APT / "sources.list.d").glob("*.list"))]
    entries = [entry for file in files for entry in _one_line_entries(_text(file))]
    for file in sorted((APT / "sources.list.d").glob("*.sources")):
        entries += _deb822_entries(_text(file))
    return [
        valid_url(uri, "apt's sources")
        for uri, suites, components in entries
        if re.match(r"https?://|file:", uri)
        and not uri.rstrip("/").endswith(("/ubuntu", "-ports", "-security"))
        and any(_SUITES.fullmatch(suite) for suite in suites)
        and "main" in components
    ]


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


_Entry = tuple[str, list[str], list[str]]


def _one_line_entries(text: str) -> Iterator[_Entry]:
    """Read `deb [options] uri suite component...` lines."""
    for line in text.splitlines():
        words = re.sub(r"\[.*?\]", " ", _COMMENT.sub("", line)).split()
        if len(words) > 3 and words[0] == "deb":
            yield words[1], [words[2]], words[3:]


def _deb822_entries(text: str) -> Iterator[_Entry]:
    """Read stanzas of `Key: values`, continued by indented lines."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n\s*\n", "\n".join(lines)):
        fields: dict[str, list[str]] = {}
        key = ""
        for line in stanza.splitlines():
            if not line[:1].isspace():
                key, _, line = line.partition(":")
                key = key.strip().lower()
            fields.setdefault(key, []).extend(line.split())
        enabled = "".join(fields.get("enabled", [])).lower() not in ("no", "false", "0", "off")
        if enabled and "deb" in fields.get("types", []):
            for uri in fields.get("uris", []):
                yield uri, fields.get("suites", []), fields.get("components", [])
