"""The content of an image, laid out as folders: each becomes a layer over the base."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stacks.disk import BUILD
from stacks.errors import StacksError
from stacks.variant import Variant

IMAGES = BUILD / "images"


@dataclass(frozen=True)
class Layer:
    """A part of an image: all that lies in the folder is laid over the image's root."""

    name: str
    folder: Path


def place_of(variant: Variant) -> Path:
    """Return where a variant's image is laid out."""
    return IMAGES / variant.framework.name / variant.name


def lay_out(variant: Variant, target: Path | None = None) -> tuple[Layer, ...]:
    """Return the layers over the base, lowest first, made from the lock where they are not ready.

    `target` is the folder for them instead of their place below build/. Modes are normalised and
    every file and folder has the same time; owners are left to who makes the image (0:0).
    """
    raise StacksError("images are not there yet")
