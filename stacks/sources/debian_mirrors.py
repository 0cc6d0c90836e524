"""The mirrors of Debian's archive to ask, in order, and where each address comes from.

An address comes from the user, who may keep one in config.yaml, from the apt of a Debian machine,
or from a wheel of the package index whose settings name Debian's archive: a build needs an index
anyway. The wheel is read as data: nothing of it is imported or run.
"""

from __future__ import annotations

import os
import platform
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from stacks.core import yamlfile
from stacks.core.console import as_typed, display_path
from stacks.core.disk import explain_disk_errors, replace_atomically
from stacks.core.errors import DiskError, FetchError, IntegrityError, StacksError
from stacks.core.models import Strict
from stacks.core.paths import user_folder
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


def ended_releases(wheel: Wheel) -> tuple[tuple[str, ...], str]:
    """Return the roots of the archives of ended releases, and their addresses for messages.

    There are no roots if the wheel is not available: then it is a message that says why.
    """
    try:
        roots = tuple(mirror.url for mirror in ended_mirrors(wheel))
    except StacksError as error:
        # The mirrors' own failure is the one to raise; this one is named in it.
        why = f"its address is not known: {error.what}"
        return (), f"the archive of ended releases ({why})"
    return roots, ", ".join(map(public_url, roots))


def _of_variable(name: str) -> Iterator[Mirror]:
    if url := os.environ.get(name):
        yield Mirror(valid_url(url, name), name)


class _Config(Strict):
    """config.yaml in the user's folder; `debian_mirror` is the root of a mirror."""

    debian_mirror: str | None = None


def config_path() -> Path:
    """Return `$XDG_CONFIG_HOME/theano-stacks/config.yaml`, by default below `~/.config`.

    DiskError if there is no home folder.
    """
    return user_folder("configuration", "XDG_CONFIG_HOME", "~/.config") / "config.yaml"


def configured_mirror() -> str | None:
    """Return the mirror in the user's configuration, if any; UsageError if that is invalid."""
    try:
        path = config_path()
    except DiskError:
        return None
    with explain_disk_errors(path):
        exists = path.exists()
    return yamlfile.load(path, _Config).debian_mirror if exists else None


def configure_mirror(url: str | None) -> None:
    """Write a mirror into the user's configuration; remove the file if it is None."""
    path = config_path()
    if url is None:
        with explain_disk_errors(path):
            path.unlink(missing_ok=True)
        return
    with replace_atomically(path) as new:
        # An address may contain a password.
        new.touch(mode=0o600)
        header = as_typed("# Written by `./invoke configure`.\n")
        new.write_text(header + yaml.safe_dump({"debian_mirror": url}))


def _of_config() -> Iterator[Mirror]:
    if url := configured_mirror():
        place = display_path(config_path())
        yield Mirror(valid_url(url, f"debian_mirror in {place}"), place)


def _of_apt() -> Iterator[Mirror]:
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
            yield Mirror(valid_url(uri, "apt's sources"), "apt's sources")


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
            fix="./invoke configure --debian-mirror <the address of a mirror>",
        ) from error


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
