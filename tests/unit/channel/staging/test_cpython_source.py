"""Python from source: make, patch and configure do what the real ones do, on few files."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.channel.staging import cpython_source
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.debian import MULTIARCH
from stacks.core.errors import IntegrityError
from unit.helpers.archives import deb, member
from unit.helpers.openssl import PERL, openssl_archives, source_archive
from unit.helpers.staging import elf_library, make_context, tree, write_gcc

EXTRA = {
    "stage": "cpython-source",
    "python": {"package": "p", "patches": ["CVE-*"], "configure": ["--enable-shared"]},
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


def python_context(tmp_path: Path, make: str = MAKE) -> BuildContext:
    tmp_path.mkdir(exist_ok=True)
    upstream = source_archive(
        tmp_path / "p_3.13.5.orig.tar.xz",
        {"Python-3.13.5/configure": CONFIGURE.encode(), "Python-3.13.5/LICENSE": b"PSF"},
    )
    packaging = source_archive(
        tmp_path / "p_3.13.5-2.debian.tar.xz",
        {"debian/copyright": b"all", "debian/patches/series": SERIES.encode()},
    )
    files = {
        "usr/bin/make": make.encode(),
        "usr/bin/patch": PATCH.encode(),
        "usr/bin/perl": PERL,
        f"lib/{MULTIARCH}/libz.so.1": elf_library(),
        "usr/share/doc/libz/copyright": b"zlib's",
    }
    libz = deb(
        tmp_path / "libz.deb", *[(member(f"./{n}", mode=0o755), b) for n, b in files.items()]
    )
    tool = deb(tmp_path / "make.deb", (member("./usr/share/doc/make/copyright"), b"GPL"))
    context = make_context(
        tmp_path,
        EXTRA,
        [
            {"suite": "trixie", "sources": ["p", "openssl"]},
            {"suite": "bullseye", "debs": ["libz", "make"]},
        ],
        {
            **{path.name: path for path in (upstream, packaging, *openssl_archives(tmp_path))},
            "libz": libz,
            "make": tool,
        },
    )
    write_gcc(context)
    strip = context.tools / "bin/strip"
    strip.write_text("#!/bin/sh\n")
    strip.chmod(0o755)
    package = context.recipe.package.model_copy(update={"version": "3.13.5"})
    recipe = context.recipe.model_copy(update={"package": package})
    return BuildContext(recipe, context.sources, context.root, context.scratch, context.tools)


def test_python_is_installed_without_what_only_its_build_needs(tmp_path: Path) -> None:
    """The folder has a blank in it, which no makefile of Python's could have."""
    context = python_context(tmp_path / "a folder, é")
    cpython_source.stage(context)
    assert tree(context.root) == [
        "bin/python",
        "bin/python3",
        "bin/python3.13",
        "lib/libcrypto.so.3",
        "lib/libssl.so.3",
        "lib/libz.so.1",
        "lib/python3.13/_sysconfigdata__linux_x.py",
        "lib/python3.13/applied",
        "lib/python3.13/config-3.13-x/Makefile",
        "lib/python3.13/os.py",
        "share/licenses/a/LICENSE",
        "share/licenses/a/copyright",
        "share/licenses/a/libz.copyright",
        "share/licenses/a/openssl.LICENSE",
        "share/licenses/a/openssl.copyright",
    ]
    assert str((context.root / "bin/python").readlink()) == "python3.13"
    # Relinked with the interpreter inside.
    assert (context.root / "bin/python3.13").read_bytes().startswith(b"\x7fELF")
    library = context.root / "lib/python3.13"
    assert (library / "config-3.13-x/Makefile").read_text() == "CFLAGS=-O3\n"
    assert (library / "applied").read_text() == "CVE-2.patch\nCVE-1.patch\n"


def test_sysconfig_names_the_prefix_of_the_python_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = python_context(tmp_path)
    cpython_source.stage(context)
    monkeypatch.setattr("sys.base_prefix", "/a b")
    variables: dict[str, dict[str, str]] = {}
    data = context.root / "lib/python3.13/_sysconfigdata__linux_x.py"
    exec(data.read_text(), variables)
    assert variables["build_time_vars"] == {"prefix": "/a b", "CFLAGS": "-O3"}


def test_no_python_of_the_host_takes_part(tmp_path: Path) -> None:
    context = python_context(tmp_path)
    cpython_source.stage(context)
    words = (context.scratch / "configure.log").read_text().split()
    folder = words[0].removesuffix("/source")
    assert words[1] == f"{context.tools}/bin:{folder}/debs/usr/bin:/usr/bin:/bin"
    assert "false" in words and "-O9" in words and "--enable-shared" in words
    assert f"--with-openssl={folder}/openssl" in words


def test_it_prints_what_it_compiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cpython_source.stage(python_context(tmp_path))
    line = capsys.readouterr().err
    assert line.startswith("  compiling OpenSSL and Python 3.13.5, on ")
    assert line.endswith("about 7 s of CPU time\n")


def test_a_module_that_does_not_load_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match=r"(?s)modules .* do not load.*_ssl_failed\.so"):
        cpython_source.stage(python_context(tmp_path, MAKE + UNLOADABLE))


def test_two_builds_in_other_folders_are_the_same(tmp_path: Path) -> None:
    contents = []
    for name in ("one", "another, deeper"):
        context = python_context(tmp_path / name)
        cpython_source.stage(context)
        files = {p: context.root / p for p in tree(context.root)}
        contents.append({name: path.read_bytes() for name, path in files.items()})
    assert contents[0] == contents[1]


def test_a_file_that_names_the_folder_of_the_build_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match=r"lib/python3\.13/leak names the folder"):
        cpython_source.stage(python_context(tmp_path, MAKE + LEAK))
