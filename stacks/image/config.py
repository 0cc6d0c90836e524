"""An image's names and how it starts: the source of its Dockerfile and of its OCI config."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from stacks.core.reproducible import TIMESTAMP
from stacks.core.workspace import Workspace
from stacks.image import base
from stacks.variants.load import default_framework
from stacks.variants.variant import Variant

# The variant's environment in an image.
PREFIX = PurePosixPath("/opt/theano")
ENTRY = PurePosixPath("/usr/local/bin/theano-stacks")
HOME = PurePosixPath("/home/theano")
WORK = PurePosixPath("/work")
USER, UID, GID = "theano", 10001, 0


@dataclass(frozen=True, kw_only=True)
class ImageConfig:
    """An image's names, labels, and what an engine starts in it."""

    repository: str
    tags: tuple[str, ...]
    description: str
    environment: dict[str, str]
    labels: dict[str, str]
    user: str
    workdir: str
    entrypoint: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names with their tags, `theano-mkl:1.0.5`; the most exact one comes first."""
        return tuple(f"{self.repository}:{tag}" for tag in self.tags)


def config_of(workspace: Workspace, variant: Variant, base_name: str | None = None) -> ImageConfig:
    """Return a variant's image config; `base_name` replaces the locked base."""
    framework = variant.framework
    default = framework.name == default_framework(workspace)
    # Not the module's name: Theano-PyMC's is theano, too.
    repository = f"{framework.name.removesuffix('-' + framework.version)}-{variant.name}"
    if variant.file:
        # Its folder may have the name of a flavour, whose image it must not replace.
        repository = f"stack-{variant.name}"
    description = f"{variant.summary}, on {framework.summary}"
    return ImageConfig(
        repository=repository,
        tags=(framework.version, "latest") if default or variant.file else (framework.version,),
        description=description,
        environment={
            "PATH": f"{PREFIX}/bin:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(HOME),
            "USER": USER,
            "LANG": "C.UTF-8",
            # Theano's keys of some modules contain Python's hash of a text. With a random seed,
            # each process would compile these modules again.
            "PYTHONHASHSEED": "0",
        },
        labels={
            "org.opencontainers.image.title": repository,
            "org.opencontainers.image.description": description,
            "org.opencontainers.image.version": framework.version,
            "org.opencontainers.image.created": TIMESTAMP,
            "org.opencontainers.image.base.name": base_name or base.name(workspace),
        },
        user=f"{UID}:{GID}",
        workdir=str(WORK),
        entrypoint=(str(ENTRY),),
    )
