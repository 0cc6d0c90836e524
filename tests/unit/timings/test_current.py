"""The locks of the checkout, as results name them."""

from __future__ import annotations

from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.timings.current import current_locks
from stacks.variants.load import all_variants, load_variant


def test_each_variant_has_its_lock(workspace: Workspace) -> None:
    locks = current_locks(workspace)
    assert set(locks) == {variant.id for variant in all_variants(workspace)}
    variant = load_variant(workspace, "pip-openblas", "theano-1.0.5")
    locked = lock.read(workspace, variant)
    # As candidates.subject writes it.
    assert locks[variant.id].sha256 == locked.sha256
    assert locks[variant.id].size > sum(locked.sizes.values()) > 10**6
