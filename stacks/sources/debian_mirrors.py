"""The mirrors of Debian's archive to ask, in order, and where each address comes from.

An address comes from the user, from the apt of a Debian machine, or from a wheel of the package
index whose settings name Debian's archive: a build needs an index anyway. The wheel is read as
data: nothing of it is imported or run.
"""

import os
import platform
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from stacks.core.errors import FetchError, IntegrityError, StacksError
from stacks.core.process import CommandError, call
from stacks.sources.mirrors import VARIABLE as VENDOR
from stacks.sources.mirrors import public_url, valid_url

# A wheel of the package index whose settings have the addresses; it is read, never installed.
WHEEL_NAME, WHEEL_VERSION = "debops", "3.3.2"
WHEEL_FILE = f"{WHEEL_NAME}-{WHEEL_VERSION}-py2.py3-none-any.whl"
WHEEL_ORIGIN = f"the wheel {WHEEL_NAME} {WHEEL_VERSION}"
# Bytes; debops 3.3.2 has 31 kB of settings.
LARGEST_SETTINGS = 1 << 20
_POCKET = r"(-updates|-backports(-sloppy)?|-proposed-updates)?"
_SUITES = re.compile(f"(buster|bullseye|bookworm|trixie|forky|duke|sid){_POCKET}")
# Other archives have suites of these names, too.
_CLASSES = re.compile(f"(unstable|testing|(old)*stable){_POCKET}")
_ROOT = re.compile(r"https?://[A-Za-z0-9.:-]+(/[^\s/\"'{}$?#]+)*/debian/?")

# Returns the path of that wheel, which is fetched if it is missing.
Wheel = Callable[[], Path]


def current_mirrors(wheel: Wheel) -> tuple[str, ...]:
    """Return the roots of the mirrors to ask first.

    DEBIAN_MIRROR, else apt's on Debian, else the pinned wheel's; then DEBIAN_SNAPSHOT_MIRROR.
    Raises FetchError if there is none.
    """
    chosen = [*_of_variable("DEBIAN_MIRROR")] or [*_of_apt()]
    mirrors = [*chosen, *_of_variable("DEBIAN_SNAPSHOT_MIRROR")]
    if not mirrors:
        try:
            mirrors = wheel_addresses(wheel())[0]
        except StacksError as error:
            raise _none_known(error) from error
    if not mirrors:
        raise _none_known(None)
    return _unique(mirrors)


def ended_mirrors(wheel: Wheel) -> tuple[str, ...]:
    """Return the roots of the archives of ended releases, which have what the mirrors dropped.

    Raises StacksError if the wheel that names them is not available.
    """
    return _unique(wheel_addresses(wheel())[1])


def ended_releases(wheel: Wheel) -> tuple[tuple[str, ...], str]:
    """Return the roots of the archives of ended releases, and their addresses for messages.

    There are no roots if the wheel is not available: then it is a message that says why.
    """
    try:
        roots = ended_mirrors(wheel)
    except StacksError as error:
        # The mirrors' own failure is the one to raise; this one is named in it.
        why = f"its address is not known: {error.what}"
        return (), f"the archive of ended releases ({why})"
    return roots, ", ".join(map(public_url, roots))


def _of_variable(name: str) -> Iterator[str]:
    if url := os.environ.get(name):
        yield valid_url(url, name)


def _of_apt() -> Iterator[str]:
    """Give the roots that the apt of a Debian machine takes Debian's main component from."""
    words = ["--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]
    try:
        if platform.freedesktop_os_release()["ID"] != "debian":
            return
        lines = call(["apt-get", "indextargets", *words], limit=30).splitlines()
    except (OSError, CommandError):
        return
    for uri, suite, component in (line.split(" ") for line in lines if line.count(" ") == 2):
        root = uri.rstrip("/")
        is_named = uri.startswith("file:") or root.endswith("/debian")
        if (
            re.match(r"https?://|file:", uri)
            and not root.endswith(("/ubuntu", "-ports", "-security"))
            and (_SUITES.fullmatch(suite) or (is_named and _CLASSES.fullmatch(suite)))
            and component == "main"
        ):
            yield valid_url(uri, "apt's sources")


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
        return [*filter(_ROOT.fullmatch, current)], [*filter(_ROOT.fullmatch, ended)]
    except (zipfile.BadZipFile, yaml.YAMLError, LookupError, TypeError, ValueError) as error:
        raise IntegrityError(
            f"{wheel.name}: its addresses of Debian's archive cannot be read",
            expected="the settings of the apt role of debops",
            found=str(error),
            fix="export DEBIAN_MIRROR=<the address of a mirror>",
        ) from error


def _unique(roots: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(root.rstrip("/") for root in roots))


def _none_known(error: StacksError | None) -> FetchError:
    carried = os.environ.get(VENDOR)
    again = f"    write {carried} again, with this variant: ./invoke vendor\n" if carried else ""
    network = "    check the network, https_proxy and http_proxy\n" if error else ""
    return FetchError(
        "no mirror of Debian's archive is known",
        expected=f"one of: DEBIAN_MIRROR, apt's sources on Debian, {WHEEL_ORIGIN}",
        found=f"none; {error.what}" if error else "none",
        fix=f"do one of these:\n{network}{again}"
        "    export DEBIAN_MIRROR=<the address of any mirror of Debian's archive>\n"
        f"    let pip reach a package index that has {WHEEL_NAME} {WHEEL_VERSION}",
    )
