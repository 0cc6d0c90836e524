from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from stacks.core.models import Strict


class Model(Strict):
    number: int


@pytest.mark.parametrize("content", [{"number": "1"}, {"number": 1, "more": 2}, {}])
def test_no_conversion_and_no_unknown_key(content: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Model.model_validate(content)


def test_a_model_is_frozen() -> None:
    with pytest.raises(ValidationError):
        Model(number=1).number = 2
