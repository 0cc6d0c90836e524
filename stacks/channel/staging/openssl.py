"""OpenSSL's libraries from Debian's source package, for the Python that is compiled with them.

Its build runs Perl, which is Debian's, out of the recipe's debs.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from stacks.channel.stages import SourcePackage
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.debian import MULTIARCH
from stacks.channel.staging.debian_source import Run, jobs, library_folders, runner, unpack_source

PERL_MODULES = (
    f"usr/lib/{MULTIARCH}/perl-base",
    f"usr/lib/{MULTIARCH}/perl/5.32",
    "usr/share/perl/5.32",
)
LIBRARIES = ("libcrypto.so", "libssl.so")


@dataclass(frozen=True)
class OpenSSL:
    """A configured build of OpenSSL, and the folder of include/ and lib/ that it fills."""

    source: Path
    target: Path
    run: Run

    def compile_libraries(self) -> None:
        """Compile the libraries and copy them to the target; CommandError if that fails."""
        self.run(["make", "-s", jobs(), *LIBRARIES])
        (self.target / "lib").mkdir()
        for name in LIBRARIES:
            [library] = self.source.glob(f"{name}.*")
            shutil.copyfile(library, self.target / "lib" / library.name)
            (self.target / "lib" / name).symlink_to(library.name)


def configure_openssl(
    context: BuildContext, scratch: Path, debs: Path, package: SourcePackage
) -> OpenSSL:
    """Unpack, patch and configure OpenSSL below `scratch`; its target has the headers then.

    debs: the folder of the unpacked debs, which have make, patch and Perl. Raises CommandError if a
    program fails, IntegrityError if the source package has other files than expected.
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
    unpack_source(context, package, source, run)
    run(["perl", "./Configure", *package.configure])
    run(["make", "-s", jobs(), "build_generated"])
    target = scratch / "openssl"
    shutil.copytree(source / "include/openssl", target / "include/openssl")
    context.licences.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / "LICENSE.txt", context.licences / "openssl.LICENSE")
    shutil.copyfile(room / "packaging/debian/copyright", context.licences / "openssl.copyright")
    return OpenSSL(source, target, run)
