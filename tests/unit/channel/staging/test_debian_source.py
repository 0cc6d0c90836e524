"""Debian's source packages: archives, patches, and what a result must not name."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.channel.stages import SourcePackage
from stacks.channel.staging import debian_source
from stacks.channel.staging.build_context import BuildContext
from stacks.core.errors import IntegrityError, UsageError
from unit.channel.staging.test_cpython_source import SERIES, python_context


def test_patches_keep_the_order_of_the_series() -> None:
    chosen = debian_source.chosen
    assert chosen(SERIES, ["CVE-1*", "CVE-2*"]) == ["CVE-2.patch", "CVE-1.patch"]
    with pytest.raises(UsageError, match=r"no patch off\* in the source package"):
        chosen(SERIES, ["CVE-*", "off*"])


def test_a_source_package_without_its_archive_is_an_error(tmp_path: Path) -> None:
    context = python_context(tmp_path)
    sources = {n: p for n, p in context.sources.items() if not n.startswith("p_3.13.5.orig")}
    context = BuildContext(context.recipe, sources, context.root, context.scratch, context.tools)
    package = SourcePackage(package="p", patches=(), configure=())
    with pytest.raises(IntegrityError, match=r"package p has 0 files \*\.orig\.tar\.\*"):
        debian_source.unpack_source(context, package, tmp_path / "x/source", lambda words: "")


def test_a_file_that_names_the_folder_of_the_build_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0/tmp/build/x")
    with pytest.raises(IntegrityError, match="a names the folder in which it was compiled"):
        debian_source.check_no_folder(tmp_path, ["/tmp/build"], "correct it")
    debian_source.check_no_folder(tmp_path, ["/tmp/other"], "correct it")
