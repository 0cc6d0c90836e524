"""Which sources the recipes and the images' base ask for, and pinning them anew."""

from __future__ import annotations

from stacks.channel.recipe import SOURCES_LOCK, Archives, Debs, IndexFile, read_recipes
from stacks.core.errors import StaleError
from stacks.image import base
from stacks.sources.debian_archive import DebWanted
from stacks.sources.pins import Pins, read_pins, write_pins
from stacks.sources.repin import FileWanted, difference, repin


def wanted() -> tuple[set[DebWanted], set[FileWanted]]:
    """Return every deb and file that the recipes name, and the debs of the images' base."""
    sources = [source for recipe in read_recipes().values() for source in recipe.source]
    debs = {DebWanted(s.suite, n) for s in sources if isinstance(s, Debs) for n in s.debs}
    debs |= {DebWanted(s.suite, n) for s in sources if isinstance(s, Archives) for n in s.names}
    debs |= {DebWanted(base.read().suite, name) for name in base.read().debs}
    files = {FileWanted(s.project, s.version, s.file) for s in sources if isinstance(s, IndexFile)}
    return debs, files


def pin(*, check: bool = False) -> None:
    """Pin what the archives offer now and print what changes.

    With `check` nothing is written, and StaleError is raised where the pins would change.
    """
    debs, files = wanted()
    old = read_pins(SOURCES_LOCK) if SOURCES_LOCK.exists() else Pins(debs=(), files=())
    new = repin(debs, files)
    changes = difference(old, new)
    print("\n".join(changes) if changes else "every pin is what the archives offer now")
    if check and changes:
        raise StaleError(
            f"{len(changes)} pins are not what the archives offer now",
            fix="run `./invoke pin`, then `./invoke lock`, look at both differences, commit them",
        )
    if changes and not check:
        write_pins(SOURCES_LOCK, new)
        print(f"written: {SOURCES_LOCK.name}; run `./invoke lock` next")
