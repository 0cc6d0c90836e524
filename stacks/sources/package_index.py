"""Find where a file of a project lies: simple indexes (JSON or HTML) and find-links places.

Written out rather than taken from a library: the two that exist bring a second HTTP library or
an HTML tree builder, and one of them takes an index that is down for an index without the file.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import url2pathname

from stacks.core.errors import FetchError
from stacks.sources.download import get_document
from stacks.sources.mirrors import PipSettings, public_url
from stacks.sources.pins import canonical
from stacks.sources.web import MissingError, StoppedError, Web

ACCEPT = (
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
    "text/html;q=0.01"
)


@dataclass(frozen=True)
class Link:
    """A file that an index offers; `sha256` where the index tells it."""

    filename: str
    url: str
    sha256: str | None


@dataclass(frozen=True)
class ProjectFiles:
    """What the asked places offer of a project, and those places as they may be shown."""

    links: tuple[Link, ...]
    tried: tuple[str, ...]

    def links_to(self, filename: str) -> tuple[Link, ...]:
        """Return the links to that file, in the order in which the places were asked."""
        return tuple(link for link in self.links if link.filename == filename)


@dataclass(frozen=True)
class FileQuery:
    """A file that is looked for; with `sha256`, another file of that name is none."""

    filename: str
    sha256: str | None = None

    def fits(self, link: Link) -> bool:
        """Whether the link may be this file, by what the index says of it."""
        return link.filename == self.filename and (
            None in (self.sha256, link.sha256) or link.sha256 == self.sha256
        )


def look_up(
    web: Web, settings: PipSettings, project: str, files: frozenset[FileQuery]
) -> ProjectFiles:
    """Ask indexes and find-links places, in pip's order, until all of the files are found.

    A place that does not know the project is passed over. Raises FetchError where one cannot be
    asked, unless the others have it all.
    """
    places = [
        (f"{url.rstrip('/')}/{canonical(project)}/", False) for url in settings.index_urls
    ] + [(place, True) for place in settings.find_links]
    names = {file.filename for file in files}
    links: list[Link] = []
    tried: list[str] = []
    failures: list[FetchError] = []
    for place, flat in places:
        found, told, failure = _ask(web, place, flat)
        links += [link for link in found if link.filename in names]
        tried.append(told)
        failures += [failure] if failure else []
        if all(any(file.fits(link) for link in links) for file in files):
            return ProjectFiles(tuple(links), tuple(tried))
    if failures:
        raise failures[0]
    return ProjectFiles(tuple(links), tuple(tried))


def _ask(web: Web, place: str, flat: bool) -> tuple[list[Link], str, FetchError | None]:
    try:
        return list(_links(web, place, flat)), public_url(place), None
    except MissingError:
        return [], f"{public_url(place)} (does not know it)", None
    except StoppedError:
        raise
    except FetchError as error:
        return [], f"{public_url(place)} (could not be asked)", error


def _links(web: Web, place: str, flat: bool) -> Iterator[Link]:
    scheme = urlsplit(place).scheme
    if scheme in ("http", "https"):
        if not _may_be_trusted(web, place):
            raise FetchError(
                f"{public_url(place)}: an index without https could be anybody's",
                fix="use its https address, or name its host in pip's trusted-host",
            )
        body, kind, last_url = get_document(web, place, ACCEPT)
        if "json" in kind:
            yield from _json_links(body, _same_user(last_url, place))
        else:
            yield from _html_links(body, _same_user(last_url, place))
        return
    path = Path(url2pathname(urlsplit(place).path) if scheme == "file" else place)
    path = path.expanduser()
    if path.is_file():
        yield from _html_links(path.read_bytes(), path.absolute().as_uri())
        return
    if not path.is_dir():
        raise MissingError(f"{public_url(place)}: no such folder")
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


def _same_user(url: str, place: str) -> str:
    """Give a URL on the place's own host the user and password that the place has."""
    ours, theirs = urlsplit(place), urlsplit(url)
    user, at, host = ours.netloc.rpartition("@")
    if at and theirs.netloc == host and theirs.scheme == ours.scheme:
        return theirs._replace(netloc=f"{user}@{host}").geturl()
    return url


def _link(base: str, href: str, filename: str | None, sha256: str | None) -> Iterator[Link]:
    """Give the link that an index's entry is; nothing where its address cannot be read."""
    try:
        parts = urlsplit(urljoin(base, href))
    except ValueError:
        return
    told = parts.fragment.partition("sha256=")[2].partition("&")[0]
    url = _same_user(parts._replace(fragment="").geturl(), base)
    yield Link(filename or unquote(parts.path.rpartition("/")[2]), url, sha256 or told or None)


def _json_links(body: bytes, base: str) -> Iterator[Link]:
    try:
        for file in json.loads(body)["files"]:
            sha256 = file.get("hashes", {}).get("sha256")
            yield from _link(base, file["url"], file["filename"], sha256)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FetchError(
            f"{public_url(base)}: the index's answer cannot be read",
            expected="JSON of the simple repository API",
            found=f"{type(error).__name__} in {len(body)} bytes",
            fix="look at the address of the index in pip's configuration",
        ) from error


class _Anchors(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__()
        self.base = base
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if tag == "base" and href:
            self.base = urljoin(self.base, href)
        elif tag == "a" and href:
            self.hrefs.append(href)


def _html_links(body: bytes, base: str) -> Iterator[Link]:
    anchors = _Anchors(base)
    anchors.feed(body.decode("utf-8", errors="replace"))
    for href in anchors.hrefs:
        yield from _link(anchors.base, href, None, None)
