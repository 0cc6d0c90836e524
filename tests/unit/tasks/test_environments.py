from __future__ import annotations

from typing import Any

import pytest
from invoke.exceptions import Exit

from stacks.core.errors import UsageError
from stacks.tasks import environments


@pytest.mark.parametrize("other", [{"repair": True}, {"to": "docker"}, {"cluster": "local"}])
def test_a_clean_build_is_of_one_environment(
    other: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Exit) as ended:
        environments.build.body(None, variant="openblas", clean=True, **other)
    assert ended.value.code == UsageError.exit_code
    assert "error: --clean makes one environment again" in capsys.readouterr().err
