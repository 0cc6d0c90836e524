"""What is exported, and the forms by which other tools install the locked packages.

Sources: conda's and pixi's references of their manifests, PEP 751, and EasyBuild's manual, "Writing
easyconfig files".
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from stacks.channel.candidates import read_channel
from stacks.channel.settings_files import rc_text
from stacks.core.workspace import Workspace
from stacks.environments.folders import folder_of
from stacks.image.metadata import ImageConfig, config_of
from stacks.locks import conda_lock, lock
from stacks.locks.lock import ENVIRONMENT, PYLOCK, REQUIREMENTS, Lock, lock_folder
from stacks.locks.texts import name_in_lock
from stacks.sources.pins import URL, IndexPin, canonical
from stacks.variants.variant import Variant

# A path for each file of pylock.toml, because no file of ours names the host of a package index.
FILES = "files"
THEN_ELSEWHERE = "\nthen, in another terminal: "
# A conda installer that EasyBuild has an easyconfig for.
INSTALLER = ("Miniforge3", "24.11.3-0")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A variant to export.

    folder: of its committed lock files. environment: the folder that `build` makes. homepage: the
    framework's.
    """

    variant: Variant
    lock: Lock
    folder: Path
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

    def by_conda(self, command: str) -> str:
        """Return how to run a command of a conda client, a line for each terminal.

        One serves the channel that the client needs. pip then builds with the locked tools; else it
        fetches others, which have no hash. Its variable means the opposite of its name.
        """
        option = f" {self.variant.option}" if self.variant.file else ""
        serving = f"./invoke serve{option}{THEN_ELSEWHERE}" if self.lock.channel == URL else ""
        return f"{serving}{'PIP_NO_BUILD_ISOLATION=0 ' if self.builds_sources else ''}{command}"


@dataclass(frozen=True)
class Export:
    """A variant in one form.

    files: the texts by path; a form of several files, or of one in a folder, is a folder. usage:
    the command that uses it, and lines on what follows; {to} stands for the path that was written,
    {name} for its name, {folder} for its folder.
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
    name = variant.framework.project
    recipes = [candidate.recipe for candidate in read_channel(workspace).candidates.values()]
    pages = (recipe.about.homepage for recipe in recipes if recipe.package.name == name)
    return Subject(
        variant=variant,
        lock=lock.current(workspace, variant),
        folder=lock_folder(workspace, variant),
        image=config_of(workspace, variant),
        environment=folder_of(workspace, variant),
        homepage=next(pages, None) or "",
    )


def as_conda_lock(subject: Subject) -> Export:
    """Return the committed conda-lock.yml."""
    usage = subject.by_conda(f"conda-lock install -n {subject.name} {{to}}")
    text = (subject.folder / conda_lock.NAME).read_text("utf-8")
    return Export({conda_lock.NAME: text}, usage)


def as_environment(subject: Subject) -> Export:
    """Return environment.yml for conda, mamba and micromamba: packages by version and build."""
    dependencies: list[Any] = [f"{p.name}={p.version}={p.build}" for p in subject.lock.packages]
    if subject.lock.requirements:
        pins = subject.lock.requirements
        lines = [f"{pin.name}=={pin.version} --hash=sha256:{pin.sha256}" for pin in pins]
        dependencies.append({"pip": lines})
    content = {
        "name": subject.name,
        "channels": [subject.lock.channel, "nodefaults"],
        "dependencies": dependencies,
    }
    text = f"# {subject.summary}.\n" + yaml.safe_dump(
        content, sort_keys=False, allow_unicode=True, width=1 << 20
    )
    return Export({ENVIRONMENT: text}, subject.by_conda("conda env create -f {to}"))


def as_easyconfig(subject: Subject) -> Export:
    """Return an easyconfig for EasyBuild and its source, an environment.yml."""
    framework = subject.variant.framework
    text = as_environment(subject).files[ENVIRONMENT]
    # EasyBuild fills in what follows a percent sign.
    values = {
        "easyblock": "Conda",
        "name": framework.project,
        "version": framework.version,
        "versionsuffix": f"-{subject.flavour}",
        "homepage": subject.homepage.replace("%", "%%"),
        "description": subject.summary.replace("%", "%%"),
        "sources": [{"filename": ENVIRONMENT, "extract_cmd": "cp %s ."}],
        "checksums": [hashlib.sha256(text.encode()).hexdigest()],
        "builddependencies": [INSTALLER],
        "environment_file": f"%(builddir)s/{ENVIRONMENT}",
        "sanity_check_paths": {"files": ["bin/python"], "dirs": []},
        "sanity_check_commands": [f'python -c "import {framework.module}"'],
        "moduleclass": "math",
    }
    lines = [f"{key} = {value!r}" for key, value in values.items()]
    lines.insert(6, "toolchain = SYSTEM")
    file = f"{subject.name}.eb"
    files = {file: "\n".join(lines) + "\n", ENVIRONMENT: text}
    return Export(files, subject.by_conda(f"eb --robot {{to}}/{file}"))


def as_pixi(subject: Subject) -> Export:
    """Return a pixi.toml: each package by version, build and SHA-256."""
    packages = "".join(
        f"{_quoted(package.name)} = {{ version = {_quoted(f'=={package.version}')}, "
        f"build = {_quoted(package.build)}, sha256 = {_quoted(package.sha256)} }}\n"
        for package in subject.lock.packages
    )
    text = f"""\
[workspace]
name = {_quoted(subject.name)}
description = {_quoted(subject.summary)}
channels = [{_quoted(subject.lock.channel)}]
platforms = [{_quoted(conda_lock.PLATFORM)}]

[system-requirements]
libc = {_quoted(subject.variant.framework.glibc)}

[dependencies]
{packages}"""
    usage = subject.by_conda("pixi install --manifest-path {to}")
    return Export({"pixi.toml": text}, usage)


def _quoted(text: str) -> str:
    # A string of JSON is one of TOML, too; a line of ours has no control characters.
    return json.dumps(text, ensure_ascii=False)


def as_pylock(subject: Subject) -> Export:
    """Return a pylock.toml, requirements.txt, by which pip fetches its files, and the settings."""
    python = subject.variant.framework.python
    major, minor = map(int, python.split("."))
    lines = [
        'lock-version = "1.0"',
        'created-by = "theano-stacks"',
        f'requires-python = ">={python},<{major}.{minor + 1}"',
    ]
    for pin in sorted(subject.lock.requirements, key=lambda pin: canonical(pin.name)):
        lines += ["", *_pylock_package(pin)]
    name, text = _settings(subject)
    # Else both fetch what they build with, which has no hash.
    option = "--no-build-isolation " if subject.builds_sources else ""
    usage = (
        f"python{python} -m pip download --require-hashes --no-deps {option}-d {{to}}/{FILES} "
        f"-r {{to}}/{REQUIREMENTS} && uv pip install {option}-r {{to}}/{PYLOCK} && "
        f"{subject.variant.framework.rc_variable}={{to}}/{name} python{python} train.py"
    )
    files = {PYLOCK: "\n".join(lines) + "\n", name: text}
    requirements = (subject.folder / REQUIREMENTS).read_text("utf-8")
    return Export({**files, REQUIREMENTS: requirements}, usage)


def _pylock_package(pin: IndexPin) -> list[str]:
    is_wheel = pin.filename.endswith(".whl")
    return [
        "[[packages]]",
        f"name = {json.dumps(canonical(pin.name))}",
        f"version = {json.dumps(pin.version)}",
        "[[packages.wheels]]" if is_wheel else "[packages.sdist]",
        f"path = {json.dumps(f'{FILES}/{pin.filename}')}",
        f"size = {pin.size}",
        f"hashes = {{ sha256 = {json.dumps(pin.sha256)} }}",
    ]


def as_requirements(subject: Subject) -> Export:
    """Return the committed requirements.txt with hashes, and the framework's settings."""
    framework, (name, text) = subject.variant.framework, _settings(subject)
    python = f"python{framework.python}"
    usage = (
        f"{python} -m pip install --require-hashes --no-deps --no-build-isolation "
        f"-r {{to}}/{REQUIREMENTS} && {framework.rc_variable}={{to}}/{name} {python} train.py"
    )
    requirements = (subject.folder / REQUIREMENTS).read_text("utf-8")
    return Export({REQUIREMENTS: requirements, name: text}, usage)


def _settings(subject: Subject) -> tuple[str, str]:
    """Return name and text of the framework's configuration file.

    For forms without conda packages, which have the settings in them: with these versions of NumPy,
    Theano does not even import without them.
    """
    variant = subject.variant
    return f"{variant.framework.module}rc", rc_text(variant.theano_flags())
