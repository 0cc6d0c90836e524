from __future__ import annotations

import pytest

from stacks.environments.make import part


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("site-packages/six.py", "lib/python2.7/site-packages/six.py"),
        ("python-scripts/pip", "bin/pip"),
        ("share/licenses/six/LICENSE", "share/licenses/six/LICENSE"),
        ("lib/site-packages/x", "lib/site-packages/x"),
        ("site-packages-of-mine/x", "site-packages-of-mine/x"),
    ],
)
def test_where_the_files_of_a_noarch_package_go(name: str, place: str) -> None:
    assert part._noarch_path(name, "2.7") == place
