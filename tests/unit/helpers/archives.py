"""Debs, tar archives and zip archives made in memory."""

import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path


def member(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, mode
    info.uid = info.gid = 4242
    return info


def ar(*members: tuple[str, bytes]) -> bytes:
    archive = b"!<arch>\n"
    for name, body in members:
        archive += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(body):<10}`\n".encode()
        archive += body + b"\n" * (len(body) % 2)
    return archive


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.GNU_FORMAT) as file:
        for info, body in members:
            info.size = len(body)
            file.addfile(info, io.BytesIO(body))
    return archive.getvalue()


def deb(
    path: Path,
    *members: tuple[tarfile.TarInfo, bytes],
    suffix: str = ".xz",
    compress: Callable[[bytes], bytes] = lzma.compress,
) -> Path:
    path.write_bytes(
        ar(
            ("debian-binary", b"2.0\n"),
            ("control.tar.xz", b"odd"),
            (f"data.tar{suffix}", compress(tar(*members))),
        )
    )
    return path


def source_archive(path: Path, files: Mapping[str, bytes]) -> Path:
    """Write an archive of a source package."""
    members = [(member(name, mode=0o755), data) for name, data in files.items()]
    path.write_bytes(lzma.compress(tar(*members)))
    return path


def zip_of(path: Path, *members: tuple[str, bytes, int]) -> Path:
    """Write an uncompressed zip archive of (name, content, mode)."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content, mode in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, content)
    return path
