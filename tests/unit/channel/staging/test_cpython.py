from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stacks.channel.staging import cpython
from stacks.core.errors import IntegrityError


def test_pythons_build_time_variables_name_the_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "build_time_vars = {'CC': 'x86_64-linux-gnu-gcc -pthread', 'prefix': '/usr',\n"
        " 'LIBDIR': '/usr/lib', 'LIBPL': '/usr/lib/python3.9/config-3.9-x86_64-linux-gnu',\n"
        " 'CFLAGS': '-g -ffile-prefix-map=/build/python-1=. -O2', 'N': 1,\n"
        " 'CONFIG_ARGS': '--prefix=/usr --x', 'OTHER': '/opt/usr/lib /usr/local'}\n"
    )
    monkeypatch.setattr(sys, "base_prefix", "/a b")
    variables: dict[str, dict[str, object]] = {}
    exec(cpython._relocated(text), variables)
    assert variables["build_time_vars"] == {
        "CC": "gcc -pthread",
        "prefix": "/a b",
        "LIBDIR": "/a b/lib",
        "LIBPL": "/a b/lib/python3.9/config-3.9-x86_64-linux-gnu",
        "CFLAGS": "-g -O2",
        "N": 1,
        "CONFIG_ARGS": "--prefix=/a b --x",
        "OTHER": "/opt/usr/lib /usr/local",
    }


def test_a_frozen_name_that_does_not_occur_once_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "python3.11"
    path.write_bytes(b"dist-packages\0 dist-packages\0")
    with pytest.raises(IntegrityError, match=r"(?s)python3\.11 of the Python deb.*2 times"):
        cpython._patch(path, *cpython.FROZEN["3.11"])
    path.write_bytes(b"a dist-packages\0")
    cpython._patch(path, *cpython.FROZEN["3.11"])
    assert path.read_bytes() == b"a site-packages\0"
