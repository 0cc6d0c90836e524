"""OpenSSL compiled from Debian's source package, for the Python that is compiled with it.

Its build runs Perl, which is Debian's, out of the recipe's debs. Left out are the programs, the
tests, engines and the legacy provider: Python's ssl and hashlib use none of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.debian import MULTIARCH
from stacks.channel.staging.debian_source import jobs, library_folders, runner, unpack_source

CONFIGURE = (
    "linux-x86_64",
    "shared",
    "no-apps",
    "no-docs",
    "no-dso",
    "no-engine",
    "no-legacy",
    "no-makedepend",
    "no-module",
    "no-tests",
    "--prefix=/usr",
    "--libdir=lib",
    # Where Debian has the system's certificates.
    "--openssldir=/usr/lib/ssl",
)
PERL_MODULES = (
    f"usr/lib/{MULTIARCH}/perl-base",
    f"usr/lib/{MULTIARCH}/perl/5.32",
    "usr/share/perl/5.32",
)
LIBRARIES = ("libcrypto.so", "libssl.so")


def compile_openssl(
    context: BuildContext, scratch: Path, debs: Path, patterns: Sequence[str]
) -> Path:
    """Compile the source package `openssl` below `scratch`; return a folder of include/ and lib/.

    debs: the folder of the unpacked debs, which have make, patch and Perl. patterns: of Debian's
    patches. Raises CommandError where it does not compile, IntegrityError where the source package
    has other files than expected.
    """
    room = scratch / "openssl-build"
    room.mkdir()
    source = room / "source"
    run = runner(
        context,
        debs,
        source,
        library_folders(debs),
        PERL="perl",
        PERL5LIB=":".join(str(debs / folder) for folder in PERL_MODULES),
        PERL_HASH_SEED="0",
    )
    unpack_source(context, "openssl", source, patterns, run)
    run(["perl", "./Configure", *CONFIGURE])
    run(["make", "-s", jobs(), "build_generated"])
    run(["make", "-s", jobs(), *LIBRARIES])
    target = scratch / "openssl"
    (target / "lib").mkdir(parents=True)
    for name in LIBRARIES:
        [library] = source.glob(f"{name}.*")
        shutil.copyfile(library, target / "lib" / library.name)
        (target / "lib" / name).symlink_to(library.name)
    shutil.copytree(source / "include/openssl", target / "include/openssl")
    context.licences.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / "LICENSE.txt", context.licences / "openssl.LICENSE")
    shutil.copyfile(room / "packaging/debian/copyright", context.licences / "openssl.copyright")
    return target
