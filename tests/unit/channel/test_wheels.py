"""The stages of wheels: scripts, records, GCC's libraries, and the environment's BLAS."""

import base64
import csv
import hashlib
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.debian import MULTIARCH
from stacks.channel.staging.elf import imported, needed
from stacks.channel.staging.python_packages import SHEBANG
from stacks.core.errors import IntegrityError, UsageError
from unit.helpers.staging import METADATA, elf_library, elf_with, make, make_context, tree

SITE = "lib/python3.9/site-packages"
EXTRA = {"stage": "wheel", "site_packages": SITE}
ENTRIES = "a-1.dist-info/entry_points.txt"
CONSOLE = "[console_scripts]\n"


def test_each_kind_of_file_goes_to_its_folder(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a/__init__.py": "",
        "a/.libs/hidden.so": bytes(range(256)),
        "a/_vendor/b-1.dist-info/RECORD": "kept",
        "a-1.data/purelib/p.py": "print()",
        "a-1.data/platlib/q.so": "",
        "a-1.data/data/share/a, b": "",
        "a-1.data/scripts/s": "#!python\nprint(1)\n",
        "a-1.dist-info/RECORD": "a.py,sha256=old,1\n",
        ENTRIES: f"{CONSOLE}run = a.b:Program.main [extra]\nB=a:f\n[gui_scripts]\ng = a:g\n",
    }
    root = make(make_context(tmp_path, EXTRA, wheel=files))
    assert ", ".join(tree(root)) == (
        "bin/B, bin/run, bin/s, {0}-1.dist-info/INSTALLER, {0}-1.dist-info/METADATA, "
        "{0}-1.dist-info/RECORD, {0}-1.dist-info/entry_points.txt, {0}/.libs/hidden.so, "
        "{0}/__init__.py, {0}/_vendor/b-1.dist-info/RECORD, {1}/p.py, {1}/q.so, share/a, b"
    ).format(f"{SITE}/a", SITE)
    assert (root / "bin/s").read_text() == f"{SHEBANG}print(1)\n"
    body = (root / "bin/run").read_text().removeprefix(SHEBANG)
    assert body == "import sys\n\nfrom a.b import Program\n\nsys.exit(Program.main())\n"
    assert (root / "bin/s").stat().st_mode & (root / "bin/run").stat().st_mode & 0o111
    assert (root / SITE / "a/.libs/hidden.so").read_bytes() == files["a/.libs/hidden.so"]
    assert (root / SITE / "a/_vendor/b-1.dist-info/RECORD").read_text() == "kept"
    record = (root / SITE / "a-1.dist-info/RECORD").read_text(encoding="utf-8")
    rows = list(csv.reader(record.splitlines()))
    listed = [os.path.normpath(root / SITE / name) for name, _, _ in rows]
    assert sorted(listed) == [str(root / name) for name in tree(root)]
    assert [row[0] for row in rows[:3]] == ["../../../bin/B", "../../../bin/run", "../../../bin/s"]
    assert ["p.py", "sha256=Ul1RMxNBbPGH9E-ofhdT7m0RVSwiCXU33cMrTtNPpo8", "7"] in rows
    assert ["a-1.dist-info/RECORD", "", ""] in rows


def test_a_noarch_wheel_has_scripts_for_every_python_and_modes_stay(tmp_path: Path) -> None:
    name = "a/program"
    context = make_context(
        tmp_path, {"stage": "wheel"}, wheel={ENTRIES: f"{CONSOLE}x = a:f\n"},
        build={"noarch": "python"},
    )  # fmt: skip
    with zipfile.ZipFile(context.files[0], "a") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = 0o755 << 16
        archive.writestr(info, "")
    root = make(context)
    assert (root / "python-scripts/x").is_file()
    assert (root / "site-packages" / name).stat().st_mode & 0o111
    assert not (root / "site-packages/a-1.dist-info/METADATA").stat().st_mode & 0o111


OUTSIDE = r"whl: .*(cannot be placed|outside of the fol)"
UNSAFE = r"a-1-py3-none-any\.whl: cannot be unpacked safely"
NO_SCRIPT = r"a-1-py3-none-any\.whl: an entry point cannot"
BROKEN = r"a-1-py3-none-any\.whl: the package's metadata"
META = "a-1.dist-info/METADATA"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        *(
            ({name: "evil"}, OUTSIDE)
            for name in (
                "../x", "a/../../x", "/x", "a-1.data/purelib/../../x", "a-1.data/data//x",
                "a-1.data/headers/x.h", "a-1.data/scripts/../../x",
            )
        ),
        *(
            ({ENTRIES: CONSOLE + line + "\n"}, NO_SCRIPT)
            for line in (
                "../../x = os:system", "OUTSIDE/x = os:system", "a/b = os:system",
                ".. = os:system", "a b = os:system", "x = os", "x = os:", "x = :system",
                "x = os:system()", "x = os;import evil:system", "x = a-b:f",
                "x = a:f\n  and = more", "x = os:system\n x", "x = class:f", "x = os:a..b",
                "x = \u00e9:f", "x", "x = a:f\nx = b:f",
            )
        ),
        ({ENTRIES: b"[console_scripts]\n\xe9 = a:f\n"}, NO_SCRIPT),
        ({ENTRIES: "x = a:f\n"}, NO_SCRIPT),
        ({ENTRIES: "[a\n"}, NO_SCRIPT),
        ({ENTRIES: f"{CONSOLE}x = a:f\n", "a-1.data/scripts/x": ""}, "x would overwrite"),
        ({"a.py": "1", "a-1.data/purelib/a.py": "2"}, UNSAFE),
        ({"a.py": "1", f"a-1.data/data/{SITE}/a.py": "2"}, UNSAFE),
        ({"a-1.data/scripts/s": "1", "a-1.data/data/bin/./s": "2"}, UNSAFE),
        ({META: b"Name: \xe9\nVersion: 1\n"}, BROKEN),
        ({META: ""}, BROKEN),
        ({META: "Name: a\n"}, BROKEN),
        ({META: "Name: ../a\nVersion: 1\n"}, BROKEN),
        ({META: "Name: a\nVersion: 1/../../x\n"}, BROKEN),
        ({"b-1.dist-info/METADATA": METADATA}, r"(?s)whl: its dist-info.*a-1.*, b-1"),
    ],
)  # fmt: skip
def test_a_wheel_that_is_refused(
    files: dict[str, str | bytes], message: str, tmp_path: Path
) -> None:
    """Nothing is written outside of the package, whose folder is deep enough for every case."""
    folder = tmp_path / "deep/er"
    folder.mkdir(parents=True)
    text = files.get(ENTRIES)
    if isinstance(text, str):
        files = {**files, ENTRIES: text.replace("OUTSIDE", str(tmp_path))}
    with pytest.raises(IntegrityError, match=message):
        make(make_context(folder, EXTRA, wheel=files))
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    assert [path.name for path in folder.parent.iterdir()] == ["er"]


@pytest.mark.parametrize(
    ("name", "version", "folder"),
    [
        ("MarkupSafe", "2.1.3", "markupsafe-2.1.3.dist-info"),
        ("a.-_b", "1.0-1", "a_b-1.0_1.dist-info"),
        ("a", "1!2.0+cpu", "a-1!2.0+cpu.dist-info"),
    ],
)
def test_the_name_of_the_dist_info_is_normalised(
    name: str, version: str, folder: str, tmp_path: Path
) -> None:
    text = f"Name: {name}\nVersion: {version}\n"
    root = make(make_context(tmp_path, EXTRA, wheel={META: text}))
    assert (root / SITE / folder / "METADATA").read_text() == text


FORTRAN, QUAD = "libgfortran-040039e1-0352e75f.so.5.0.0", "libquadmath-96973f99.so.0.0.0"
OLD = "libgfortran-ed201abd.so.3.0.0"


def fortran(tmp_path: Path, *names: str, run: str = "libgcc-runtime >=10") -> Path:
    """Make the package of a wheel whose one module needs copies of these libraries."""
    files = {"a/m.so": elf_with(needs=names), **{f"a.libs/{name}": b"" for name in names}}
    extra = {**EXTRA, "stage": "fortran-wheel"}
    return make(
        make_context(tmp_path, extra, wheel=files, requirements={"run": [run]})
    )  # fmt: skip


@pytest.mark.parametrize("others", [[], [OLD]])
def test_modules_load_the_libraries_of_libgcc_runtime(others: list[str], tmp_path: Path) -> None:
    """Copies of another version stay."""
    folder = fortran(tmp_path, FORTRAN, QUAD, *others) / SITE
    assert tree(folder / "a") == ["m.so"]
    assert tree(folder / "a.libs") == others
    assert (folder / "a.libs").exists() == bool(others)
    assert {"libgfortran.so.5", "libquadmath.so.0", *others} <= set(needed(folder / "a/m.so"))
    record = (folder / "a-1.dist-info/RECORD").read_text()
    assert "a/m.so,sha256=" in record and FORTRAN not in record


def test_a_recipe_that_lacks_libgcc_runtime_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match=r"its modules need libgfortran\.so\.5"):
        fortran(tmp_path, FORTRAN, run="six")


BLAS = "libscipy_openblas-1a2b3c4d.so"
SCIPY = {
    "stage": "relinked-wheel",
    "site_packages": SITE,
    "replaces": BLAS,
    "prefix": "scipy_",
    "leave_out": ["scipy/**/tests"],
    "edits": [{"file": "scipy/a.py", "old": "one", "new": "two"}],
    "licences": ["LICENSE-a-2"],
}
SRC = {"LICENSE-a-1": "1", "LICENSE-a-2": "2"}
MESON = """\
CONFIG = {
    "blas": {
        "name": "scipy-openblas",
        "found": True,
        "version": "0.3",
        "lib directory": r"/opt/lib",
        "has ilp64": False,
    },
    "lapack": {"name": "scipy-lapack"},
    "pybind11": {"name": "pybind11", "version": "3"},
}
"""
MESON_AFTER = """\
CONFIG = {
    "blas": {
        "name": "libblas",
        "found": True,
        "has ilp64": False,
    },
    "lapack": {"name": "scipy-lapack"},
    "pybind11": {"name": "pybind11", "version": "3"},
}
"""


def scipy(
    tmp_path: Path,
    *functions: str,
    reference: tuple[str, ...] = ("dgemm_", "dgesv_"),
    more: Mapping[str, str | bytes] | None = None,
    **options: object,
) -> BuildContext:
    """Return the context of a wheel whose module calls functions by names with SciPy's prefix.

    reference: the functions in the library of a deb. more: further files. options: of the stage.
    """
    names = [f"scipy_{name}" for name in functions]
    files: dict[str, str | bytes] = {
        "scipy/linalg/m.so": elf_with(imports=names, needs=[BLAS, FORTRAN]),
        f"scipy.libs/{BLAS}": elf_with(exports=names, needs=["libonly_for_it.so"]),
        "scipy.libs/libonly_for_it.so": elf_library(),
        f"scipy.libs/{FORTRAN}": elf_library(),
        "scipy/__config__.py": MESON,
        "scipy/a.py": "one",
        "scipy/linalg/tests/t.py": "",
    }
    library = {f"usr/lib/{MULTIARCH}/blas/libblas.so.3": elf_with(exports=reference)}
    return make_context(
        tmp_path, {**SCIPY, **options}, wheel={**files, **(more or {})}, src=SRC,
        debs={"libblas3": library}, requirements={"run": ["libgcc-runtime"]},
    )  # fmt: skip


def test_scipys_modules_call_the_environments_libblas_by_its_names(tmp_path: Path) -> None:
    root = make(scipy(tmp_path, "dgemm_", "zdotc_", "dgesv_"))
    assert tree(root / SITE / "scipy") == ["__config__.py", "a.py", "linalg/m.so"]
    module = root / SITE / "scipy/linalg/m.so"
    # Another convention than MKL's: see recipes/libblas.
    assert {"dgemm_", "zdotcg", "dgesv_"} <= set(imported(module))
    assert not [name for name in imported(module) if name.startswith("scipy_")]
    assert {"libblas.so.3", "libgfortran.so.5"} <= {*needed(module)}
    assert not (root / SITE / "scipy.libs").exists()
    assert (root / SITE / "scipy/__config__.py").read_text() == MESON_AFTER
    assert (root / SITE / "scipy/a.py").read_text() == "two"
    # All versions of a package share the folder of licences; debs that are only read have none.
    assert tree(root / "share") == ["licenses/a/LICENSE-a-2"]
    record = (root / SITE / "a-1.dist-info/RECORD").read_text()
    digest = base64.urlsafe_b64encode(hashlib.sha256(module.read_bytes()).digest()).decode()
    row = f"scipy/linalg/m.so,sha256={digest.rstrip('=')},{module.stat().st_size}\n"
    assert row in record


def test_numpys_modules_keep_the_names_of_functions_with_long_integers(tmp_path: Path) -> None:
    context = scipy(
        tmp_path, "a64_", reference=("scipy_a64_",), library="libblas_64.so.1", prefix=""
    )
    module = make(context) / SITE / "scipy/linalg/m.so"
    assert "scipy_a64_" in imported(module)
    assert "libblas_64.so.1" in needed(module)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": ("dgesv_",)}, r"(?s)its modules call dgemm_\n.*libblas3"),
        ({"more": {f"a/{BLAS}": b""}}, f"(?s)its library {BLAS}\n.*{BLAS}, {BLAS}"),
        ({"replaces": "libnone.so"}, r"(?s)its library libnone\.so\n.*none"),
        ({"leave_out": ["scipy/none"]}, r"no scipy/none in the recipe's sources"),
        ({"more": {"scipy/a.py": "three"}}, r"a\.py is not the file that the recipe"),
    ],
)
def test_a_wheel_that_cannot_be_relinked(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises((IntegrityError, UsageError), match=message):
        make(scipy(tmp_path, "dgemm_", **options))
