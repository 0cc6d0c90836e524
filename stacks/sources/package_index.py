"""The files that simple indexes (JSON or HTML) and find-links have of a project.

No library is used: the two that exist need a second HTTP library or an HTML tree builder, and one
of them treats an index that is down as an index without the file.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import url2pathname

from stacks.core import jsonfile
from stacks.core.errors import FetchError
from stacks.sources.download import get_document
from stacks.sources.mirrors import PipSettings, public_url
from stacks.sources.pins import canonical
from stacks.sources.redirect import OTHER_SERVER, check_address
from stacks.sources.web import MissingError, StoppedError, Web

ACCEPT = (
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
    "text/html;q=0.01"
)


@dataclass(frozen=True)
class Link:
    """A file in an index; `sha256` if the index has it."""

    filename: str
    url: str
    sha256: str | None


@dataclass(frozen=True)
class ProjectFiles:
    """The links to a project's files, and the addresses that were asked, for messages."""

    links: tuple[Link, ...]
    tried: tuple[str, ...]

    def links_to(self, filename: str) -> tuple[Link, ...]:
        """Return the links to a file, in the order in which the indexes were asked."""
        return tuple(link for link in self.links if link.filename == filename)


@dataclass(frozen=True)
class FileQuery:
    """A file to look for; with `sha256`, other bytes of that name do not match."""

    filename: str
    sha256: str | None = None

    def matches(self, link: Link) -> bool:
        """Return whether a link may lead to this file, by its name and SHA-256."""
        return link.filename == self.filename and (
            None in (self.sha256, link.sha256) or link.sha256 == self.sha256
        )


def look_up(
    web: Web, settings: PipSettings, project: str, files: frozenset[FileQuery], after: int = 0
) -> ProjectFiles:
    """Ask indexes, then find-links, in pip's order until all of the files are found.

    after: how many of them to leave out, because they were asked before.
    An index without the project is skipped. Raises FetchError if one cannot be asked, unless the
    others have all files.
    """
    addresses = [
        (f"{url.rstrip('/')}/{canonical(project)}/", False) for url in settings.index_urls
    ] + [(address, True) for address in settings.find_links]
    names = {file.filename for file in files}
    links: list[Link] = []
    tried: list[str] = []
    failures: list[FetchError] = []
    for address, flat in addresses[after:]:
        answer, label, failure = _ask(web, address, flat)
        links += [link for link in answer if link.filename in names]
        tried.append(label)
        failures += [failure] if failure else []
        if all(any(file.matches(link) for link in links) for file in files):
            return ProjectFiles(tuple(links), tuple(tried))
    if failures:
        raise failures[0]
    return ProjectFiles(tuple(links), tuple(tried))


def _ask(web: Web, address: str, flat: bool) -> tuple[list[Link], str, FetchError | None]:
    try:
        return list(_links(web, address, flat)), public_url(address), None
    except MissingError:
        return [], f"{public_url(address)} (has no such project)", None
    except StoppedError:
        raise
    except FetchError as error:
        return [], f"{public_url(address)} (could not be asked)", error


def _links(web: Web, address: str, flat: bool) -> Iterator[Link]:
    scheme = urlsplit(address).scheme
    if scheme in ("http", "https"):
        if not _may_be_trusted(web, address):
            raise FetchError(
                f"{public_url(address)}: an index without https is not authenticated",
                fix="use its https address, or name its host in pip's trusted-host",
            )
        body, kind, last_url = get_document(web, address, ACCEPT)
        if "json" in kind:
            yield from _json_links(body, _same_user(last_url, address))
        else:
            yield from _html_links(body, _same_user(last_url, address))
        return
    path = Path(url2pathname(urlsplit(address).path) if scheme == "file" else address)
    path = path.expanduser()
    if path.is_file():
        yield from _html_links(path.read_bytes(), path.absolute().as_uri())
        return
    if not path.is_dir():
        raise MissingError(f"{public_url(address)}: no such folder")
    index = path / "index.html"
    if index.is_file():
        yield from _html_links(index.read_bytes(), index.absolute().as_uri())
    if flat or not index.is_file():
        for file in sorted(path.iterdir()):
            yield Link(file.name, file.absolute().as_uri(), None)


def _may_be_trusted(web: Web, url: str) -> bool:
    parts = urlsplit(url)
    if parts.scheme == "https" or web.trusts(url) or parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


def _same_user(url: str, address: str) -> str:
    """Return a URL with the user and password of the index, if it is on the same host."""
    ours, theirs = urlsplit(address), urlsplit(url)
    user, at, host = ours.netloc.rpartition("@")
    if at and theirs.netloc == host and theirs.scheme == ours.scheme:
        return theirs._replace(netloc=f"{user}@{host}").geturl()
    return url


def _link(
    page: str, base: str, href: str, filename: str | None, sha256: str | None
) -> Iterator[Link]:
    """Yield the link of an index's entry; nothing if its address is refused."""
    try:
        parts = urlsplit(urljoin(base, href))
        url = parts._replace(fragment="").geturl()
        # A server may not name files of this machine.
        if not page.startswith("file:"):
            check_address(url, href, OTHER_SERVER)
    except (ValueError, FetchError):
        return
    digest = sha256 or parts.fragment.partition("sha256=")[2].partition("&")[0]
    yield Link(
        filename or unquote(parts.path.rpartition("/")[2]),
        _same_user(url, base),
        digest if re.fullmatch("[0-9a-f]{64}", digest) else None,
    )


def _json_links(body: bytes, base: str) -> Iterator[Link]:
    try:
        for file in jsonfile.parse(body)["files"]:
            sha256 = file.get("hashes", {}).get("sha256")
            yield from _link(base, base, file["url"], file["filename"], sha256)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise FetchError(
            f"{public_url(base)}: the index's answer cannot be parsed",
            expected="JSON of the simple repository API",
            found=f"{type(error).__name__} in {len(body)} bytes",
            fix="check the address of the index in pip's configuration",
        ) from error


class _Anchors(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__()
        self.base = base
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if tag == "base" and href:
            with suppress(ValueError):
                self.base = urljoin(self.base, href)
        elif tag == "a" and href:
            self.hrefs.append(href)


def _html_links(body: bytes, base: str) -> Iterator[Link]:
    anchors = _Anchors(base)
    try:
        anchors.feed(body.decode("utf-8", errors="replace"))
    except (AssertionError, ValueError, OverflowError) as error:
        # The parser of the standard library asserts that a declaration is well formed.
        raise FetchError(
            f"{public_url(base)}: the page cannot be parsed", found=str(error), fix=OTHER_SERVER
        ) from error
    for href in anchors.hrefs:
        yield from _link(base, anchors.base, href, None, None)
