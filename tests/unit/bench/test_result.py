from __future__ import annotations

import pytest

from unit.helpers.benching import BASE, MACHINE, run


def test_a_machine_is_the_same_after_a_new_kernel() -> None:
    update = {"kernel": "6.2", "microcode": "0x2", "memory": MACHINE.memory - (100 << 20)}
    assert MACHINE.same_hardware(MACHINE.model_copy(update=update))
    assert not MACHINE.same_hardware(MACHINE.model_copy(update={"model": "1 2 4"}))


def test_samples_must_be_finite_numbers() -> None:
    for samples in ((), (float("nan"),), (float("inf"),)):
        with pytest.raises(ValueError, match="samples"):
            run(BASE, 1, *samples)
