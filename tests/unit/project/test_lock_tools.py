"""The locks of the tools: of wheels for CPython on Linux alone, and none listed twice."""

import runpy

import pytest

from stacks.core.disk import REPOSITORY

pytest.importorskip("tomllib")
TOOL = runpy.run_path(str(REPOSITORY / ".ci/lock_tools.py"))
WHOLE = """\
both==1 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
early==2 \\
    --hash=sha256:cc
winpty==3 ; sys_platform == 'win32' \\
    --hash=sha256:dd
old==4 ; python_full_version < '3.11' \\
    --hash=sha256:ee
"""


@pytest.mark.parametrize(
    ("wheel", "expected"),
    [
        ("a-1-py3-none-any.whl", True),
        ("a-1-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", True),
        ("a-1-cp39-abi3-manylinux_2_28_aarch64.whl", True),
        ("a-1-py3-none-manylinux_2_17_x86_64.whl", True),
        ("a-1-cp39-cp39-manylinux_2_17_x86_64.whl", False),
        ("a-1-cp313-cp313t-manylinux_2_17_x86_64.whl", False),
        ("a-1-cp312-cp312-musllinux_1_2_x86_64.whl", False),
        ("a-1-cp312-cp312-macosx_11_0_arm64.whl", False),
    ],
)
def test_wheels_for_cpython_on_linux_are_kept(wheel: str, expected: bool) -> None:
    assert TOOL["is_installable"](wheel) == expected


def test_a_lock_keeps_what_is_installed_and_what_no_earlier_lock_has() -> None:
    text = TOOL["reduced"](WHOLE, {"bb", "cc", "ee"}, {"early==2"})
    assert text == (
        "both==1 \\\n    --hash=sha256:bb\n"
        "old==4 ; python_full_version < '3.11' \\\n    --hash=sha256:ee\n"
    )
    with pytest.raises(SystemExit, match="both==1: no wheel for CPython on Linux"):
        TOOL["reduced"](WHOLE, {"cc", "ee"}, set())


def test_no_requirement_is_locked_twice() -> None:
    for lock, (_, earlier) in TOOL["LOCKS"].items():
        names = TOOL["names_in"]((REPOSITORY / lock).read_text())
        for other in earlier:
            assert names.isdisjoint(TOOL["names_in"]((REPOSITORY / other).read_text()))
