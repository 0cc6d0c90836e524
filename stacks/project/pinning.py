"""Pin the sources that the recipes and the images' base need; the mirror that a user configures.

A mirror is tried before it is saved.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Set

from stacks.channel.build_context import Debs, IndexFile, Sources
from stacks.channel.recipe import read_recipes
from stacks.core.console import display_path, next_step
from stacks.core.errors import FetchError, IntegrityError, StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.use import kernel
from stacks.image import base
from stacks.locks import uv
from stacks.sources.debian_archive import BEGIN, DebRequest
from stacks.sources.debian_mirrors import (
    WHEEL_FILE,
    WHEEL_NAME,
    WHEEL_VERSION,
    Mirror,
    Wheel,
    config_path,
    configure_mirror,
    configured_mirror,
    current_mirrors,
    ended_mirrors,
)
from stacks.sources.download import get_document
from stacks.sources.mirrors import public_url, valid_url
from stacks.sources.pins import Pins, read_pins, write_pins
from stacks.sources.repin import FileRequest, difference, repin
from stacks.sources.retrieve import address_wheel
from stacks.sources.web import MissingError, Web, environment_web


def required_sources(workspace: Workspace) -> tuple[set[DebRequest], set[FileRequest]]:
    """Return every deb and file that the recipes, the images and notebooks need.

    With them are the source packages that are published or compiled, and the wheel that has the
    addresses of Debian's archive.
    """
    recipes = read_recipes(workspace.recipes).values()
    sources = [s for recipe in recipes for s in recipe.source]
    content = base.read_file(workspace)
    debs = {DebRequest(s.suite, n) for s in sources if isinstance(s, Debs) for n in s.debs}
    names = (*content.debs, content.static)
    debs |= {DebRequest(content.suite, name) for name in names}
    whole = [s for s in sources if isinstance(s, Sources)]
    whole += [s for recipe in recipes for s in recipe.about.sources]
    debs |= {DebRequest(s.suite, name, is_source=True) for s in whole for name in s.sources}
    files = {FileRequest(s.project, s.version, s.file) for s in sources if isinstance(s, IndexFile)}
    files |= {
        FileRequest(*uv.release_of(name), name)
        for names in kernel.kernel_files(workspace).values()
        for name in names
    }
    files.add(FileRequest(uv.NAME, uv.VERSION, uv.FILE))
    files.add(FileRequest(WHEEL_NAME, WHEEL_VERSION, WHEEL_FILE))
    return debs, files


def pin(workspace: Workspace, *, check: bool = False, expired: Set[str] = frozenset()) -> None:
    """Pin what the archives offer now and print the changes.

    check: write nothing, and raise StaleError if the pins would change. expired: suites whose
    archive has ended, so that its Valid-Until is past; UsageError if no recipe takes one of them.
    """
    debs, files = required_sources(workspace)
    names = sorted({deb.suite for deb in debs})
    if unknown := sorted(expired - set(names)):
        raise UsageError(
            f"--expired: no recipe takes debs of {', '.join(unknown)}",
            expected=f"some of: {', '.join(names)}",
        )
    path = workspace.sources_lock
    old = read_pins(path) if path.exists() else Pins(debs=(), files=())
    new = repin(workspace, debs, files, expired=expired)
    changes = difference(old, new)
    print("\n".join(changes) if changes else "every pin is current")
    if check and changes:
        raise StaleError(
            f"{len(changes)} pins are stale: the archives now offer other versions",
            fix="./invoke pin, ./invoke lock, then check both differences and commit them",
        )
    if changes and not check:
        write_pins(path, new)
        print(f"written: {path.name}")
        next_step("./invoke lock")


def show_configuration(workspace: Workspace) -> None:
    """Print the configuration, and the mirrors in use with where each address comes from."""
    path = config_path()
    print(f"{display_path(path)}{'' if path.exists() else ' (not there: nothing is configured)'}")
    if mirror := configured_mirror():
        print(f"  debian_mirror: {public_url(mirror)}")
    print("Debian's archive")
    for label, find in (("mirror", current_mirrors), ("ended releases", ended_mirrors)):
        for line in _lines(find, address_wheel(workspace)):
            print(f"  {label}: {line}")


def _lines(find: Callable[[Wheel], tuple[Mirror, ...]], wheel: Wheel) -> list[str]:
    try:
        return [mirror.label for mirror in find(wheel)] or ["not known"]
    except FetchError as error:
        return [f"not known: {error}".replace("\n", "\n  ")]


def set_debian_mirror(workspace: Workspace, url: str) -> None:
    """Try a mirror, then save it in the user's configuration.

    Raises UsageError for what is no address, FetchError or IntegrityError for what is no mirror.
    """
    root = valid_url(url.strip().rstrip("/"), "--debian-mirror")
    if not re.match(r"https?://|file:///", root):
        raise UsageError(
            "--debian-mirror is not an address",
            expected="one that begins with http://, https:// or file:///",
            found=public_url(root),
        )
    suites = sorted({pin.suite for pin in read_pins(workspace.sources_lock).debs})
    available = _suites_at(environment_web(threading.Event()), root, suites)
    lacking = [suite for suite in suites if suite not in available]
    print(f"{public_url(root)} has {', '.join(available)}")
    if lacking:
        print(
            f"it lacks {', '.join(lacking)}, which will be asked of the archive of ended releases"
        )
    configure_mirror(root)
    print(f"written: {display_path(config_path())}")
    if os.environ.get("DEBIAN_MIRROR"):
        print("note: the variable DEBIAN_MIRROR is set and goes before it")


def remove_debian_mirror() -> None:
    """Remove the mirror from the user's configuration."""
    configure_mirror(None)
    print(f"{display_path(config_path())}: no mirror of Debian's archive is configured now")


def _suites_at(web: Web, root: str, suites: list[str]) -> list[str]:
    """Return the suites that a mirror has.

    Raises FetchError if it has none of them, IntegrityError if it serves something else.
    """
    available = []
    for suite in suites:
        url = f"{root}/dists/{suite}/InRelease"
        try:
            content, _, _ = get_document(web, url, "*/*")
        except MissingError:
            continue
        names = re.findall(rb"^(?:Suite|Codename): *(\S+)\r?$", content, re.MULTILINE)
        if BEGIN not in content or suite.encode() not in names:
            raise IntegrityError(
                f"{public_url(url)} is not the signed list of {suite}",
                expected=f"an InRelease file of Debian's {suite}",
                found="a page of another kind",
                fix="is there a login page before this network, or a proxy?",
            )
        available.append(suite)
    if not available:
        raise FetchError(
            f"{public_url(root)} is not a mirror of Debian's archive: nothing is saved",
            expected=f"one of these suites in its folder dists: {', '.join(suites)}",
            found="none",
            fix="give the address of the folder that has `dists` and `pool`; it often ends in "
            "/debian",
        )
    return available
