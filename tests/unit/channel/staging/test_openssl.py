"""OpenSSL from source, on stand-ins of its package, of make, patch and Perl."""

from __future__ import annotations

from pathlib import Path

from stacks.channel.stages import CPythonSource
from stacks.channel.staging import openssl
from unit.channel.staging.test_cpython_source import python_context
from unit.helpers.staging import tree


def test_the_libraries_the_headers_and_the_licences(tmp_path: Path) -> None:
    context = python_context(tmp_path)
    debs = tmp_path / "debs"
    (debs / "usr/bin").mkdir(parents=True)
    for name, text in {"perl": 'exec sh "$@"', "make": "exit 0", "patch": "exit 0"}.items():
        (debs / "usr/bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (debs / "usr/bin" / name).chmod(0o755)
    scratch = tmp_path / "scratch of it"
    scratch.mkdir()
    extra = context.recipe.extra
    assert isinstance(extra, CPythonSource)
    made = openssl.configure_openssl(context, scratch, debs, extra.openssl)
    assert tree(made.target) == ["include/openssl/ssl.h"]
    made.compile_libraries()
    assert tree(made.target) == [
        "include/openssl/ssl.h",
        "lib/libcrypto.so",
        "lib/libcrypto.so.3",
        "lib/libssl.so",
        "lib/libssl.so.3",
    ]
    assert str((made.target / "lib/libssl.so").readlink()) == "libssl.so.3"
    assert (context.licences / "openssl.LICENSE").read_text() == "Apache-2.0"
    words = (scratch / "openssl-build/configure.log").read_text().split()
    assert words[:2] == ["linux-x86_64", "no-x"]
    assert words[-1].split(":")[0] == f"{debs}/usr/lib/x86_64-linux-gnu/perl-base"
