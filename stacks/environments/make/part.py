"""A conda package of an environment, and the paths of its files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from stacks.channel.archive import Archive, Entry, read_archive
from stacks.channel.package import Built
from stacks.core.errors import IntegrityError


@dataclass(frozen=True)
class Part:
    """A conda package of an environment: its address in its channel, and its archive."""

    url: str
    built: Built

    @property
    def index(self) -> dict[str, Any]:
        """The package's index.json. Raises what `archive` raises."""
        return dict(self.archive.index)

    @property
    def name(self) -> str:
        """The package's name."""
        return str(self.index["name"])

    @property
    def file_name(self) -> str:
        """The archive's name in its channel."""
        return self.url.rsplit("/", 1)[-1]

    @property
    def stem(self) -> str:
        """The archive's name without suffix, as in the name of its conda-meta record."""
        return self.file_name.removesuffix(".conda").removesuffix(".tar.bz2")

    @cached_property
    def archive(self) -> Archive:
        """What the archive installs. Raises IntegrityError if it is not safe to install."""
        return read_archive(self.built.path)

    def unpack(self, folder: Path) -> None:
        """Unpack the archive into a new folder. Raises what `archive` raises, and DiskError."""
        # What was unpacked is what is checked later: one pass over the archive gives both.
        self.__dict__["archive"] = read_archive(self.built.path, folder)

    def files(self, python: str) -> dict[str, Entry]:
        """Return each file by its path in an environment with this version of Python.

        Raises IntegrityError if two files get one path.
        """
        if self.index.get("noarch") != "python":
            return dict(self.archive.files)
        files: dict[str, Entry] = {}
        for name, entry in self.archive.files.items():
            path = _noarch_path(name, python)
            if path in files:
                raise IntegrityError(
                    f"{self.file_name} is refused: two files are installed as {path}",
                    fix="lock another build of this package, or take it from another channel",
                )
            files[path] = entry
        return files


def _noarch_path(name: str, python: str) -> str:
    for folder, target in (
        ("site-packages/", f"lib/python{python}/site-packages/"),
        ("python-scripts/", "bin/"),
    ):
        if name.startswith(folder):
            return target + name.removeprefix(folder)
    return name
