"""The stages at their door: a recipe's `extra` makes a package of small sources.

Those of Python packages, of Python itself and its compiler have tests of their own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stacks.channel.staging.debian import MULTIARCH, TEXTS
from stacks.channel.staging.elf import exported
from stacks.core.errors import IntegrityError, UsageError
from unit.helpers.staging import Made, elf_library, elf_with, make, make_context, with_compiler

LIB, DOC = f"usr/lib/{MULTIARCH}", "usr/share/doc/liba/copyright"
GPL = b"see /usr/share/common-licenses/GPL-3.\n"
AMD = {"amd/include/amdlibm.h": "", "amd/include/deep/vec.h": "", "amd/LICENSE.txt": ""}

LIBRARIES = {"stage": "libraries", "libraries": ["liba.so*"]}
FRONT = {
    "stage": "front-libraries",
    "functions": {"blas/libblas.so.3": {"PyInit__speedups": "init"}},
    "serving": {"blas/libblas.so.3": ["libone.so", "libtwo.so"]},
    "links": {"libblas.so": "libblas.so.3"},
}
MKL = {"stage": "wheel-libraries", "libraries": ["liba.so.1"], "links": {"liba.so": "liba.so.1"}}
SCIPY_BLAS = {"stage": "openblas-wheel"}
COMPILED = {
    "stage": "compiled",
    "library": "liba.so",
    "flags": ["-O2"],
    "objects": [{"file": "a.c", "flags": ["-mavx2"]}, {"file": "b/b.c"}],
    "libraries": ["m"],
    "headers": ["b/b.h"],
    "licences": ["b/LICENSE"],
}
THIN = {
    "stage": "thin-front",
    "library": "libblas.so.3",
    "serving": ["libblas_threads.so.1", "libmkl_rt.so.3"],
    "links": {"libblas.so": "libblas.so.3"},
}
BLIS = {
    "stage": "blis",
    "build": "blis-openmp",
    "library": "libblis.so.4",
    "links": {"libblis.so": "libblis.so.4"},
    "kernels": {"library": "libkernels.so", "flags": ["-O2"], "objects": [{"file": "k.c"}]},
}
CUDA = {"stage": "forwarding", "library": "libcuda.so", "stands_for": "libcuda.so.1"}
LIBM = {"stage": "amdlibm", "variable": "AMDLIBM"}
FILES = {
    "stage": "debian-files",
    "files": {"usr/pygpu*": "lib/site"},
    "left_out": ["tests", "*.c"],
    "links": {"liba.so": "liba.so.1"},
    "search": ["lib", "lib/site"],
}

ROWS = {
    "libraries of debs, with links, an RPATH and licences": Made(
        {**LIBRARIES, "links": {"liba.so": "liba.so.1"}},
        {"debs": {"liba": {
            f"{LIB}/liba.so.1.2": elf_library(), f"{LIB}/liba.so.1": Path("liba.so.1.2"),
            f"{LIB}/libb.so.1": "other", DOC: "MIT",
        }}},
        "lib/liba.so lib/liba.so.1 lib/liba.so.1.2 share/licenses/a/liba.copyright",
        rpaths={"lib/liba.so.1.2": "$ORIGIN"},
    ),
    "debs of one source have one copyright file, and the texts that it names": Made(
        {"stage": "libraries"},
        {"debs": {
            "liba": {DOC: GPL}, "libb": {"usr/share/doc/libb": Path("liba")},
            "base-files": {"etc/x": "", f"{TEXTS}/GPL-3": "GNU", f"{TEXTS}/GPL-2": "other"},
        }},
        "share/licenses/a/GPL-3 share/licenses/a/liba.copyright",
        texts={"share/licenses/a/GPL-3": ["GNU"]},
    ),
    "a front keeps some functions, and needs the libraries with the others": Made(
        FRONT,
        {"debs": {"liba": {f"{LIB}/blas/libblas.so.3": elf_library(), DOC: "BSD"}}},
        "lib/libblas.so lib/libblas.so.3 share/licenses/a/liba.copyright",
        needs={"lib/libblas.so.3": ["libone.so", "libtwo.so"]},
        rpaths={"lib/libblas.so.3": "$ORIGIN"},
    ),
    "of MKL's wheels the recipe's libraries and the licences": Made(
        MKL,
        {"wheel": {
            "mkl-1.data/data/lib/liba.so.1": "MKL", "mkl-1.data/data/lib/libb.so.1": "",
            "mkl-1.data/data/lib/sub/liba.so.1": "",
            "mkl-1.data/data/share/doc/mkl/licensing/third-party.txt": "",
            "mkl-1.dist-info/LICENSE.txt": "", "mkl-1.dist-info/top_level.txt": "",
        }},
        "lib/liba.so lib/liba.so.1 share/licenses/a/LICENSE.txt share/licenses/a/third-party.txt",
        texts={"lib/liba.so.1": ["MKL"]},
    ),
    "SciPy's OpenBLAS under its common names": Made(
        SCIPY_BLAS,
        {"wheel": {
            "lib/libscipy_openblas.so": elf_with(exports=["scipy_dgemm_"]), "d/LICENSE.txt": "BSD"
        }},
        "lib/libopenblas.so lib/libopenblas.so.0 lib/libopenblasp-r1.so"
        " share/licenses/a/LICENSE.txt",
    ),
    "a compiled library, with a source package beside its sources": Made(
        COMPILED,
        {
            "src": {"a.c": "", "LICENSE-a": "BSD"},
            "source": [{"suite": "s", "sources": ["b"]}],
            "upstream": {"up-1/b.c": b"", "up-1/b.h": b"b", "up-1/LICENSE": b"BSL"},
        },
        "include/b.h lib/liba.so share/licenses/a/LICENSE share/licenses/a/LICENSE-a",
        texts={
            "../gcc.log": [
                "/scratch/sources=. -c -O2 -mavx2 a.c -o 0.o\n", " -c -O2 b/b.c -o 1.o\n",
                " -shared ", " -Wl,-z,defs -lm\n", "SOURCE_DATE_EPOCH=1704067200\n",
            ],
        },
    ),
    # The last library is named for sources that look for its functions.
    "a thin front needs the libraries that serve": Made(
        THIN,
        {"src": {"complex.c": "", "complex.h": "", "LICENSE-a": "BSD"}},
        "lib/libblas.so lib/libblas.so.3 share/licenses/a/LICENSE-a",
        needs={"lib/libblas.so.3": ["libblas_threads.so.1", "libmkl_rt.so.3"]},
        texts={
            "../gcc.log": [
                ' -DSERVING="libmkl_rt.so.3" complex.c -o 0.o\n', " -shared -s 0.o -o libblas.so.3 "
                "-Wl,-soname,libblas.so.3 -Wl,--as-needed -ldl -lpthread\n",
            ],
        },
    ),
    "BLIS needs the kernels": Made(
        BLIS,
        {
            "src": {"k.c": "", "LICENSE-a": "BSD"},
            "debs": {"liba": {
                f"{LIB}/blis-openmp/libblis.so.4": elf_library(), DOC: "BSD",
                f"usr/include/{MULTIARCH}/blis-openmp/blis.h": "",
            }},
        },
        "lib/libblis.so lib/libblis.so.4 lib/libkernels.so share/licenses/a/LICENSE-a"
        " share/licenses/a/liba.copyright",
        needs={"lib/libblis.so.4": ["libkernels.so"]},
    ),
    "a forwarding library needs the one that it stands for": Made(
        CUDA,
        {"src": {"LICENSE-a": "BSD"}},
        "lib/libcuda.so share/licenses/a/LICENSE-a",
        needs={"lib/libcuda.so": ["libcuda.so.1"]},
    ),
    # Since version 3 AMD's library has another name than the one that Theano links.
    "AMD's library from the user's archive": Made(
        LIBM,
        {"sdist": {
            **AMD, "amd/lib/libalm.so": elf_with(exports=["amd_vrsa_expf", "amd_vrda_exp"])
        }},
        "include/amdlibm.h include/amdlibm/amdlibm.h include/amdlibm/deep/vec.h lib/libalm.so"
        " lib/libamdlibm.so share/licenses/a/LICENSE.txt",
        texts={
            "include/amdlibm.h": [
                "\nvoid amd_vrsa_expf(int n, float *x, float *z);\n",
                "static inline void amd_vrsa_powxf(int n, float *x, float y, float *z) ",
                "z[i] = powf(x[i], y);",
            ],
        },
    ),
    "folders of debs without the files to leave out": Made(
        FILES,
        {"debs": {"liba": {
            "usr/pygpu/a.py": "", "usr/pygpu/a.c": "", "usr/pygpu/tests/t.py": "",
            "usr/other/b.py": "", "usr/pygpu/a.so": elf_library(), DOC: "ISC",
            "usr/pygpu/deep/l": Path("../a.py"),
        }}},
        "lib/liba.so lib/site/pygpu/a.py lib/site/pygpu/a.so lib/site/pygpu/deep/l"
        " share/licenses/a/liba.copyright",
        rpaths={"lib/site/pygpu/a.so": "$ORIGIN/../..:$ORIGIN/.."},
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_a_stage_makes(row: Made, tmp_path: Path) -> None:
    row.check(tmp_path)


REFUSED: dict[str, tuple[Mapping[str, Any], Mapping[str, Any], str]] = {
    "a library that no deb has": (
        {"stage": "libraries", "libraries": ["libc.so*"]}, {"debs": {"liba": {}}},
        r"no libc\.so\* in the recipe's sources",
    ),
    # It would lead to another file from the package's lib/.
    "the link of a library to another folder": (
        LIBRARIES, {"debs": {"liba": {f"{LIB}/liba.so": Path("../../../secret"), "secret": ""}}},
        r"(?s)liba\.so: the link leads out of.*secret.*fix",
    ),
    "a deb with another's licence": (
        {"stage": "libraries"}, {"debs": {"libb": {"usr/share/doc/libb": Path("liba")}}},
        "(?s)the deb libb has no copyright file.*add liba to the debs of the recipe",
    ),
    "a deb without a licence": (
        {"stage": "libraries"}, {"debs": {"libc": {"usr/bin/c": ""}}},
        "(?s)the deb libc has no copyright file.*pin another version",
    ),
    "a licence in no deb": (
        {"stage": "libraries"}, {"debs": {"liba": {DOC: GPL}}},
        "(?s)refers to the text of GPL-3, which is in no deb.*add base-files",
    ),
    "a function that the library lacks": (
        {**FRONT, "functions": {"liba.so": {"dgemm_": "dgemm_"}}},
        {"debs": {"liba": {f"{LIB}/liba.so": elf_library()}}},
        r"liba\.so of the deb has no function dgemm_",
    ),
    "a library that no wheel has": (
        MKL, {"wheel": {"mkl-1.data/data/lib/libb.so.1": ""}},
        r"no library liba\.so\.1 in the recipe's wheels",
    ),
    "two libraries of one name": (
        MKL, {"wheel": {"nvidia/a/lib/liba.so.1": "a", "nvidia/b/lib/liba.so.1": "b"}},
        r"whl: .*lib/liba\.so\.1: two files have this path",
    ),
    "an OpenBLAS without dgemm": (
        SCIPY_BLAS, {"wheel": {"lib/libscipy_openblas.so": elf_library(), "d/LICENSE.txt": ""}},
        "its symbols could not be renamed",
    ),
    "a source package without its archive": (
        COMPILED, {"src": {"a.c": ""}, "source": [{"suite": "s", "sources": ["b"]}]},
        r"(?s)package b: its files \*\.orig\.tar\.\*.*exactly one.*none",
    ),
    "a source package with two folders": (
        COMPILED,
        {
            "src": {"a.c": ""}, "source": [{"suite": "s", "sources": ["b"]}],
            "upstream": {"up-1/b.c": b"", "up-2/b.c": b""},
        },
        r"(?s)b_1\.orig\.tar\.xz: folders at its top.*exactly one.*up-",
    ),
    "another archive than AMD's": (
        LIBM, {"sdist": {"other/file": ""}}, r"(?s)gz is not AMD LibM.*an archive of other",
    ),
    "an AMD LibM without functions": (
        LIBM, {"sdist": {**AMD, "amd/lib/libalm.so": elf_library()}},
        r"(?s)gz is not AMD LibM.*libalm\.so without amd_vrsa_expf and amd_vrda_exp",
    ),
    "a broken AMD LibM": (
        LIBM, {"sdist": {**AMD, "amd/lib/libalm.so": b"\x7fELF garbage"}},
        r"(?s)gz is not AMD LibM.*libalm\.so: a broken ELF file",
    ),
    "a link out of AMD's archive": (
        LIBM, {"sdist": {"amd/include": Path("../../../secret")}},
        r"(?s)gz is not AMD LibM.*amd/include: a link to \.\./\.\./\.\./secret",
    ),
    # Inside of the deb it leads to a file of the deb.
    "a link out of the package": (
        {**FILES, "files": {"usr/lib/pygpu*": "lib"}},
        {"debs": {"liba": {
            "usr/lib/pygpu/a.py": Path("../../../a/b/c"), "a/b/c": "", "usr/lib/pygpu/x": Path()
        }}},
        r"pygpu/a\.py: the link leads out of the package",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("extra", "given", "message"), REFUSED.values(), ids=REFUSED)
def test_what_a_stage_refuses(
    extra: Mapping[str, Any], given: Mapping[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises((IntegrityError, UsageError), match=message):
        make(with_compiler(tmp_path, extra, given))


def test_a_user_file_that_is_no_archive_is_not_amds(tmp_path: Path) -> None:
    context = make_context(tmp_path, LIBM, sdist={})
    context.sources["a-1.tar.gz"].write_bytes(b"not tar")
    with pytest.raises(UsageError, match=r"(?s)gz is not AMD LibM.*cannot be unpacked safely"):
        make(context)


@pytest.mark.parametrize("whole", [False, True])
def test_a_front_hides_the_functions_that_it_does_not_keep(whole: bool, tmp_path: Path) -> None:
    name = "blas/libblas.so.3"
    data = elf_with(exports=["one", "two"])
    extra = {**FRONT, "functions": {name: {"one": "new"}}, "whole": [name] if whole else []}
    debs = {"liba": {f"{LIB}/{name}": data, DOC: "BSD"}}
    library = make(with_compiler(tmp_path, extra, {"debs": debs})) / "lib/libblas.so.3"
    names = set(exported(library))
    assert names >= {"new", "two" if whole else "unused_two"} and "one" not in names
    assert whole or all(each == "new" or each.startswith("unused_") for each in names)
