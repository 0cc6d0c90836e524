"""Dockerfiles: those in docker/, which BuildKit builds alone, and those of `build --to docker`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from stacks.core.disk import write_atomically
from stacks.core.errors import StaleError, UsageError
from stacks.core.models import IN_WORDS, LINE
from stacks.core.reproducible import EPOCH
from stacks.core.workspace import Workspace
from stacks.image import base, builder
from stacks.image.config import ImageConfig, config_of
from stacks.locks import lock
from stacks.sources import vendored
from stacks.variants.variant import Variant

ALONE, FROM_ARCHIVES = "Dockerfile.jinja", "archives.jinja"
FIX = "write it again: ./invoke vendor or publish-channel, with --images"
# The build argument of this name replaces it.
BASE = "${BASE}"


@dataclass(frozen=True)
class LockedFile:
    """A file of a lock: its path in a channel or a vendored folder of sources, and its SHA-256."""

    path: str
    sha256: str

    @property
    def folder(self) -> str:
        """The folder of the path."""
        return self.path.rpartition("/")[0]


def dockerfile_path(workspace: Workspace, variant: Variant) -> Path:
    """Return the path of a variant's Dockerfile."""
    return workspace.docker / variant.framework.name / variant.name / "Dockerfile"


def layers_of(variant: Variant) -> tuple[str, ...]:
    """Return the names of the layers over the base, lowest first."""
    own = variant.blas or variant.packages or variant.libm == "amdlibm"
    return ("packages", *(("blas",) if own else ()), "settings")


def text_of(workspace: Workspace, variant: Variant) -> str:
    """Return the text of the Dockerfile that makes a variant's image of archives of its layers."""
    config = config_of(workspace, variant, BASE)
    base_name, layers = base.name(workspace), layers_of(variant)
    return render(workspace, FROM_ARCHIVES, variant, config, base=base_name, layers=layers)


def alone_text_of(workspace: Workspace, variant: Variant) -> str:
    """Return the text of a variant's Dockerfile, which needs nothing of this project to run.

    Raises UsageError if the variant is not locked.
    """
    locked = lock.read(workspace, variant)
    return render(
        workspace,
        ALONE,
        variant,
        config_of(workspace, variant),
        layers=layers_of(variant),
        packages=[
            LockedFile("/".join(package.url.rsplit("/", 2)[1:]), package.sha256)
            for package in locked.packages
        ],
        sources=[
            LockedFile(str(vendored.vendored_path(Path(), pin).relative_to("sources")), pin.sha256)
            for pin in locked.requirements
        ],
        digests=builder.DIGESTS,
        tools=builder.FOLDER,
        static=builder.STATIC,
        static_sha256=builder.read_builder_file(workspace).sha256,
        base_file=builder.BASE,
        tools_file=builder.TOOLS,
        target=builder.TARGET,
        checkout=builder.CHECKOUT,
        libraries=builder.LIBRARIES,
        epoch=EPOCH,
        device=variant.device == "cuda",
        fix=FIX,
    )


def render(
    workspace: Workspace, template: str, variant: Variant, config: ImageConfig, **words: object
) -> str:
    """Return the text of a Dockerfile that makes an image of this config."""
    # The output is not HTML.
    environment = jinja2.Environment(  # noqa: S701
        loader=jinja2.FileSystemLoader(workspace.docker),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(
        variant=variant,
        config=config,
        glibc=variant.framework.glibc,
        environment=_pairs(config.environment),
        labels=_pairs(config.labels),
        entrypoint=json.dumps(config.entrypoint),
        command=json.dumps(config.command),
        **words,
    )


def _pairs(values: Mapping[str, str]) -> list[str]:
    return [f"{name}={_quoted(value)}" for name, value in values.items()]


def _quoted(text: str) -> str:
    if text == BASE:
        return f'"{BASE}"'
    if not re.fullmatch(LINE, text):
        raise UsageError(f"{text!r} cannot be written in a Dockerfile", expected=IN_WORDS[LINE])
    for special in ("\\", '"', "$"):
        text = text.replace(special, f"\\{special}")
    return f'"{text}"'


def write(workspace: Workspace, variants: Sequence[Variant]) -> None:
    """Write the Dockerfile of each variant, and remove those of variants that no longer exist."""
    for variant in variants:
        text = alone_text_of(workspace, variant)
        write_atomically(dockerfile_path(workspace, variant), text)
    for path in _left_over(workspace, variants):
        path.unlink()
        path.parent.rmdir()


def check(workspace: Workspace, variants: Sequence[Variant]) -> None:
    """Raise StaleError with each committed Dockerfile that is stale, and its first difference."""
    faults = dict.fromkeys(_left_over(workspace, variants), "its variant no longer exists")
    for variant in variants:
        path, text = dockerfile_path(workspace, variant), alone_text_of(workspace, variant)
        if not path.is_file():
            faults[path] = "missing"
        elif path.read_text(encoding="utf-8") != text:
            faults[path] = _first_difference(path.read_text(encoding="utf-8"), text)
    if faults:
        lines = sorted(f"{p.relative_to(workspace.root)}: {fault}" for p, fault in faults.items())
        raise StaleError("\n".join(lines), fix="./invoke render, then commit docker/")


def _left_over(workspace: Workspace, variants: Sequence[Variant]) -> list[Path]:
    """Return the Dockerfiles of variants that no longer exist."""
    current = {dockerfile_path(workspace, variant) for variant in variants}
    return sorted({*workspace.docker.glob("*/*/Dockerfile")} - current)


def _first_difference(text: str, expected: str) -> str:
    lines, expected_lines = text.splitlines(), expected.splitlines()
    for number, (old, new) in enumerate(zip(lines, expected_lines, strict=False), start=1):
        if old != new:
            return f"line {number} is {old!r}, should be {new!r}"
    return f"{len(lines)} lines, should be {len(expected_lines)}"
