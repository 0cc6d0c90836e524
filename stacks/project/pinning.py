"""Which sources the recipes and the images' base ask for, and pinning them anew."""

from __future__ import annotations

from stacks.channel.recipe import Archives, Debs, IndexFile, read_recipes
from stacks.core.errors import StaleError
from stacks.core.workspace import Workspace
from stacks.image import base
from stacks.sources.debian_archive import DebWanted
from stacks.sources.pins import Pins, read_pins, write_pins
from stacks.sources.repin import FileWanted, difference, repin


def wanted(workspace: Workspace) -> tuple[set[DebWanted], set[FileWanted]]:
    """Return every deb and file that the recipes name, and the debs of the images' base."""
    sources = [
        source for recipe in read_recipes(workspace.recipes).values() for source in recipe.source
    ]
    debs = {DebWanted(s.suite, n) for s in sources if isinstance(s, Debs) for n in s.debs}
    debs |= {DebWanted(s.suite, n) for s in sources if isinstance(s, Archives) for n in s.names}
    debs |= {DebWanted(base.read().suite, name) for name in base.read().debs}
    files = {FileWanted(s.project, s.version, s.file) for s in sources if isinstance(s, IndexFile)}
    return debs, files


def pin(workspace: Workspace, *, check: bool = False) -> None:
    """Pin what the archives offer now and print what changes.

    With `check` nothing is written, and StaleError is raised where the pins would change.
    """
    debs, files = wanted(workspace)
    old = (
        read_pins(workspace.sources_lock)
        if workspace.sources_lock.exists()
        else Pins(debs=(), files=())
    )
    new = repin(workspace, debs, files)
    changes = difference(old, new)
    print("\n".join(changes) if changes else "every pin is what the archives offer now")
    if check and changes:
        raise StaleError(
            f"{len(changes)} pins are not what the archives offer now",
            fix="run `./invoke pin`, then `./invoke lock`, look at both differences, commit them",
        )
    if changes and not check:
        write_pins(workspace.sources_lock, new)
        print(f"written: {workspace.sources_lock.name}; run `./invoke lock` next")
