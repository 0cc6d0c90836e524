"""conda-lock.yml: the format of conda-lock, version 1, which conda-lock, pixi and others read.

`custom_metadata` is the format's place for what a tool adds: the version that made the lock, the
form of the lock (FORM), and the hash of the specs that it was made for.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from stacks.core import yamlfile
from stacks.core.errors import UsageError
from stacks.core.models import FILE, ChannelName, FileName, Line, Md5, Name, Sha256, Version
from stacks.sources.pins import LockedPackage

NAME = "conda-lock.yml"
PLATFORM = "linux-64"
# Raised when a lock's files change so that an earlier version would misread them.
FORM = 2
# Its last parts are the package's subdir and the name of a file in the cache.
URL = rf"^(https?|file)://[!-~]*/(linux-64|noarch)/{FILE}$"
_PackageName = Annotated[str, Field(pattern=r"^[a-z0-9_][a-z0-9_.-]*$")]


def render(
    packages: Sequence[LockedPackage],
    channel: str,
    *,
    made_by: str,
    specs: str,
    files: Mapping[str, bytes],
) -> str:
    """Return the text of a conda-lock.yml; UsageError if `read` would refuse it.

    The values may come from another channel's index. files: the others that its hash covers.
    """
    content_hash: dict[str, str] = {}
    content: dict[str, Any] = {
        "version": 1,
        "metadata": {
            "content_hash": content_hash,
            "channels": [{"url": channel, "used_env_vars": []}],
            "platforms": [PLATFORM],
            "sources": ["environment.yml"],
            "custom_metadata": {"made_by": made_by, "form": str(FORM), "specs": specs},
        },
        "package": [
            {
                "name": package.name,
                "version": package.version,
                "manager": "conda",
                "platform": PLATFORM,
                "dependencies": dict(sorted(map(_name_and_rest, package.depends))),
                "url": package.url,
                "hash": {"md5": package.md5, "sha256": package.sha256},
                "build": package.build,
                "category": "main",
                "optional": False,
            }
            for package in packages
        ],
    }
    content_hash[PLATFORM] = content_hash_of(content, files)
    text = yaml.safe_dump(content, sort_keys=False, width=1000)
    parsed, positions = yamlfile.parse(Path(NAME), text.encode())
    yamlfile.validate(parsed, positions, CondaLock)
    return text


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
    manager: Literal["conda"]
    platform: Literal["linux-64"]
    build: FileName
    url: str = Field(pattern=URL)
    hash: _Hashes
    dependencies: dict[_PackageName, Line]


class _Channel(_Part):
    url: ChannelName


class _Custom(_Part):
    made_by: Version
    form: str = Field(pattern=r"^[1-9][0-9]{0,5}$")
    specs: str


class _Metadata(_Part):
    content_hash: dict[Name, str]
    channels: tuple[_Channel, ...] = Field(min_length=1)
    custom_metadata: _Custom


class CondaLock(_Part):
    """The content of a conda-lock.yml."""

    version: Literal[1]
    metadata: _Metadata
    package: tuple[_Package, ...]

    def packages(self, sizes: Mapping[str, int]) -> tuple[LockedPackage, ...]:
        """Return its packages; sizes: the number of bytes of each, by file name."""
        return tuple(_package(entry, sizes) for entry in self.package)


def read(path: Path, files: Mapping[str, bytes]) -> CondaLock:
    """Return the content of a conda-lock.yml.

    files: the others that its hash covers. Raises UsageError if it is not valid, or the hash is of
    other content.
    """
    content, positions = yamlfile.parse(path, yamlfile.read_bytes(path))
    _refuse_newer(path, content)
    file = yamlfile.validate(content, positions, CondaLock)
    if file.metadata.content_hash.get(PLATFORM) != content_hash_of(content, files):
        raise UsageError(f"other content than the hash in {NAME} is of")
    return file


def content_hash_of(content: Mapping[str, Any], files: Mapping[str, bytes]) -> str:
    """Return a lock's content hash: of conda-lock.yml without it, and of the other files."""
    metadata = {key: value for key, value in content["metadata"].items() if key != "content_hash"}
    hashed = json.dumps({**content, "metadata": metadata}, sort_keys=True)
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    text = json.dumps({NAME: hashed, "files": digests}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _package(entry: _Package, sizes: Mapping[str, int]) -> LockedPackage:
    name = entry.url.rsplit("/", 1)[-1]
    expected = f"{entry.name}-{entry.version}-{entry.build}"
    if name not in (f"{expected}.conda", f"{expected}.tar.bz2"):
        raise UsageError(f"{entry.url} is not the address of {expected}")
    return LockedPackage(
        name=entry.name,
        version=entry.version,
        build=entry.build,
        url=entry.url,
        sha256=entry.hash.sha256,
        md5=entry.hash.md5,
        size=sizes[name],
        depends=tuple(f"{name} {rest}".strip() for name, rest in entry.dependencies.items()),
    )


class NewerError(UsageError):
    """A lock of a later version of theano-stacks, which this one cannot read."""


def _refuse_newer(path: Path, content: Any) -> None:
    """Raise NewerError for a lock of a newer form, whatever else it has."""
    try:
        custom = content["metadata"]["custom_metadata"]
        form, made_by = int(custom["form"]), custom["made_by"]
    except (KeyError, TypeError, ValueError):
        return
    if form > FORM:
        raise NewerError(
            f"{path}: the lock has a newer form than this version of theano-stacks reads",
            expected=f"at most form {FORM}",
            found=f"form {form}, made by theano-stacks {made_by}",
            fix="use that version of theano-stacks, or a newer one",
        )
