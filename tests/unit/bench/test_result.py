from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from stacks.bench.result import Peak, Result, Run, Subject
from unit.helpers.benching import BASE, MACHINE, QUIET, beside_loops, missing, result, run
from unit.helpers.publishing import SLOW


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


def test_a_variant_has_the_name_of_a_flavour_or_a_stack() -> None:
    content = BASE.model_dump()
    for name in ("pip-default", "mkl@conda-forge", "my-model", "2_x+y.z"):
        assert Subject.model_validate({**content, "flavour": name}).flavour == name
    for name in ("", "mkl\x01", "mkl ", "a/b", "..", "mkl@", "<b>", "Mkl"):
        for key in ("framework", "flavour"):
            with pytest.raises(ValueError, match=key):
                Subject.model_validate({**content, key: name})


def _numbers_and_texts(content: Any) -> list[tuple[Any, Any]]:
    """Return each place in a document that has a number or a text: its holder and its key."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content)
    found = []
    for key, value in pairs:
        if isinstance(value, (dict, list, tuple)):
            found += _numbers_and_texts(value)
        elif isinstance(value, (int, float, str)) and not isinstance(value, bool):
            found.append((content, key))
    return found


def test_no_number_is_endless_and_no_text_has_control_characters() -> None:
    series = {"profile": SLOW, "compile": 1.0, "graph": "g"}
    noisy = QUIET.model_copy(update={"frequency": 1.0})
    runs = [run(BASE, 1, 2.0, **series).model_copy(update={"noise": noisy, "start": 1})]
    peak = Peak(dtype="float64", threads=2, gflops=10.0)
    one = result(runs, BASE, missing=(missing(BASE),), remarks=("noise",))
    one = one.model_copy(
        update={
            "machine": one.machine.model_copy(update={"peak": (peak,)}),
            "settings": one.settings.model_copy(update={"quota": 1.5}),
        }
    )
    content = json.loads(one.model_dump_json(by_alias=True))
    places = _numbers_and_texts(content)
    assert len(places) > 70
    for holder, key in places:
        before = holder[key]
        for value in ["a\x01", "a\ufffe"] if isinstance(before, str) else [10**400, 1e300]:
            holder[key] = value
            with pytest.raises(ValidationError):
                Result.model_validate_json(json.dumps(content))
        holder[key] = before
    assert Result.model_validate_json(json.dumps(content)) == one
