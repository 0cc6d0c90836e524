"""Dockerfiles, rendered from one template for each variant: docker/FRAMEWORK/FLAVOUR/Dockerfile."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2

from stacks.core.disk import REPOSITORY, write_whole
from stacks.core.errors import StaleError
from stacks.core.workspace import Workspace
from stacks.image import base
from stacks.image.config import ImageConfig, config_of
from stacks.variants.variant import Variant

FOLDER = REPOSITORY / "docker"
TEMPLATE = "Dockerfile.jinja"
# Filled in when the image is built, from the argument of the same name.
BASE = "${BASE}"


def place_of(
    workspace: Workspace,
    variant: Variant,
) -> Path:
    """Return where a variant's Dockerfile lies."""
    return workspace.docker / variant.framework.name / variant.name / "Dockerfile"


def layers_of(variant: Variant) -> tuple[str, ...]:
    """Return the names of the layers over the base, lowest first."""
    own = variant.blas or variant.packages or variant.libm == "amdlibm"
    return ("packages", *(("blas",) if own else ()), "settings")


def text_of(workspace: Workspace, variant: Variant) -> str:
    """Return the text of a variant's Dockerfile."""
    return render(
        workspace,
        variant,
        config_of(workspace, variant, BASE),
        base.name(workspace),
        layers_of(variant),
    )


def render(
    workspace: Workspace,
    variant: Variant,
    config: ImageConfig,
    base_name: str,
    layers: Sequence[str],
) -> str:
    """Return the text of the Dockerfile that makes an image of this config and these layers."""
    # Nothing of this is HTML.
    environment = jinja2.Environment(  # noqa: S701
        loader=jinja2.FileSystemLoader(workspace.docker),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template(TEMPLATE).render(
        variant=variant,
        config=config,
        glibc=variant.framework.glibc,
        base=base_name,
        layers=layers,
        environment=_pairs(config.environment),
        labels=_pairs(config.labels),
        entrypoint=json.dumps(config.entrypoint),
        command=json.dumps(config.command),
    )


def _pairs(values: Mapping[str, str]) -> list[str]:
    return [f"{name}={_quoted(value)}" for name, value in values.items()]


def _quoted(text: str) -> str:
    if text == BASE:
        return f'"{BASE}"'
    for special in ("\\", '"', "$"):
        text = text.replace(special, f"\\{special}")
    return f'"{text}"'


def write(
    workspace: Workspace,
    variants: Sequence[Variant],
) -> None:
    """Write the Dockerfile of each variant, and remove those of variants that are no more."""
    for variant in variants:
        write_whole(place_of(workspace, variant), text_of(workspace, variant))
    for path in _left_over(workspace, variants, workspace.docker):
        path.unlink()
        path.parent.rmdir()


def check(
    workspace: Workspace,
    variants: Sequence[Variant],
) -> None:
    """Raise StaleError naming each committed Dockerfile that is not what it should be."""
    found = [
        f"{_shown(path, workspace.docker)}: its variant is no more"
        for path in _left_over(workspace, variants, workspace.docker)
    ]
    for variant in variants:
        path = place_of(workspace, variant)
        if not path.is_file():
            found.append(f"{_shown(path, workspace.docker)}: missing")
            continue
        change = _first_change(path.read_text(encoding="utf-8"), text_of(workspace, variant))
        if change:
            found.append(f"{_shown(path, workspace.docker)}: {change}")
    if found:
        raise StaleError("\n".join(sorted(found)), fix="./invoke render, then commit docker/")


def _left_over(workspace: Workspace, variants: Sequence[Variant], folder: Path) -> list[Path]:
    wanted = {place_of(workspace, variant) for variant in variants}
    return sorted(path for path in folder.glob("*/*/Dockerfile") if path not in wanted)


def _shown(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder.parent))


def _first_change(found: str, wanted: str) -> str | None:
    if found == wanted:
        return None
    have, want = found.splitlines(), wanted.splitlines()
    for number, (old, new) in enumerate(zip(have, want, strict=False), start=1):
        if old != new:
            return f"line {number} is {old!r}, should be {new!r}"
    return f"{len(have)} lines, should be {len(want)}"
