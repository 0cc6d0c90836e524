"""Stand-ins of OpenSSL's source package, whose libraries are there before it is compiled."""

from __future__ import annotations

from pathlib import Path

from unit.helpers.archives import source_archive
from unit.helpers.staging import elf_library

# Runs a shell script in place of Perl's.
PERL = b'#!/bin/sh\nexec sh "$@"\n'
CONFIGURE = b"""\
#!/bin/sh
echo "$* $PERL5LIB" > "$TMPDIR/configure.log"
"""


def openssl_archives(folder: Path) -> tuple[Path, Path]:
    """Write the archives of OpenSSL's source package."""
    upstream = {
        "Configure": CONFIGURE,
        "LICENSE.txt": b"Apache-2.0",
        "include/openssl/ssl.h": b"",
        "libcrypto.so.3": elf_library(),
        "libssl.so.3": elf_library(),
    }
    packaging = {"debian/copyright": b"all", "debian/patches/series": b"a.patch\n"}
    return (
        source_archive(
            folder / "openssl_3.5.7.orig.tar.gz",
            {f"openssl-3.5.7/{name}": data for name, data in upstream.items()},
        ),
        source_archive(folder / "openssl_3.5.7-1.debian.tar.xz", packaging),
    )
