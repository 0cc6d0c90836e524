from __future__ import annotations

import pytest

from stacks.environments.make.user_packages import version_of


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("aocl-libm-linux-gcc-4.2.0.tar.gz", "4.2.0"),
        ("aocl-linux-aocc-5.0.0_1.tar.gz", "5.0.0"),
        ("amdlibm-3-0-2.tar.gz", "3.0.2"),
        ("library.tar.gz", "0"),
    ],
)
def test_the_version_is_in_the_archives_name(name: str, version: str) -> None:
    assert version_of(name) == version
