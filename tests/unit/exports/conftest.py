"""Committed variants with a summary that is hard to quote."""

from __future__ import annotations

from pathlib import Path

from stacks.exports.subject import Subject
from stacks.image.metadata import config_of
from stacks.locks import lock
from stacks.locks.lock import lock_folder
from stacks.variants.load import load_variant
from unit.helpers.checkout import CHECKOUT

# What a language that quotes wrongly would run, end or fill in.
NASTY = 'it\'s "quoted" $HOME `id` $(id) [exit] : # - \\ {x} {{ y }} %s %(name)s é'
PLACE = "/checkout/build/prefixes/theano-1.0.5/mkl"


def subject(name: str, framework: str = "theano-1.0.5") -> Subject:
    """Return a committed variant with a nasty summary, whose environment is in /checkout."""
    variant = load_variant(CHECKOUT, name, framework)
    folder = lock_folder(CHECKOUT, variant)
    return Subject(
        variant=variant.model_copy(update={"summary": NASTY}),
        lock=lock.read(CHECKOUT, variant),
        texts={path.name: path.read_text() for path in folder.iterdir()},
        image=config_of(CHECKOUT, variant),
        environment=Path("/checkout/build/prefixes") / variant.id,
        homepage="https://example.org/100%",
    )
