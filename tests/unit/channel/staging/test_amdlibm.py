from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from stacks.channel.staging import amdlibm
from stacks.channel.staging.elf import PATCHELF
from stacks.core.errors import UsageError
from stacks.core.process import call
from unit.helpers.staging import elf_library, make_context, tree

EXTRA = {"stage": "amdlibm", "variable": "AMDLIBM"}


def test_the_header_has_a_loop_for_each_function_that_a_release_lacks() -> None:
    text = amdlibm.header({"amd_vrsa_expf", "amd_vrda_exp"})
    assert "\nvoid amd_vrsa_expf(int n, float *x, float *z);\n" in text
    assert "static inline void amd_vrsa_powxf(int n, float *x, float y, float *z) " in text
    assert "z[i] = powf(x[i], y);" in text
    assert text.count("amd_vrda_") == 6 and text.count("amd_vrsa_") == 8


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"other/file": b""}, "an archive of other"),
        (
            {"amd/include/amdlibm.h": b"", "amd/lib/libalm.so": elf_library()},
            "libalm.so without amd_vrsa_expf and amd_vrda_exp",
        ),
        (
            {"amd/include/amdlibm.h": b"", "amd/lib/libalm.so": b"\x7fELF garbage"},
            "libalm.so: a broken ELF file",
        ),
        (None, "cannot be unpacked safely"),
    ],
)
def test_an_archive_without_amdlibm_is_refused(
    files: dict[str, bytes] | None, found: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(b"not tar")
    if files:
        with tarfile.open(path, "w:gz") as archive:
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    context = make_context(tmp_path, EXTRA, [], {"a.tar.gz": path})
    with pytest.raises(UsageError, match=r"a\.tar\.gz is not AMD LibM") as caught:
        amdlibm.stage(context)
    assert found in str(caught.value.found)


def test_a_link_out_of_the_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("amd/include")
        info.type, info.linkname = tarfile.SYMTYPE, "../../../secret"
        archive.addfile(info)
    context = make_context(tmp_path, EXTRA, [], {"a.tar.gz": path})
    with pytest.raises(UsageError, match=r"a\.tar\.gz is not AMD LibM") as caught:
        amdlibm.stage(context)
    assert "amd/include: a link to ../../../secret" in str(caught.value.found)


def test_the_library_its_headers_and_its_licence_are_packaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(amdlibm, "REQUIRED", ("amd_vrsa_expf",))
    library, renames = tmp_path / "libalm.so", tmp_path / "renames"
    library.write_bytes(elf_library())
    renames.write_text("PyInit__speedups amd_vrsa_expf\n")
    call([PATCHELF, "--rename-dynamic-symbols", renames, library])
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(library, "amd-libm/lib/libalm.so")
        for name in ("include/amdlibm.h", "include/deep/vec.h", "LICENSE.txt"):
            archive.addfile(tarfile.TarInfo(f"amd-libm/{name}"))
    context = make_context(tmp_path, EXTRA, [], {"a.tar.gz": path})
    amdlibm.stage(context)
    assert tree(context.root) == [
        "include/amdlibm.h",
        "include/amdlibm/amdlibm.h",
        "include/amdlibm/deep/vec.h",
        "lib/libalm.so",
        "lib/libamdlibm.so",
        "share/licenses/a/LICENSE.txt",
    ]
    assert (context.root / "lib/libamdlibm.so").readlink() == Path("libalm.so")
