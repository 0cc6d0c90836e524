"""What pip installs finds the Python beside it; tests/integration/test_pip.py reads its records."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.channel.staging.python_packages import SHEBANG
from stacks.core.errors import IntegrityError
from stacks.environments.make import pip_install

SHORT = "#!{place}/bin/python\nimport a\na.main()\n"
LONG = "#!/bin/sh\n'''exec' \"{place}/bin/python\" \"$0\" \"$@\"\n' '''\nimport a\na.main()\n"


@pytest.mark.parametrize(
    ("name", "text", "is_changed"),
    [
        ("bin/a", SHORT, True),
        ("bin/a", LONG, True),
        ("bin/a", "#!/usr/bin/python\n", False),
        ("lib/a.py", "HOME = '{place}'\n", None),
        ("bin/a", "#!{place}/bin/python\nHOME = '{place}'\n", None),
        ("bin/a", "HOME = '{place}'\n", None),
        ("bin/a", "\x7fELF {place}", None),
    ],
)
def test_a_file_that_has_the_path_of_its_prefix(
    name: str, text: str, is_changed: bool | None, tmp_path: Path
) -> None:
    """A script runs anywhere; None: another file is refused."""
    path = tmp_path / name
    path.parent.mkdir()
    path.write_text(text.format(place=tmp_path))
    if is_changed is None:
        with pytest.raises(IntegrityError, match=f"pip installed {name} with the path"):
            pip_install._make_relocatable(tmp_path, [name], [tmp_path])
        return
    changed = pip_install._make_relocatable(tmp_path, [name], [tmp_path])
    assert changed == ({name} if is_changed else set())
    if is_changed:
        assert path.read_text() == f"{SHEBANG}import a\na.main()\n"
        assert path.stat().st_mode & 0o777 == 0o755
