"""The mirrors of Debian's archive to ask, in order, and where each address comes from.

An address comes from the user, from the apt of a Debian machine, or from a wheel of the package
index whose settings name Debian's archive: a build needs an index anyway. All is read as data:
nothing is imported or run.
"""

from __future__ import annotations

import os
import re
import threading
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from stacks.core.console import display_path
from stacks.core.errors import FetchError, IntegrityError, StacksError
from stacks.core.user_config import config_path, read_config
from stacks.sources.mirrors import VARIABLE as VENDOR
from stacks.sources.mirrors import public_url, valid_url
from stacks.sources.web import StoppedError

# A wheel of the package index whose settings have the addresses; it is read, never installed.
WHEEL_NAME, WHEEL_VERSION = "debops", "3.3.2"
WHEEL_FILE = f"{WHEEL_NAME}-{WHEEL_VERSION}-py2.py3-none-any.whl"
WHEEL_ORIGIN = f"the wheel {WHEEL_NAME} {WHEEL_VERSION}"
# Bytes; debops 3.3.2 has 31 kB of settings.
LARGEST_SETTINGS = 1 << 20
APT = Path("/etc/apt")
DISTRIBUTION = Path("/etc/os-release")
_POCKET = r"(-updates|-backports(-sloppy)?|-proposed-updates)?"
_SUITES = re.compile(f"(buster|bullseye|bookworm|trixie|forky|duke|sid){_POCKET}")
# Other archives have suites of these names too, some below a folder `debian`: an address says
# nothing on another distribution, whose own apt takes none of Debian's.
_CLASSES = re.compile(f"(unstable|testing|(old)*stable){_POCKET}")
_COMMENT = re.compile(r"(^|\s)#.*")
_ROOT = re.compile(r"https?://[^\s/\"'{}$]+(/[^\s/\"'{}$]+)*/debian/?")

# Returns the path of that wheel, which is fetched if it is missing.
Wheel = Callable[[], Path]


@dataclass(frozen=True)
class Mirror:
    """The root of a mirror, and where its address comes from, for people."""

    url: str
    origin: str

    @property
    def label(self) -> str:
        """The address without its password, and its origin."""
        return f"{public_url(self.url)} ({self.origin})"


def current_mirrors(wheel: Wheel) -> tuple[Mirror, ...]:
    """Return the mirrors to ask first.

    DEBIAN_MIRROR, else the user's configuration, else apt's on Debian, else the pinned wheel's;
    then DEBIAN_SNAPSHOT_MIRROR. Raises FetchError if there is none, UsageError for an invalid
    configuration.
    """
    choices = (_of_variable("DEBIAN_MIRROR"), _of_config(), _of_apt())
    chosen = next(filter(None, map(list, choices)), [])
    mirrors = [*chosen, *_of_variable("DEBIAN_SNAPSHOT_MIRROR")]
    if not mirrors:
        try:
            mirrors = [Mirror(url, WHEEL_ORIGIN) for url in wheel_addresses(wheel())[0]]
        except StoppedError:
            raise
        except StacksError as error:
            raise _none_known(error) from error
    if not mirrors:
        raise _none_known(None)
    return _unique(mirrors)


def ended_mirrors(wheel: Wheel) -> tuple[Mirror, ...]:
    """Return the archives of ended releases, which have what the mirrors dropped.

    Raises StacksError if the wheel that names them is not available.
    """
    return _unique([Mirror(url, WHEEL_ORIGIN) for url in wheel_addresses(wheel())[1]])


class EndedReleases:
    """The archives of ended releases, looked up once when first asked for; thread-safe."""

    def __init__(self, wheel: Wheel) -> None:
        self._wheel = wheel
        self._lock = threading.Lock()
        self._found: tuple[tuple[str, ...], str | None] | None = None

    def _look_up(self) -> tuple[tuple[str, ...], str | None]:
        with self._lock:
            if self._found is None:
                try:
                    mirrors = ended_mirrors(self._wheel)
                    self._found = tuple(mirror.url for mirror in mirrors), None
                except StoppedError:
                    raise
                except StacksError as error:
                    # The mirrors' own failure is the one to raise; this one is named in it.
                    self._found = (), error.what
            return self._found

    def roots(self) -> tuple[str, ...]:
        """Return their roots; none if no address is known."""
        return self._look_up()[0]

    def origins(self) -> tuple[str, ...]:
        """Return their addresses for messages, or why they are not known."""
        roots, reason = self._look_up()
        if reason:
            return (f"the archive of ended releases (its address is not known: {reason})",)
        return tuple(map(public_url, roots))


def _of_variable(name: str) -> Iterator[Mirror]:
    if url := os.environ.get(name):
        yield Mirror(valid_url(url, name), name)


def _of_config() -> Iterator[Mirror]:
    if url := read_config().debian_mirror:
        place = display_path(config_path())
        yield Mirror(valid_url(url, f"debian_mirror in {place}"), place)


def _of_apt() -> Iterator[Mirror]:
    """Give the roots that the host's apt takes Debian's main component from."""
    files = [APT / "sources.list", *sorted((APT / "sources.list.d").glob("*.list"))]
    entries = [entry for file in files for entry in _one_line_entries(_text(file))]
    for file in sorted((APT / "sources.list.d").glob("*.sources")):
        entries += _deb822_entries(_text(file))
    for uri, suites, components in entries:
        if (
            re.match(r"https?://|file:", uri)
            and not uri.rstrip("/").endswith(("/ubuntu", "-ports", "-security"))
            and any(_is_debians(uri, suite) for suite in suites)
            and "main" in components
        ):
            yield Mirror(valid_url(uri, "apt's sources"), "apt's sources")


def _is_debians(uri: str, suite: str) -> bool:
    on_debian = re.search(r"(?m)^ID=debian$", _text(DISTRIBUTION))
    is_named = uri.startswith("file:") or (uri.rstrip("/").endswith("/debian") and on_debian)
    return bool(_SUITES.fullmatch(suite) or (is_named and _CLASSES.fullmatch(suite)))


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


def wheel_addresses(wheel: Path) -> tuple[list[str], list[str]]:
    """Return the roots of maintained suites and of ended ones in the settings of debops' apt role.

    Raises IntegrityError if they are not where debops 3.3.2 has them.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            [name] = [n for n in archive.namelist() if n.endswith("/roles/apt/defaults/main.yml")]
            with archive.open(name) as file:
                text = file.read(LARGEST_SETTINGS + 1)
        if len(text) > LARGEST_SETTINGS:
            raise ValueError(f"more than {LARGEST_SETTINGS} bytes")
        settings: Any = yaml.safe_load(text)
        current = [settings["apt__distribution_repository_map"]["Debian"]]
        ended = [
            source["uri"]
            for source in settings["apt__debian_sources"]
            if source["name"] == "debian-release"
            and "in apt__debian_archived_releases" in source.get("state", "")
            and "uri" in source
        ]
        return _roots(current), _roots(ended)
    except (zipfile.BadZipFile, yaml.YAMLError, LookupError, TypeError, ValueError) as error:
        raise IntegrityError(
            f"{wheel.name}: its addresses of Debian's archive cannot be read",
            expected="the settings of the apt role of debops",
            found=str(error),
            fix="./invoke configure --debian-mirror <the address of a mirror>",
        ) from error


def _roots(urls: Iterable[str]) -> list[str]:
    """Return the URLs that are roots of Debian's archive."""
    return [url for url in urls if _ROOT.fullmatch(url) and _can_be_parsed(url)]


def _can_be_parsed(url: str) -> bool:
    try:
        return bool(valid_url(url, ""))
    except FetchError:
        return False


def _unique(mirrors: Iterable[Mirror]) -> tuple[Mirror, ...]:
    roots: dict[str, Mirror] = {}
    for mirror in mirrors:
        url = mirror.url.rstrip("/")
        roots.setdefault(url, Mirror(url, mirror.origin))
    return tuple(roots.values())


def _none_known(error: StacksError | None) -> FetchError:
    carried = os.environ.get(VENDOR)
    again = f"    write {carried} again, with this variant: ./invoke vendor\n" if carried else ""
    network = "    check the network, https_proxy and http_proxy\n" if error else ""
    return FetchError(
        "no mirror of Debian's archive is known",
        expected="one of: DEBIAN_MIRROR, your configuration, apt's sources on Debian, "
        + WHEEL_ORIGIN,
        found=f"none; {error.what}" if error else "none",
        fix=f"do one of these:\n{network}{again}"
        "    export DEBIAN_MIRROR=<the address of any mirror of Debian's archive>\n"
        "    ./invoke configure --debian-mirror <the same address>, which keeps it\n"
        f"    let pip reach a package index that has {WHEEL_NAME} {WHEEL_VERSION}",
    )
