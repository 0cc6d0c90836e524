from __future__ import annotations

from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from stacks.channel.stages import Extra, Wheel
from stacks.channel.staging import STAGES


def test_each_stage_has_options_and_a_function() -> None:
    union, _ = get_args(Extra)
    names = [get_args(model.model_fields["stage"].annotation)[0] for model in get_args(union)]
    assert sorted(names) == sorted(STAGES)


def test_the_stage_decides_the_options() -> None:
    adapter: TypeAdapter[object] = TypeAdapter(Extra)
    assert adapter.validate_python({"stage": "wheel"}) == Wheel(stage="wheel")
    with pytest.raises(ValidationError, match="libraries"):
        adapter.validate_python({"stage": "wheel", "libraries": []})
