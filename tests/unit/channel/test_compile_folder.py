"""The compile folder of a person who may not write to an environment."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from stacks.variants.variant import Variant
from unit.helpers.starts import variables_after


def started(
    variant: Variant, prefix: Path, access: str = "lambda *_: False", **environ: str
) -> dict[str, str]:
    """Return the variables of a Python that has started; `access` stands for os.access."""
    before = f"os.access = {access}"
    return variables_after(variant, prefix, "theano-stacks.pth", before, environ)


def test_another_persons_environment_compiles_into_ones_own_cache(
    variant: Variant, prefix: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home é"
    home.mkdir()
    rest = {"PATH": "/bin", "HOME": str(home), "TMPDIR": str(tmp_path)}
    assert "THEANO_FLAGS" not in started(variant, prefix, access="os.access", **rest)
    found = started(variant, prefix, THEANO_FLAGS="floatX=float32", **rest)
    given, own = found["THEANO_FLAGS"].split(",base_compiledir=")
    assert given == "floatX=float32"
    assert Path(own).parent == home / ".cache/theano-stacks/compiled"
    assert Path(own).name.startswith("prefix-") and Path(own).stat().st_mode & 0o777 == 0o700
    # The same in each process, and another program's start changes nothing more.
    assert started(variant, prefix, **rest)["THEANO_FLAGS"] == f"base_compiledir={own}"
    flags = found["THEANO_FLAGS"]
    assert started(variant, prefix, THEANO_FLAGS=flags, **rest)["THEANO_FLAGS"] == flags


def test_a_named_compile_folder_stays(variant: Variant, prefix: Path, tmp_path: Path) -> None:
    rest = {"PATH": "/bin", "HOME": str(tmp_path)}
    flags = "base_compiledir=/mine"
    assert started(variant, prefix, THEANO_FLAGS=flags, **rest)["THEANO_FLAGS"] == flags
    for line in ("base_compiledir = /mine", "compiledir=/mine", "base_compiledir: /mine"):
        (tmp_path / ".theanorc").write_text(f"[global]\n{line}\n")
        assert "THEANO_FLAGS" not in started(variant, prefix, **rest)
    # A setting whose name only contains it names none.
    (tmp_path / ".theanorc").write_text("[global]\n# base_compiledir = /mine\n")
    flags = "compiledir_format=compiledir_%(hostname)s"
    found = started(variant, prefix, THEANO_FLAGS=flags, **rest)
    assert found["THEANO_FLAGS"].startswith(f"{flags},base_compiledir={tmp_path}/.cache/")


def test_another_environments_compile_folder_ends_here(
    variant: Variant, prefix: Path, tmp_path: Path
) -> None:
    rest = {"PATH": "/bin", "HOME": str(tmp_path)}
    other = f"base_compiledir={tmp_path}/.cache/theano-stacks/compiled/other-01234567"
    given = f"floatX=float32,{other}"
    found = started(variant, prefix, access="os.access", THEANO_FLAGS=given, **rest)
    assert found["THEANO_FLAGS"] == "floatX=float32"
    found = started(variant, prefix, THEANO_FLAGS=given, **rest)
    assert re.fullmatch(
        rf"floatX=float32,base_compiledir={tmp_path}/.cache/theano-stacks/compiled/prefix-\w+",
        found["THEANO_FLAGS"],
    )


def test_without_a_home_compiled_modules_are_in_a_temporary_folder_of_ones_own(
    variant: Variant, prefix: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    rest = {"PATH": "/bin", "TMPDIR": str(temporary)}
    flags = started(variant, prefix, **rest)["THEANO_FLAGS"]
    base = temporary / f"theano-stacks-{os.geteuid()}"
    assert flags.startswith(f"base_compiledir={base}/prefix-")
    # Where others can write, they could put modules of theirs.
    base.chmod(0o777)
    assert "THEANO_FLAGS" not in started(variant, prefix, **rest)
    shutil.rmtree(base)
    (tmp_path / "elsewhere").mkdir()
    base.symlink_to(tmp_path / "elsewhere")
    assert "THEANO_FLAGS" not in started(variant, prefix, **rest)
