from __future__ import annotations

from pathlib import Path

import pytest

from stacks.channel.staging.replace_text import replace_once
from stacks.core.errors import IntegrityError


def test_a_text_that_occurs_once_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "sysconfig.py"
    path.write_text("a posix_local b")
    replace_once(path, "posix_local", "posix_prefix", "fix it")
    assert path.read_text() == "a posix_prefix b"


@pytest.mark.parametrize("text", ["", "other\n", "posix_local\nposix_local\n"])
def test_a_text_that_does_not_occur_once_is_an_error(text: str, tmp_path: Path) -> None:
    path = tmp_path / "sysconfig.py"
    path.write_text(text)
    with pytest.raises(IntegrityError) as caught:
        replace_once(path, "posix_local", "posix_prefix", "look")
    assert caught.value.found == f"{text.count('posix_local')} times"
    assert path.read_text() == text
