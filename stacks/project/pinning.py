"""Pin the sources that the recipes and the images' base need."""

from __future__ import annotations

from collections.abc import Set

from stacks.channel.build_context import Debs, IndexFile, Sources
from stacks.channel.recipe import read_recipes
from stacks.core.console import next_step
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.use import kernel
from stacks.image import base
from stacks.locks import uv
from stacks.sources.debian_archive import DebRequest
from stacks.sources.debian_mirrors import WHEEL_FILE, WHEEL_NAME, WHEEL_VERSION
from stacks.sources.pins import Pins, read_pins, write_pins
from stacks.sources.repin import FileRequest, difference, repin


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
