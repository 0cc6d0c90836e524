"""The mirrors of Debian's archive to ask, in order, and where each address comes from."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stacks.core.console import display_path
from stacks.core.errors import FetchError, StacksError
from stacks.core.user_config import config_path, read_config
from stacks.sources import known_addresses
from stacks.sources.known_addresses import Addresses, wheel_addresses
from stacks.sources.mirrors import public_url, valid_url
from stacks.sources.vendored import VARIABLE as VENDOR
from stacks.sources.web import StoppedError

# A wheel of the package index whose settings have the addresses; it is read, never installed.
WHEEL_NAME, WHEEL_VERSION = "debops", "3.3.2"
WHEEL_FILE = f"{WHEEL_NAME}-{WHEEL_VERSION}-py2.py3-none-any.whl"
WHEEL_ORIGIN = f"the wheel {WHEEL_NAME} {WHEEL_VERSION}"

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

    DEBIAN_MIRROR, else the user's configuration, else what the machine's own tools know, else the
    pinned wheel's; then DEBIAN_SNAPSHOT_MIRROR. Raises FetchError if there is none, UsageError for
    an invalid configuration.
    """
    snapshot = [*_of_variable("DEBIAN_SNAPSHOT_MIRROR")]
    mirrors = [*(next(filter(None, map(tuple, _choices())), ())), *snapshot]
    if not mirrors:
        try:
            mirrors = [Mirror(url, WHEEL_ORIGIN) for url in wheel_addresses(wheel()).current]
        except StoppedError:
            raise
        except StacksError as error:
            raise _none_known(error) from error
    if not mirrors:
        raise _none_known(None)
    return _unique(mirrors)


def ended_mirrors(wheel: Wheel) -> tuple[Mirror, ...]:
    """Return the archives of ended releases, which have what the mirrors dropped.

    Raises StacksError if no address is known.
    """
    mirrors = [Mirror(url, "debootstrap") for url in known_addresses.debootstrap().ended]
    if not mirrors:
        mirrors = [Mirror(url, WHEEL_ORIGIN) for url in wheel_addresses(wheel()).ended]
    return _unique(mirrors)


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


def _choices() -> Iterator[Iterator[Mirror]]:
    """Give the sources of addresses, the first ones first; only one that has any is used."""
    yield _of_variable("DEBIAN_MIRROR")
    yield _of_config()
    yield _of_machine("apt's sources", known_addresses.apt_sources)
    yield _of_machine("python-apt's template", known_addresses.apt_template)
    yield _of_machine("debootstrap", known_addresses.debootstrap)


def _of_variable(name: str) -> Iterator[Mirror]:
    if url := os.environ.get(name):
        yield Mirror(valid_url(url, name), name)


def _of_config() -> Iterator[Mirror]:
    if url := read_config().debian_mirror:
        place = display_path(config_path())
        yield Mirror(valid_url(url, f"debian_mirror in {place}"), place)


def _of_machine(origin: str, read: Callable[[], Addresses]) -> Iterator[Mirror]:
    for url in read().current:
        yield Mirror(url, origin)


def _unique(mirrors: list[Mirror]) -> tuple[Mirror, ...]:
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
        expected="one of: DEBIAN_MIRROR, your configuration, the machine's own tools, "
        + WHEEL_ORIGIN,
        found=f"none; {error.what}" if error else "none",
        fix=f"do one of these:\n{network}{again}"
        "    export DEBIAN_MIRROR=<the address of any mirror of Debian's archive>\n"
        "    ./invoke configure --debian-mirror <the same address>, which keeps it\n"
        "    install debootstrap, which most distributions have: it names a mirror\n"
        f"    let pip reach a package index that has {WHEEL_NAME} {WHEEL_VERSION}",
    )
