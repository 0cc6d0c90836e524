"""The forms by which other tools install the locked packages.

Sources: conda's and pixi's references of their manifests, PEP 751, and EasyBuild's manual, "Writing
easyconfig files".
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import yaml

from stacks.channel.settings_files import rc_text
from stacks.exports.subject import REQUIREMENTS, Export, Subject
from stacks.locks import conda_lock
from stacks.sources.pins import IndexPin, canonical

ENVIRONMENT, PYLOCK = "environment.yml", "pylock.toml"
# A path for each file of pylock.toml, because no file of ours names the host of a package index.
FILES = "files"
# A conda installer that EasyBuild has an easyconfig for.
INSTALLER = ("Miniforge3", "24.11.3-0")


def as_conda_lock(subject: Subject) -> Export:
    """Return the committed conda-lock.yml."""
    usage = subject.with_channel(f"conda-lock install -n {subject.name} {{to}}")
    return Export({conda_lock.NAME: subject.texts[conda_lock.NAME]}, usage)


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
    return Export({ENVIRONMENT: text}, _conda_with_pip(subject, "conda env create -f {to}"))


def _conda_with_pip(subject: Subject, command: str) -> str:
    """Return a command by which conda runs pip, so that pip builds with the locked tools.

    Else pip fetches others, which have no hash. Its variable means the opposite of its name.
    """
    variable = "PIP_NO_BUILD_ISOLATION=0 " if subject.builds_sources else ""
    return subject.with_channel(f"{variable}{command}")


def as_easyconfig(subject: Subject) -> Export:
    """Return an easyconfig for EasyBuild and its source, an environment.yml."""
    framework = subject.variant.framework
    text = as_environment(subject).files[ENVIRONMENT]
    # EasyBuild fills in what follows a percent sign.
    values = {
        "easyblock": "Conda",
        "name": framework.name.removesuffix(f"-{framework.version}"),
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
    return Export(files, _conda_with_pip(subject, f"eb --robot {{to}}/{file}"))


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
    usage = subject.with_channel("pixi install --manifest-path {to}")
    return Export({"pixi.toml": text}, usage)


def _quoted(text: str) -> str:
    # A string of JSON is one of TOML, too; a line of ours has no control characters.
    return json.dumps(text, ensure_ascii=False)


def as_pylock(subject: Subject) -> Export:
    """Return a pylock.toml, with the files in a folder beside it, and the framework's settings."""
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
    # Else uv fetches what it builds with, which has no hash.
    where = ", where setuptools and wheel are" if subject.builds_sources else ""
    option = "--no-build-isolation " if subject.builds_sources else ""
    usage = (
        f"with the files of `--as requirements` in {{to}}/{FILES} (pip download -d){where}: "
        f"uv pip install {option}-r {{to}}/{PYLOCK} && "
        f"{subject.variant.framework.rc_variable}={{to}}/{name} python train.py"
    )
    return Export({PYLOCK: "\n".join(lines) + "\n", name: text}, usage)


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
    return Export({REQUIREMENTS: subject.texts[REQUIREMENTS], name: text}, usage)


def _settings(subject: Subject) -> tuple[str, str]:
    """Return name and text of the framework's configuration file.

    For forms without conda packages, which have the settings in them: with these versions of NumPy,
    Theano does not even import without them.
    """
    variant = subject.variant
    return f"{variant.framework.module}rc", rc_text(variant.theano_flags())
