from __future__ import annotations

from pathlib import Path

import pytest

from stacks.channel.staging import wheel_libraries
from stacks.core.errors import IntegrityError, UsageError
from unit.helpers.staging import tree, wheel_context

EXTRA = {"stage": "wheel-libraries", "libraries": ["liba.so.1"], "links": {"liba.so": "liba.so.1"}}


def test_only_the_recipes_libraries_and_the_licences_are_copied(tmp_path: Path) -> None:
    names = (
        "mkl-1.data/data/lib/liba.so.1",
        "mkl-1.data/data/lib/libb.so.1",
        "mkl-1.data/data/lib/sub/liba.so.1",
        "mkl-1.data/data/share/doc/mkl/licensing/third-party.txt",
        "mkl-1.dist-info/LICENSE.txt",
        "mkl-1.dist-info/top_level.txt",
    )
    context = wheel_context(tmp_path, EXTRA, {name: name for name in names})
    wheel_libraries.stage(context)
    assert tree(context.root) == [
        "lib/liba.so",
        "lib/liba.so.1",
        "share/licenses/a/LICENSE.txt",
        "share/licenses/a/third-party.txt",
    ]
    assert (context.root / "lib/liba.so.1").read_text() == "mkl-1.data/data/lib/liba.so.1"
    assert (context.root / "lib/liba.so").readlink() == Path("liba.so.1")


def test_the_libraries_of_a_wheel_of_nvidia_are_copied(tmp_path: Path) -> None:
    files = {
        "nvidia/a/lib/liba.so.1": "a",
        "nvidia/a/include/a.h": "",
        "a.dist-info/License.txt": "",
    }
    context = wheel_context(tmp_path, EXTRA, files)
    wheel_libraries.stage(context)
    assert tree(context.root) == ["lib/liba.so", "lib/liba.so.1", "share/licenses/a/License.txt"]


def test_a_library_that_the_wheel_lacks_is_an_error(tmp_path: Path) -> None:
    context = wheel_context(tmp_path, EXTRA, {"mkl-1.data/data/lib/libb.so.1": ""})
    with pytest.raises(UsageError, match=r"no library liba\.so\.1 in the recipe's wheels"):
        wheel_libraries.stage(context)


def test_two_libraries_of_one_name_are_refused(tmp_path: Path) -> None:
    files = {"nvidia/a/lib/liba.so.1": "a", "nvidia/b/lib/liba.so.1": "b"}
    with pytest.raises(IntegrityError, match=r"whl: .*lib/liba\.so\.1: two files have this path"):
        wheel_libraries.stage(wheel_context(tmp_path, EXTRA, files))
