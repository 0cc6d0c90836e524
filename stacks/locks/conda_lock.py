"""conda-lock.yml: conda-lock's own format, version 1, written with its own models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from stacks.core import yamlfile
from stacks.core.errors import UsageError
from stacks.core.models import FILE, ChannelName, FileName, Line, Md5, Name, Sha256, Version
from stacks.sources.conda_lock_tools import prepare_conda_lock

NAME = "conda-lock.yml"
PLATFORM = "linux-64"
# Its last part is the name of a file in the cache.
URL = rf"^(https?|file)://[!-~]*/{FILE}$"
_PackageName = Annotated[str, Field(pattern=r"^[a-z0-9_][a-z0-9_.-]*$")]


@dataclass(frozen=True)
class LockedPackage:
    """One conda package of a lock; `depends` are the match specs of what it needs."""

    name: str
    version: str
    build: str
    url: str
    sha256: str
    md5: str
    depends: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        """The last part of the URL."""
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Content:
    """The content of a conda-lock.yml: `seal` is its content hash, `sealed` the rest."""

    packages: tuple[LockedPackage, ...]
    channel: str
    sealed: str
    seal: str


def write(
    path: Path, packages: Iterable[LockedPackage], channel: str, seal: Callable[[str], str]
) -> None:
    """Write a conda-lock.yml; `seal` returns the content hash for the rest of its content."""
    prepare_conda_lock()
    from conda_lock.lockfile import write_conda_lock_file
    from conda_lock.lockfile.v1.models import HashModel, LockMeta
    from conda_lock.lockfile.v2prelim.models import LockedDependency, Lockfile
    from conda_lock.models.channel import Channel

    locked = [
        LockedDependency(
            name=package.name,
            version=package.version,
            manager="conda",
            platform=PLATFORM,
            dependencies=dict(_name_and_rest(spec) for spec in package.depends),
            url=package.url,
            hash=HashModel(md5=package.md5, sha256=package.sha256),
            build=package.build,
            categories={"main"},
        )
        for package in packages
    ]

    def put(content_hash: str) -> None:
        meta = LockMeta(
            content_hash={PLATFORM: content_hash},
            channels=[Channel.from_string(channel)],
            platforms=[PLATFORM],
            sources=["environment.yml"],
        )
        write_conda_lock_file(
            Lockfile(package=locked, metadata=meta),
            path,
            metadata_choices=None,
            include_help_text=False,
        )

    put("")
    content, positions = yamlfile.parse(path, path.read_bytes())
    # The values may come from another channel's index: what `read` would refuse is not written.
    yamlfile.validate(content, positions, _File)
    put(seal(_split(content)[0]))


def _name_and_rest(spec: str) -> tuple[str, str]:
    name, _, rest = spec.partition(" ")
    return name, rest


class _Part(BaseModel):
    """The keys of the format that are used here; there are more."""

    model_config = ConfigDict(frozen=True, strict=True)


class _Hashes(_Part):
    sha256: Sha256
    md5: Md5


class _Package(_Part):
    name: _PackageName
    version: Version
    build: FileName
    url: str = Field(pattern=URL)
    hash: _Hashes
    dependencies: dict[_PackageName, Line]


class _Channel(_Part):
    url: ChannelName


class _Metadata(_Part):
    content_hash: dict[Name, str]
    channels: tuple[_Channel, ...] = Field(min_length=1)


class _File(_Part):
    metadata: _Metadata
    package: tuple[_Package, ...]


def read(path: Path, fix: str) -> Content:
    """Return the content of a conda-lock.yml; UsageError, with the fix, if it is not valid."""
    try:
        content, positions = yamlfile.parse(path, yamlfile.read_bytes(path))
        file = yamlfile.validate(content, positions, _File)
        sealed, seal = _split(content)
    except UsageError as error:
        raise UsageError(f"{path}: not a valid lock", found=str(error), fix=fix) from error
    except KeyError as error:
        found = f"no content hash for {error}"
        raise UsageError(f"{path}: not a valid lock", found=found, fix=fix) from error
    packages = tuple(
        LockedPackage(
            name=entry.name,
            version=entry.version,
            build=entry.build,
            url=entry.url,
            sha256=entry.hash.sha256,
            md5=entry.hash.md5,
            depends=tuple(f"{name} {rest}".strip() for name, rest in entry.dependencies.items()),
        )
        for entry in file.package
    )
    return Content(packages, file.metadata.channels[0].url, sealed, seal)


def _split(content: Any) -> tuple[str, str]:
    """Return a parsed conda-lock.yml without its content hash, as canonical JSON, and the hash."""
    metadata = dict(content["metadata"])
    seal = str(metadata.pop("content_hash")[PLATFORM])
    return json.dumps({**content, "metadata": metadata}, sort_keys=True), seal
