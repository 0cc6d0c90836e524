"""What every form is written from: a variant, its lock, and the names of its image and folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stacks.channel.locked_package import URL
from stacks.channel.offers import Channel, read_channel
from stacks.core.workspace import Workspace
from stacks.environments.folders import folder_of
from stacks.image.metadata import ImageConfig, config_of
from stacks.locks import conda_lock, lock
from stacks.locks.lock import Lock, lock_folder
from stacks.locks.texts import name_in_lock
from stacks.variants.variant import Variant

REQUIREMENTS = "requirements.txt"


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A variant to export.

    texts: its committed lock files by name. environment: the folder that `build` makes. homepage:
    the framework's.
    """

    variant: Variant
    lock: Lock
    texts: Mapping[str, str]
    image: ImageConfig
    environment: Path
    homepage: str

    @property
    def name(self) -> str:
        """A name for files and other tools' environments, `theano-1.0.5-openblas`."""
        return f"{self.variant.framework.name}-{self.flavour}"

    @property
    def flavour(self) -> str:
        """The variant's name in its lock, as a part of file names."""
        return re.sub(r"[^A-Za-z0-9._-]+", "-", name_in_lock(self.variant))

    @property
    def summary(self) -> str:
        """One line for people."""
        return f"{self.variant.summary}, on {self.variant.framework.summary}"

    @property
    def builds_sources(self) -> bool:
        """Whether pip builds a source archive for it."""
        return any(not pin.filename.endswith(".whl") for pin in self.lock.requirements)

    def with_channel(self, command: str) -> str:
        """Return how to run a command of a conda client, which needs the channel to be served."""
        if self.lock.channel != URL:
            return command
        option = f" {self.variant.option}" if self.variant.file else ""
        return f"while `./invoke serve{option}` runs: {command}"


@dataclass(frozen=True)
class Export:
    """A variant in one form.

    files: the texts by path; a form of several files, or of one in a folder, is a folder. usage:
    one line for people, in which {to} stands for the path that was written, {name} for its name.
    """

    files: Mapping[str, str]
    usage: str

    @property
    def is_folder(self) -> bool:
        """Whether the form needs a folder."""
        return len(self.files) > 1 or "/" in next(iter(self.files))


def subject_of(workspace: Workspace, variant: Variant) -> Subject:
    """Return what a variant's forms are written from.

    Raises UsageError if it is not locked, StaleError if its lock is stale.
    """
    channel = read_channel(workspace)
    locked = lock.current(workspace, variant)
    folder = lock_folder(workspace, variant)
    names = (conda_lock.NAME, REQUIREMENTS)
    return Subject(
        variant=variant,
        lock=locked,
        texts={n: (folder / n).read_text("utf-8") for n in names if (folder / n).is_file()},
        image=config_of(workspace, variant),
        environment=folder_of(workspace, variant),
        homepage=_homepage(channel, variant),
    )


def _homepage(channel: Channel, variant: Variant) -> str:
    framework = variant.framework
    name = framework.name.removesuffix(f"-{framework.version}")
    recipes = (offer.recipe for offer in channel.offers.values())
    return next((r.about.homepage or "" for r in recipes if r.package.name == name), "")
