"""An image without an engine: an OCI layout in a tar archive, which engines load as well."""

from __future__ import annotations

from pathlib import Path

from stacks.errors import StacksError
from stacks.variant import Variant


def write(variant: Variant, target: Path, base: Path | None = None) -> str:
    """Write a variant's image to the file `target` and return its digest (`sha256:...`).

    `base` is a tar archive of a root that takes the place of the locked one.
    """
    raise StacksError("images are not there yet")
