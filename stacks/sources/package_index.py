"""The files that simple indexes (JSON or HTML) and find-links have of a project.

No library is used: the two that exist need a second HTTP library or an HTML tree builder, and one
of them treats an index that is down as an index without the file.
"""

import ast
import ipaddress
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import url2pathname

from stacks.core import records
from stacks.core.errors import FetchError, IntegrityError
from stacks.core.paths import expanded
from stacks.core.process import CommandError, call
from stacks.sources.connection import OTHER_SERVER, check_address, with_user
from stacks.sources.download import get_document
from stacks.sources.mirrors import BUNDLES, check_access_files, public_url, valid_url
from stacks.sources.pins import Pin, canonical
from stacks.sources.web import MissingError, Web, environment_bundle

# Read before a server is asked, as CA bundles are.
PIP_FILES = ("~/.config/pip/pip.conf", "~/.pip/pip.conf")
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


class Index:
    """One package index, or one find-links, of pip's configuration; each project is asked once.

    address: its URL or path. flat: whether all projects' files are in one place, as in find-links.
    """

    def __init__(self, web: Web, address: str, *, flat: bool = False) -> None:
        self.web, self.address, self.flat = web, address, flat
        self._lock = threading.Lock()
        self._pages: dict[str, _Page] = {}

    def address_of(self, project: str) -> str:
        """Return the address of a project's page."""
        return self.address if self.flat else f"{self.address.rstrip('/')}/{canonical(project)}/"

    def links_to(self, project: str, filename: str) -> tuple[Link, ...]:
        """Return the links to a file of a project.

        Raises MissingError if the index has no such project, FetchError if it cannot be asked.
        """
        address = self.address_of(project)
        with self._lock:
            page = self._pages.setdefault(address, _Page())
        with page.lock:
            if page.links is None:
                try:
                    page.links = tuple(_links(self.web, address, self.flat))
                except MissingError:
                    page.links = NotListedError(f"{public_url(address)} (has no such project)")
                except FetchError as error:
                    page.links = error
        if isinstance(page.links, FetchError):
            raise page.links
        return tuple(link for link in page.links if link.filename == filename)

    def urls(self, pin: Pin) -> list[str]:
        """Return the addresses that may have the pinned bytes, those with the pinned SHA-256 first.

        Raises NotListedError, and IntegrityError if the index lists other bytes under the name.
        """
        links = self.links_to(pin.name, pin.filename)
        possible = [link for link in links if link.sha256 in (None, pin.sha256)]
        if not links:
            raise NotListedError(public_url(self.address_of(pin.name)))
        if not possible:
            raise IntegrityError(
                f"{pin.filename}: the index has other bytes under this name",
                expected=f"sha256 {pin.sha256}",
                found=f"sha256 {links[0].sha256} at {public_url(links[0].url)}",
                fix="check which index of pip's configuration has it; `./invoke pin` accepts it",
            )
        return [link.url for link in sorted(possible, key=lambda link: link.sha256 is None)]


@dataclass
class _Page:
    """The links of a page, or why there are none. None: it was not asked for yet."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    links: tuple[Link, ...] | FetchError | None = None


class NotListedError(MissingError):
    """An index, or another place, does not list a file; the message is the address of the list."""


@dataclass(frozen=True, kw_only=True)
class PipSettings(Web):
    """The access to package indexes as pip is configured, and their addresses."""

    index_urls: tuple[str, ...]
    find_links: tuple[str, ...] = ()
    stop: threading.Event = field(default_factory=threading.Event)
    verify: str | bool = field(default_factory=environment_bundle)
    retries: int = 5


def pip_settings() -> PipSettings:
    """Read pip's configuration: its files, its PIP_* variables, its default index.

    Raises FetchError if this Python has no pip, or pip rejects its configuration.
    """
    named = (os.environ.get(name) for name in ("PIP_CONFIG_FILE", *BUNDLES))
    check_access_files(*PIP_FILES, *named)
    try:
        # -I: the user's folder may have a random.py.
        listing = call([sys.executable, "-I", "-m", "pip", "--no-input", "config", "list"])
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
    # Loaded here, where it is known to be there: only pip knows its own default.
    from pip._internal.models.index import PyPI

    chosen = options.get("index-url") or str(PyPI.simple_url)
    indexes = [chosen, *options.get("extra-index-url", "").split()]
    if options.get("no-index", "").lower() in ("1", "true", "yes", "on", "y", "t"):
        indexes = []
    check_access_files(options.get("cert"), options.get("client-cert"))
    return PipSettings(
        index_urls=tuple(valid_url(url, "pip's index-url") for url in dict.fromkeys(indexes)),
        find_links=tuple(map(_find_links, options.get("find-links", "").split())),
        trusted_hosts=tuple(options.get("trusted-host", "").split()),
        verify=options.get("cert") or environment_bundle(),
        client_cert=options.get("client-cert") or None,
        proxy=options.get("proxy") or None,
        timeout=float(options.get("timeout") or options.get("default-timeout") or 15),
        retries=int(options.get("retries") or 5),
    )


def _find_links(text: str) -> str:
    """Return a URL, or the absolute path of a file or folder: others run in other folders."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text):
        return valid_url(text, "pip's find-links")
    return str(expanded(text).absolute())


def indexes_of(stop: threading.Event, settings: PipSettings) -> list[Index]:
    """Return the indexes, then the find-links, of pip's configuration."""
    web = replace(settings, stop=stop)
    return [
        *(Index(web.for_place(), url) for url in web.index_urls),
        *(Index(web.for_place(), place, flat=True) for place in web.find_links),
    ]


def _links(web: Web, address: str, flat: bool) -> Iterator[Link]:
    scheme = urlsplit(address).scheme
    if scheme not in ("http", "https"):
        path = Path(url2pathname(urlsplit(address).path) if scheme == "file" else address)
        path = path.expanduser().absolute()
        if path.is_dir() and (flat or not (path / "index.html").is_file()):
            for file in sorted(path.iterdir()):
                yield Link(file.name, file.as_uri(), None)
            return
        address = (path / "index.html" if path.is_dir() else path).as_uri()
    elif not _may_be_trusted(web, address):
        raise FetchError(
            f"{public_url(address)}: an index without https is not authenticated",
            fix="use its https address, or name its host in pip's trusted-host",
        )
    body, kind, last_url = get_document(web, address, ACCEPT)
    links = _json_links if "json" in kind else _html_links
    yield from links(body, with_user(last_url, address))


def _may_be_trusted(web: Web, url: str) -> bool:
    parts = urlsplit(url)
    if parts.scheme == "https" or web.trusts(url) or parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


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
        with_user(url, base),
        digest if re.fullmatch("[0-9a-f]{64}", digest) else None,
    )


def _json_links(body: bytes, base: str) -> Iterator[Link]:
    try:
        for file in records.parse_json(body)["files"]:
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
