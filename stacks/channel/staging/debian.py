"""Debian's packages: unpack binary ones, with their licences; patch and compile source ones."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path

from pydantic import Field

from stacks.channel.build_context import BuildContext
from stacks.channel.staging.tree import matches, only
from stacks.core import reproducible
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.models import Line, Name, RelativePath, Strict
from stacks.core.process import call
from stacks.sources.unpack import make_relative, unpack_deb, unpack_tar
from verify.core import machine

MULTIARCH = "x86_64-linux-gnu"
# The deb with the texts of common licences, to which copyright files refer by this path.
TEXTS_DEB = "base-files"
TEXTS = "usr/share/common-licenses"
TEXT = re.compile(rf"/{TEXTS}/([A-Za-z0-9][A-Za-z0-9.+-]*[A-Za-z0-9])")


def unpack_debs(context: BuildContext, target: Path | None = None) -> Path:
    """Unpack every deb of the recipe but TEXTS_DEB, one over another; return the folder.

    It is `target`, by default `context.unpacked`. Absolute links become relative ones to it, so
    that all links lead to files below it.
    """
    target = target or context.unpacked
    target.mkdir(parents=True, exist_ok=True)
    for name in context.debs:
        if name != TEXTS_DEB:
            unpack_deb(context.sources[name], target)
    make_relative(target)
    return target


def copy_libraries(source: Path, target: Path, patterns: Iterable[str]) -> None:
    """Copy the shared libraries, links as links, that match any of the patterns.

    `source` is the folder of the unpacked debs. Raises UsageError for a pattern without a match.
    """
    target.mkdir(parents=True, exist_ok=True)
    for pattern in patterns:
        for path in matches(
            library_folders(source), pattern, "correct `extra.libraries` in the recipe"
        ):
            if not (target / path.name).exists():
                shutil.copy2(path, target / path.name, follow_symlinks=False)


def copy_licences(source: Path, context: BuildContext, left_out: Sequence[str] = ()) -> None:
    """Copy the copyright file of every deb to share/licenses, and the texts that they refer to.

    left_out: debs of which nothing is in the package. Debs of one source package may share the
    file: the folder of one is a link to another's. Raises IntegrityError where a file is in a deb
    that the recipe does not name.
    """
    texts = set()
    for name in context.debs:
        if name == TEXTS_DEB or name in left_out:
            continue
        folder = source / "usr/share/doc" / name
        owner = folder.readlink().name if folder.is_symlink() else name
        if owner not in context.debs or not (folder / "copyright").is_file():
            raise IntegrityError(
                f"the deb {name} has no copyright file",
                expected=f"usr/share/doc/{owner}/copyright",
                fix="pin another version"
                if owner == name
                else f"add {owner} to the debs of the recipe",
            )
        if owner == name:
            target = context.licences / f"{name}.copyright"
            shutil.copyfile(folder / "copyright", target)
            texts |= set(TEXT.findall(target.read_text(encoding="utf-8", errors="replace")))
    _copy_texts(context, texts)


def _copy_texts(context: BuildContext, texts: Iterable[str]) -> None:
    """Copy the texts of common licences out of TEXTS_DEB."""
    folder = context.tmp / "texts"
    if TEXTS_DEB in context.debs:
        unpack_deb(context.sources[TEXTS_DEB], folder)
    for name in sorted(texts):
        text = folder / TEXTS / name
        if not text.is_file():
            raise IntegrityError(
                f"a deb's copyright file refers to the text of {name}, which is in no deb",
                expected=f"{TEXTS}/{name}",
                fix=f"add {TEXTS_DEB} to the debs of the recipe",
            )
        shutil.copyfile(text, context.licences / name)


# OpenSSL's build runs Perl, which is Debian's, out of the recipe's debs.
PERL_MODULES = (
    f"usr/lib/{MULTIARCH}/perl-base",
    f"usr/lib/{MULTIARCH}/perl/5.32",
    "usr/share/perl/5.32",
)
# The beginning of the scripts of the recipe gxx, and their search.
SEARCH = b"#!/bin/sh\nprefix="
PREFIX = re.compile(rb"^prefix=.*$", re.MULTILINE)
OPENSSL_LIBRARIES = ("libcrypto.so", "libssl.so")

# Runs a program of the build in its folder.
Run = Callable[[Sequence[str]], str]


class SourcePackage(Strict):
    """A source package of Debian's to compile."""

    package: Name
    patches: tuple[RelativePath, ...] = Field(
        strict=False, description="patterns of Debian's patches to apply, in the series' order"
    )
    configure: tuple[Line, ...] = Field(strict=False, description="options of its configure script")


def library_folders(debs: Path) -> list[Path]:
    """Return the folders of the libraries in unpacked debs."""
    return [debs / "usr/lib" / MULTIARCH, debs / "lib" / MULTIARCH]


def runner(
    context: BuildContext, debs: Path, source: Path, libraries: Sequence[Path], **variables: str
) -> Run:
    """Return what runs a program with the channel's compiler and the tools of unpacked debs.

    libraries: the folders in which programs find theirs. Its variables are those of a reproducible
    build, and the given ones.
    """
    programs = source.parent / "bin"
    _write_programs(context.tools, programs)
    environment = reproducible.environment(
        source.parent,
        PATH=f"{programs}:{context.tools}/bin:{debs}/usr/bin:/usr/bin:/bin",
        PWD=str(source),
        LC_ALL="C",
        TZ="UTC",
        LD_LIBRARY_PATH=":".join(map(str, libraries)),
        CC="gcc",
        CXX="g++",
        AR="ar",
        RANLIB="ranlib",
        **variables,
    )
    return lambda words: call(words, cwd=source, env=environment)


def _write_programs(tools: Path, folder: Path) -> None:
    """Write the compiler's scripts without their search for their own folder.

    The search costs 3 ms, and a build starts a compiler some two thousand times.
    """
    prefix = f"prefix={shlex.quote(str(tools))}".encode()
    folder.mkdir(parents=True, exist_ok=True)
    for script in (tools / "bin").iterdir():
        text = script.read_bytes()
        if text.startswith(SEARCH):
            target = folder / script.name
            target.write_bytes(PREFIX.sub(lambda _: prefix, text))
            target.chmod(0o755)


def unpack_source(context: BuildContext, package: SourcePackage, source: Path, run: Run) -> None:
    """Unpack a source package to `source`, with Debian's folder beside it, and apply patches.

    Raises IntegrityError unless there is one archive of each kind.
    """
    tmp = source.parent
    unpack_upstream(context, package.package, source)
    unpack_tar(_archive(context, package.package, "debian"), tmp / "packaging")
    patches = tmp / "packaging/debian/patches"
    for name in chosen((patches / "series").read_text(), package.patches):
        run(["patch", "-p1", "-s", "--no-backup-if-mismatch", "-i", str(patches / name)])
    # Equal times: make writes nothing again that the archive has.
    for path in source.rglob("*"):
        os.utime(path, (reproducible.EPOCH, reproducible.EPOCH), follow_symlinks=False)


def unpack_upstream(context: BuildContext, package: str, target: Path) -> None:
    """Unpack the upstream archive of a source package to the new folder `target`.

    Raises IntegrityError unless there is one archive, of one folder.
    """
    archive = _archive(context, package, "orig")
    with tempfile.TemporaryDirectory(dir=context.tmp) as folder:
        unpack_tar(archive, Path(folder) / "upstream")
        top = only((Path(folder) / "upstream").iterdir(), f"{archive.name}: folders at its top")
        target.parent.mkdir(parents=True, exist_ok=True)
        top.rename(target)


def _archive(context: BuildContext, package: str, kind: str) -> Path:
    """Return the archive of a kind (orig, debian) of a source package."""
    pattern = rf"{re.escape(package)}_.*\.{kind}\.tar\.\w+"
    found = [path for file, path in context.sources.items() if re.fullmatch(pattern, file)]
    return only(found, f"the source package {package}: its files *.{kind}.tar.*")


def chosen(series: str, patterns: Sequence[str]) -> list[str]:
    """Return the patches of a series (quilt(1)) that match a pattern, in its order.

    Raises UsageError for a pattern that matches none.
    """
    names = [line.split()[0] for line in series.splitlines() if line.strip()]
    names = [name for name in names if not name.startswith("#")]
    for pattern in patterns:
        if not any(fnmatch(name, pattern) for name in names):
            raise UsageError(
                f"no patch {pattern} in the source package",
                fix="correct the `patches` in the recipe",
            )
    return [name for name in names if any(fnmatch(name, pattern) for pattern in patterns)]


def jobs() -> str:
    """Return make's option for all usable cores."""
    return f"-j{machine.usable_cores()}"


def check_no_folder(root: Path, folders: Sequence[str], fix: str) -> None:
    """Raise IntegrityError for a file that names a folder of the build."""
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            if any(os.fsencode(folder) in content for folder in folders):
                raise IntegrityError(
                    f"{path.relative_to(root)} names the folder in which it was compiled", fix=fix
                )


def configure_openssl(
    context: BuildContext, tmp: Path, debs: Path, package: SourcePackage
) -> Callable[[], None]:
    """Unpack, patch and configure OpenSSL; return what then compiles its libraries.

    tmp/openssl has its headers then, and after the compilation its libraries. debs: the folder
    of the unpacked debs, which have make, patch and Perl. Raises CommandError if a program fails,
    IntegrityError if the source package has other files than expected.
    """
    folder, target = tmp / "openssl-build", tmp / "openssl"
    folder.mkdir()
    source = folder / "source"
    run = runner(
        context,
        debs,
        source,
        library_folders(debs),
        PERL="perl",
        PERL5LIB=":".join(str(debs / each) for each in PERL_MODULES),
        PERL_HASH_SEED="0",
    )
    unpack_source(context, package, source, run)
    run(["perl", "./Configure", *package.configure])
    run(["make", "-s", jobs(), "build_generated"])
    shutil.copytree(source / "include/openssl", target / "include/openssl")
    shutil.copyfile(source / "LICENSE.txt", context.licences / "openssl.LICENSE")
    shutil.copyfile(folder / "packaging/debian/copyright", context.licences / "openssl.copyright")

    def compile_libraries() -> None:
        run(["make", "-s", jobs(), *OPENSSL_LIBRARIES])
        (target / "lib").mkdir()
        for name in OPENSSL_LIBRARIES:
            [library] = source.glob(f"{name}.*")
            shutil.copyfile(library, target / "lib" / library.name)
            (target / "lib" / name).symlink_to(library.name)

    return compile_libraries
