"""What every form is written from: a variant, its lock, and the names of its image and folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stacks.channel.locked_package import URL
from stacks.channel.offers import Channel, read_channel
from stacks.channel.settings_files import rc_text
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.folders import folder_of
from stacks.image.config import ImageConfig, config_of
from stacks.locks import conda_lock, lock
from stacks.locks.lock import Lock, lock_folder
from stacks.locks.texts import name_in_lock
from stacks.variants.variant import Variant


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
    names = (conda_lock.NAME, "requirements.txt")
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


def not_available(subject: Subject, form: str, reason: str, other: str) -> UsageError:
    """Return the error for a form that a variant does not have; `other` is one that it has."""
    return UsageError(
        f"{subject.variant.id} is not available as {form}",
        found=reason,
        fix=f"--as {other} has all of it",
    )


def require_conda_only(subject: Subject, form: str, reason: str) -> None:
    """Raise UsageError if pip installs a part of the variant; the reason names the form's limit."""
    names = [pin.name for pin in subject.lock.requirements]
    if names:
        raise not_available(
            subject, form, f"pip installs {', '.join(names)}, and {reason}", "environment"
        )


def require_pip_only(subject: Subject, form: str) -> None:
    """Raise UsageError if the variant is not only what pip installs into its Python."""
    variant = subject.variant
    base = {*variant.framework.base, *variant.channels_own_specs}
    names = sorted(
        {re.split("[ =]", spec)[0] for spec in variant.conda_specs() if spec not in base}
    )
    if names:
        reason = f"{', '.join(names)}: conda packages, which the Python package index lacks"
        raise not_available(subject, form, reason, "environment")
    if variables := variant.environment():
        reason = f"{', '.join(variables)}: variables, which pip cannot set"
        raise not_available(subject, form, reason, "environment")


def settings_of(subject: Subject) -> tuple[str, str]:
    """Return name and text of the framework's configuration file.

    For forms without conda packages, which have the settings in them: with these versions of NumPy,
    Theano does not even import without them.
    """
    variant = subject.variant
    return f"{variant.framework.module}rc", rc_text(variant.theano_flags())


def by_pip(subject: Subject, command: str) -> str:
    """Return a command that runs pip, so that it builds source archives with the locked tools.

    Else pip fetches others, which have no hash. Its variable means the opposite of its name.
    """
    pins = subject.lock.requirements
    if all(pin.filename.endswith(".whl") for pin in pins):
        return command
    return f"PIP_NO_BUILD_ISOLATION=0 {command}"


def with_channel(subject: Subject, command: str) -> str:
    """Return how to run a command of a conda client, which needs the channel to be served."""
    if subject.lock.channel != URL:
        return command
    own = f" {subject.variant.option}" if subject.variant.file else ""
    return f"while `./invoke serve{own}` runs: {command}"


def require_image(subject: Subject, form: str) -> str:
    """Return the name of the variant's image; UsageError if no image can have it."""
    if subject.variant.channel:
        reason = "an image's name cannot have the `@` of another channel's packages"
        raise not_available(subject, form, reason, "environment")
    return subject.image.names[0]
