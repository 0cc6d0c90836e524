from __future__ import annotations

import pytest

from stacks.bench.result import Result, Run
from unit.helpers.benching import BASE, MACHINE, beside_loops, result, run


def test_a_machine_is_the_same_after_a_new_kernel() -> None:
    update = {"kernel": "6.2", "microcode": "0x2", "memory": MACHINE.memory - (100 << 20)}
    assert MACHINE.same_hardware(MACHINE.model_copy(update=update))
    assert not MACHINE.same_hardware(MACHINE.model_copy(update={"model": "1 2 4"}))


def test_samples_must_be_finite_numbers() -> None:
    for samples in ((), (float("nan"),), (float("inf"),)):
        with pytest.raises(ValueError, match="samples"):
            run(BASE, 1, *samples)


def test_a_result_from_before_there_were_busy_loops_is_of_an_idle_machine() -> None:
    one = result([run(BASE, 1, 2.0)], BASE)
    content = one.model_dump(by_alias=True)
    del content["settings"]["busy"], content["runs"][0]["busy"]
    assert Result.model_validate(content) == one and one.settings.busy == one.runs[0].busy == 0


def test_a_number_of_busy_loops_is_stored() -> None:
    (one,) = beside_loops([run(BASE, 1, 2.0)])
    assert Run.model_validate_json(one.model_dump_json()).busy == 2
    with pytest.raises(ValueError, match="busy"):
        Run.model_validate({**one.model_dump(), "busy": -1})
