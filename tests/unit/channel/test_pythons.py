"""The stages of Python itself and of its compiler, on few files that stand for the real ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.debian import MULTIARCH
from stacks.core.errors import IntegrityError, UsageError
from unit.helpers.archives import source_archive
from unit.helpers.openssl import PERL, openssl_archives
from unit.helpers.staging import Content, elf_library, make, make_context, tree, write_gcc

LIBRARY = "usr/lib/python3.9"
EDIT = {"file": "pydoc.py", "old": "'dist-packages'", "new": "'site-packages'"}
DEBIAN = {
    "stage": "cpython",
    "libraries": [],
    "edits": [EDIT],
    "frozen": {"dist-packages": "site-packages"},
}
SYSCONFIG = """\
build_time_vars = {'CC': 'x86_64-linux-gnu-gcc -pthread', 'prefix': '/usr',
 'LIBDIR': '/usr/lib', 'LIBPL': '/usr/lib/python3.9/config-3.9-x86_64-linux-gnu',
 'CFLAGS': '-g -ffile-prefix-map=/build/python-1=. -O2', 'N': 1,
 'CONFIG_ARGS': '--prefix=/usr --x', 'OTHER': '/opt/usr/lib /usr/local'}
"""
SYSCONFIG_AFTER = {
    "CC": "gcc -pthread",
    "prefix": "/a b",
    "LIBDIR": "/a b/lib",
    "LIBPL": "/a b/lib/python3.9/config-3.9-x86_64-linux-gnu",
    "CFLAGS": "-g -O2",
    "N": 1,
    "CONFIG_ARGS": "--prefix=/a b --x",
    "OTHER": "/opt/usr/lib /usr/local",
}


def debian_python(tmp_path: Path, files: Mapping[str, Content], **options: object) -> BuildContext:
    """Return the context of a Python deb with the files that the stage reads, and these.

    A link takes the place of the files below it. options: of the stage.
    """
    base: dict[str, Content] = {
        "usr/bin/python3.9": b"a dist-packages\0",
        f"{LIBRARY}/site.py": "",
        f"{LIBRARY}/pydoc.py": EDIT["old"],
        f"{LIBRARY}/lib-dynload/nis.so": "",
        f"{LIBRARY}/_sysconfigdata_x.py": SYSCONFIG,
        "usr/include/python3.9/Python.h": "",
        f"usr/include/{MULTIARCH}/python3.9/pyconfig.h": "#define A",
        "usr/share/doc/liba/copyright": "PSF",
    }
    links = tuple(name for name, content in files.items() if isinstance(content, Path))
    kept = {name: content for name, content in base.items() if not name.startswith(links or "/")}
    debs = {"liba": {**kept, **files}}
    return make_context(tmp_path, {**DEBIAN, **options}, debs=debs, version="3.9.2")


def test_debians_python_is_relocated_without_debians_own_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: dict[str, Content] = {
        f"{LIBRARY}/sitecustomize.py": Path("/etc/python3.9/sitecustomize.py"),
        f"{LIBRARY}/config": Path("../gone"),
        f"{LIBRARY}/test/a.py": "",
        f"{LIBRARY}/a.pyc": "",
        f"{LIBRARY}/config-3.9/libpython3.9.a": "",
        f"{LIBRARY}/config-3.9/Makefile": "",
    }
    root = make(debian_python(tmp_path, files))
    assert " ".join(tree(root)) == (
        "bin/python bin/python3 bin/python3.9 include/python3.9/Python.h "
        "include/python3.9/pyconfig.h lib/python3.9/_sysconfigdata_x.py "
        "lib/python3.9/config-3.9/Makefile lib/python3.9/pydoc.py "
        "lib/python3.9/site-packages/README.txt lib/python3.9/site.py "
        "share/licenses/a/liba.copyright"
    )
    assert (root / "lib/python3.9/pydoc.py").read_text() == EDIT["new"]
    assert (root / "bin/python3.9").read_bytes() == b"a site-packages\0"
    assert (root / "include/python3.9/pyconfig.h").read_text() == "#define A"
    monkeypatch.setattr("sys.base_prefix", "/a b")
    variables: dict[str, dict[str, object]] = {}
    exec((root / "lib/python3.9/_sysconfigdata_x.py").read_text(), variables)
    assert variables["build_time_vars"] == SYSCONFIG_AFTER


TWICE = b"dist-packages\0 dist-packages\0"


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        ({"usr/bin/python3.9": TWICE}, {}, r"(?s)python3\.9 is not the file.*2 times"),
        ({}, {"frozen": {"dist-packages": "site"}}, "as long"),
        ({f"{LIBRARY}/pydoc.py": ""}, {}, r"pydoc\.py is not the file"),
        # In the deb the link leads to a file of the deb; in the package, out of the package.
        (
            {f"{LIBRARY}/pydoc.py": Path("../../../pydoc.py"), "pydoc.py": EDIT["old"]},
            {},
            r"pydoc\.py: the link leads out of the package",
        ),
    ],
)
def test_another_python_than_the_recipes_is_refused(
    files: dict[str, Content], options: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(IntegrityError, match=message):
        make(debian_python(tmp_path, files, **options))


SOURCE = {
    "stage": "cpython-source",
    "python": {"package": "p", "patches": ["CVE-1*", "CVE-2*"], "configure": ["--enable-shared"]},
    "openssl": {"package": "openssl", "patches": ["*"], "configure": ["linux-x86_64", "no-x"]},
    "answers": {"ac_cv_prog_PYTHON_FOR_REGEN": "false"},
    "variables": {"OPT": "-O9"},
    "cpu_seconds": 7,
    "tools": ["make"],
    "leave_out": ["test"],
    "libraries": ["libz.so.1"],
}
SERIES = "#off.diff\nlocations.diff\nCVE-2.patch\nCVE-1.patch -p1\n"
CONFIGURE = """\
set -e
. "$CONFIG_SITE"
ls -d "$TMPDIR/openssl/include/openssl/ssl.h"
echo "$PWD $PATH $CPPFLAGS $ac_cv_prog_PYTHON_FOR_REGEN $OPT $*" > "$TMPDIR/configure.log"
"""
MAKE = """\
#!/bin/sh -e
[ "$1" = install ] || exit 0
root=${2#DESTDIR=}/prefix-of-python
library=$root/lib/python3.13
mkdir -p "$root/bin" "$root/include/python3.13" "$root/lib/pkgconfig" "$library/test" \\
    "$library/config-3.13-x" "$library/site-packages/__pycache__"
touch "$root/bin/python3.13" "$root/bin/idle3" "$root/lib/libpython3.13.a" "$library/os.py" \\
    "$library/test/a.py" "$library/config-3.13-x/python.o" \\
    "$library/site-packages/__pycache__/a.pyc"
cp applied "$library/applied"
ln -s python3.13 "$root/bin/python3"
echo "CFLAGS=-I$TMPDIR/debs/usr/include -O3" > "$library/config-3.13-x/Makefile"
echo "build_time_vars = {'prefix': '/prefix-of-python', 'CFLAGS': '$CPPFLAGS -O3'}" \\
    > "$library/_sysconfigdata__linux_x.py"
"""
UNLOADABLE = "mkdir $library/lib-dynload; touch $library/lib-dynload/_ssl_failed.so\n"
LEAK = "echo $TMPDIR > $library/leak\n"
# Records the names of what it applies.
PATCH = '#!/bin/sh\nfor name; do :; done\nbasename "$name" >> applied\n'


def source_python(tmp_path: Path, make: str = MAKE, **options: object) -> BuildContext:
    """Return the context of stand-ins of Python's and OpenSSL's source packages and tools."""
    tmp_path.mkdir(exist_ok=True)
    upstream = {"Python-3.13.5/configure": CONFIGURE.encode(), "Python-3.13.5/LICENSE": b"PSF"}
    packaging = {"debian/copyright": b"all", "debian/patches/series": SERIES.encode()}
    archives = (
        source_archive(tmp_path / "p_3.13.5.orig.tar.xz", upstream),
        source_archive(tmp_path / "p_3.13.5-2.debian.tar.xz", packaging),
        *openssl_archives(tmp_path),
    )
    libz: dict[str, Content] = {
        "usr/bin/make": make,
        "usr/bin/patch": PATCH,
        "usr/bin/perl": PERL,
        f"lib/{MULTIARCH}/libz.so.1": elf_library(),
        "usr/share/doc/libz/copyright": "zlib's",
    }
    context = make_context(
        tmp_path,
        {**SOURCE, **options},
        source=[{"suite": "trixie", "sources": ["p", "openssl"]}],
        archives={path.name: path for path in archives},
        debs={"libz": libz, "make": {"usr/share/doc/make/copyright": "GPL"}},
        version="3.13.5",
    )
    write_gcc(context)
    strip = context.tools / "bin/strip"
    strip.write_text("#!/bin/sh\n")
    strip.chmod(0o755)
    return context


def test_python_is_compiled_and_installed_without_what_only_its_build_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folders have blanks in them, which no makefile of Python's could have."""
    context = source_python(tmp_path / "a folder, é")
    (context.tools / "bin/ar").write_text("#!/bin/sh\nprefix=$(false)\nexec ar\n")
    root = make(context)
    assert " ".join(tree(root)) == (
        "bin/python bin/python3 bin/python3.13 lib/libcrypto.so.3 lib/libssl.so.3 "
        "lib/libz.so.1 lib/python3.13/_sysconfigdata__linux_x.py lib/python3.13/applied "
        "lib/python3.13/config-3.13-x/Makefile lib/python3.13/os.py "
        "share/licenses/a/LICENSE share/licenses/a/copyright "
        "share/licenses/a/libz.copyright share/licenses/a/openssl.LICENSE "
        "share/licenses/a/openssl.copyright"
    )
    assert str((root / "bin/python").readlink()) == "python3.13"
    # Relinked with the interpreter inside.
    assert (root / "bin/python3.13").read_bytes().startswith(b"\x7fELF")
    library = root / "lib/python3.13"
    assert (library / "config-3.13-x/Makefile").read_text() == "CFLAGS=-O3\n"
    # In the order of the series, not of the recipe.
    assert (library / "applied").read_text() == "CVE-2.patch\nCVE-1.patch\n"
    line = capsys.readouterr().err
    assert line.startswith("  compiling OpenSSL and Python 3.13.5, on ")
    assert line.endswith("about 7 s of CPU time\n")
    script = f"#!/bin/sh\nprefix='{context.tools}'\nexec ar\n"
    assert (context.scratch / "bin/ar").read_text() == script
    # No Python of the host takes part.
    words = (context.scratch / "configure.log").read_text().split()
    folder = words[0].removesuffix("/source")
    assert f"{folder}/debs/usr/bin:/usr/bin:/bin" in " ".join(words)
    assert "false" in words and "-O9" in words and "--enable-shared" in words
    assert f"--with-openssl={folder}/openssl" in words
    words = (context.scratch / "openssl-build/configure.log").read_text().split()
    assert words[:2] == ["linux-x86_64", "no-x"]
    assert words[-1].split(":")[0] == f"{folder}/debs/usr/lib/x86_64-linux-gnu/perl-base"
    assert " ".join(tree(context.scratch / "openssl/lib")) == (
        "libcrypto.so libcrypto.so.3 libssl.so libssl.so.3"
    )
    monkeypatch.setattr("sys.base_prefix", "/a b")
    variables: dict[str, dict[str, str]] = {}
    exec((library / "_sysconfigdata__linux_x.py").read_text(), variables)
    assert variables["build_time_vars"] == {"prefix": "/a b", "CFLAGS": "-O3"}
    again = make(source_python(tmp_path / "another, deeper"))
    assert tree(again) == tree(root)
    assert all((again / name).read_bytes() == (root / name).read_bytes() for name in tree(root))


@pytest.mark.parametrize(
    ("script", "patches", "error", "message"),
    [
        (MAKE + UNLOADABLE, ["CVE-*"], IntegrityError, r"(?s)do not load.*_ssl_failed\.so"),
        (MAKE + LEAK, ["CVE-*"], IntegrityError, r"lib/python3\.13/leak names the folder"),
        (MAKE, ["CVE-*", "off*"], UsageError, r"no patch off\* in the source package"),
    ],
)
def test_a_build_that_fails(
    script: str, patches: list[str], error: type[Exception], message: str, tmp_path: Path
) -> None:
    python = {"package": "p", "patches": patches, "configure": []}
    with pytest.raises(error, match=message):
        make(source_python(tmp_path, script, python=python))


GCC = f"usr/lib/gcc/{MULTIARCH}/10"


def compiler_root(tmp_path: Path, links: Mapping[str, str]) -> Path:
    """Make a compiler of empty files with links, and return its sysroot."""
    names = [f"usr/bin/{MULTIARCH}-g++-10", f"{GCC}/cc1plus", f"lib/{MULTIARCH}/libc.so.6"]
    names += ["usr/share/doc/liba/copyright", f"{GCC}/lto1", f"lib/{MULTIARCH}/libz.so.1"]
    names += [f"usr/lib/{MULTIARCH}/libc_nonshared.a", f"usr/lib/{MULTIARCH}/libm.a"]
    files: dict[str, Content] = dict.fromkeys(names, "")
    files |= {name: Path(target) for name, target in links.items()}
    extra = {"stage": "compiler", "gcc": "10"}
    return make(make_context(tmp_path, extra, debs={"liba": files})) / "lib/gxx-sysroot"


def test_a_compiler_has_a_sysroot_whose_links_stay_in_it(tmp_path: Path) -> None:
    library = f"usr/lib/{MULTIARCH}"
    links = {f"{library}/libc.so": f"/lib/{MULTIARCH}/libc.so.6", f"{library}/lto.so": "left-out"}
    root = compiler_root(tmp_path, links)
    files = [path for path in tree(root) if not path.startswith("usr/bin/")]
    assert files == [
        f"lib/{MULTIARCH}/libc.so.6",
        f"{GCC}/cc1plus",
        f"{library}/libc.so",
        f"{library}/libc_nonshared.a",
        # Where the compiler's own programs look.
        f"{library}/libz.so.1",
    ]
    assert str((root / library / "libc.so").readlink()) == f"../../../lib/{MULTIARCH}/libc.so.6"
    assert tree(root.parents[1]) >= ["bin/ar", "bin/as", "bin/g++", "bin/gcc", "bin/ld"]
    assert (root.parents[1] / "share/licenses/a/liba.copyright").is_file()
