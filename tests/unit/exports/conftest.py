from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.exports.subject import Subject
from stacks.image.config import config_of
from stacks.locks import lock
from stacks.locks.lock import lock_folder
from stacks.sources.pins import Pins, read_pins
from stacks.variants.load import load_variant

# What a language that quotes wrongly would run, end or fill in.
NASTY = 'it\'s "quoted" $HOME `id` $(id) [exit] : # - \\ {x} {{ y }} %s %(name)s é'

MakeSubject = Callable[..., Subject]


WORKSPACE = Workspace(REPOSITORY, Path("/cache"))


@pytest.fixture(scope="session")
def pins() -> Pins:
    return read_pins(WORKSPACE.sources_lock)


@pytest.fixture
def subject(pins: Pins) -> MakeSubject:
    """Give the function that returns a committed variant's subject, with a summary if one is given.

    Its environment is in /checkout.
    """

    def make(name: str, framework: str = "theano-1.0.5", summary: str = "") -> Subject:
        variant = load_variant(WORKSPACE, name, framework)
        folder = lock_folder(WORKSPACE, variant)
        return Subject(
            variant=variant.model_copy(update={"summary": summary} if summary else {}),
            lock=lock.read(WORKSPACE, variant),
            texts={path.name: path.read_text() for path in folder.iterdir()},
            image=config_of(WORKSPACE, variant),
            environment=Path("/checkout/build/prefixes") / variant.id,
            homepage="https://example.org/100%",
        )

    return make
