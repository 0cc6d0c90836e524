"""Pure Python packages: out of source archives, and of the project's modules."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.dist_info import normalised
from stacks.channel.staging.stage import Edit, Stage
from stacks.channel.staging.tree import check_links, copy_tree
from stacks.channel.staging.wheel import write_script
from stacks.core.models import FileName, RelativePath
from stacks.sources.unpack import unpack_tar

SITE = "site-packages"


class Sdist(Stage):
    """A pure Python package out of a source archive."""

    stage: Literal["sdist"]
    package: RelativePath
    distribution: FileName
    scripts: dict[FileName, RelativePath] = Field(default_factory=dict)

    def write(self, context: BuildContext) -> Path:
        """Copy the package, its metadata and its scripts."""
        [sdist] = context.files
        unpack_tar(sdist, context.scratch)
        source = context.scratch / f"{self.distribution}-{context.recipe.package.version}"
        site = context.root / SITE
        copy_tree(source / self.package, site / self.package)
        check_links(context.root)
        dist_info = site / f"{self.distribution}.dist-info"
        dist_info.mkdir()
        shutil.copyfile(source / "PKG-INFO", dist_info / "METADATA")
        for name, script in self.scripts.items():
            body = (source / script).read_text(encoding="utf-8").partition("\n")[2]
            write_script(context.root / "python-scripts" / name, body)
        context.licences.mkdir(parents=True)
        for name in ("LICENSE.txt", "DESCRIPTION.txt"):
            if (source / name).is_file():
                shutil.copyfile(source / name, context.licences / name)
        return normalised(dist_info, sdist.name)


class EditedSdist(Sdist):
    """A pure Python package out of a source archive, with corrections of later releases."""

    stage: Literal["edited-sdist"]  # type: ignore[assignment]
    edits: tuple[Edit, ...] = Field(min_length=1, strict=False)

    def write(self, context: BuildContext) -> Path:
        """Copy the package, then edit its files; IntegrityError if one differs."""
        dist_info = super().write(context)
        for edit in self.edits:
            edit.apply(dist_info.parent)
        return dist_info


class PythonModules(Stage):
    """Python modules of the project, for every Python."""

    takes_src: ClassVar = True

    stage: Literal["python-modules"]

    def write(self, context: BuildContext) -> Path:
        """Copy the modules to site-packages, with metadata."""
        recipe, dist_info = context.recipe, context.root / SITE / "own.dist-info"
        dist_info.mkdir(parents=True)
        for path in self.code(context):
            shutil.copyfile(path, context.root / SITE / path.name)
        (dist_info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {recipe.package.name}\n"
            f"Version: {recipe.package.version}\n"
            f"Summary: {recipe.about.summary}\nLicense: {recipe.about.license}\n"
        )
        return normalised(dist_info, recipe.package.name)
