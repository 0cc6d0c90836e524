"""Files of an image, with the same bytes wherever they are made: compiled beforehand, and packed.

What is compiled, the framework's first modules and the bytecode of all Python, must run on another
CPU, as another user and at another path than where it was compiled.
"""

import hashlib
import json
import os
import shutil
import stat
import tarfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import IO, cast

import deflate

from stacks.channel.settings_files import COMPILE_FOLDER, COMPILE_HOOK, PTH, rc_text
from stacks.channel.settings_files import HOOK as SETTINGS_HOOK
from stacks.core import reproducible
from stacks.core.disk import REPOSITORY, explain_disk_errors, tmp_folder
from stacks.core.errors import UsageError
from stacks.core.process import call
from stacks.core.reproducible import EPOCH
from stacks.sources.registry import Blob
from stacks.variants.variant import Variant
from verify.core import machine

# The variant's environment in an image.
PREFIX = PurePosixPath("/opt/theano")
CONTENT = REPOSITORY / "docker" / "content"
HOOK = "_theano_stacks_compiledir"
# GCC 10 does not have the name x86-64-v3 yet.
MARCH = "haswell"
CPU_FLAGS = ("abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe")
# Installers rarely run, and their bytecode would be 5 MB.
LEFT_OUT = r"site-packages/(pip|setuptools|pkg_resources)/"
# With these its compiled modules run on other machines. The hook sets them in an image.
FLAGS = {
    "gcc.cxxflags": f"-march={MARCH}",
    # The framework's default contains the kernel's version.
    "compiledir_format": "compiledir",
}
# zlib's bytes differ between its versions and forks, those of a pinned libdeflate do not.
LEVEL = 6
# Bytes that are compressed at once; gzip allows one stream after another.
CHUNK = 32 << 20


def check_machine() -> None:
    """Raise UsageError if this CPU cannot run what is compiled for the images."""
    flags = str(machine.cpu_field("flags")).split()
    missing = [flag for flag in CPU_FLAGS if flag not in flags]
    if missing:
        raise UsageError(
            "this CPU cannot run the modules that an image contains, so it cannot make the image",
            expected=f"the CPU's flags {' '.join(CPU_FLAGS)} (Intel since Haswell, AMD since Zen)",
            found=f"no {' '.join(missing)}",
            fix="make the image on another machine; it runs here, and compiles for this CPU",
        )


def warm(variant: Variant, environment: Path) -> None:
    """Compile the modules that every start of the framework needs into its compile folder.

    Raises CommandError with the framework's own message if that fails.
    """
    with tmp_folder() as temporary:
        folder = environment / COMPILE_FOLDER
        rc_file = temporary / "rc"
        rc_file.write_text(rc_text(warm_flags(variant, folder)), encoding="utf-8")
        paths = CONTENT / "warm.py", folder, environment, Path(PREFIX), temporary / "compiler"
        call(
            [environment / "bin/python", *paths],
            cwd=temporary,
            env={**_variables(temporary), variant.framework.rc_variable: str(rc_file)},
        )


def warm_flags(variant: Variant, folder: Path) -> dict[str, str]:
    """Return the framework's flags with which it compiles these modules into a folder."""
    # PyTensor's default linker is numba, whose results cannot be shipped.
    flags = {**FLAGS, "base_compiledir": str(folder), "linker": "cvm"}
    # The machine that makes the image may have no GPU; PoCL is in the environment.
    return {**flags, "device": "cpu"} if variant.device == "cuda" else flags


def add_hook(variant: Variant, environment: Path, key: str) -> None:
    """Give each user of the image a writable compile folder when Python starts.

    key: the folder's name, which must differ between environments.
    """
    # Variables that name a folder below the environment's var.
    var = "{prefix}/var/"
    variables = sorted(variant.variables.items())
    folders = [f"{name}={value[len(var) :]}" for name, value in variables if value.startswith(var)]
    text = (CONTENT / "compiledir.py").read_text()
    for word, value in {
        "key": key,
        "rc_variable": variant.framework.rc_variable,
        "march": MARCH,
        "format": FLAGS["compiledir_format"],
        "cpu_flags": " ".join(CPU_FLAGS),
        # Inside of a Python string, also of Python 2.7.
        "folders": json.dumps("\n".join(folders))[1:-1],
    }.items():
        text = text.replace(f"{{{word}}}", value)
    site_packages = environment / f"lib/python{variant.framework.python}/site-packages"
    (site_packages / f"{HOOK}.py").write_text(text)
    # This one does more: it has compiled modules to begin with.
    (site_packages / f"{COMPILE_HOOK}.py").unlink(missing_ok=True)
    path = site_packages / PTH
    # It may be a hard link into the cache.
    path.unlink(missing_ok=True)
    path.write_text(f"import {SETTINGS_HOOK}\nimport {HOOK}\n")


def to_bytecode(environment: Path, python: str) -> None:
    """Compile every Python file of the environment, in one process and a fixed order."""
    folder = environment / f"lib/python{python}"
    # Python 2.7's bytecode contains the time of its source.
    normalise(folder)
    if python == "2.7":
        options = ["-d", f"{PREFIX}/lib/python{python}"]
    else:
        options = ["--invalidation-mode", "unchecked-hash", "-s", str(environment)]
        options += ["-p", str(PREFIX)]
    options += ["-x", LEFT_OUT]
    with tmp_folder() as temporary:
        call(
            [environment / "bin/python", "-m", "compileall", "-q", "-f", *options, folder],
            cwd=temporary,
            env=_variables(temporary),
            # 1: a file is not Python of this version; some libraries have such tests.
            accepted=(0, 1),
        )


def _variables(temporary: Path) -> dict[str, str]:
    # Precompiled headers contain settings of this machine.
    return reproducible.environment(temporary, OMP_NUM_THREADS="1", THEANO_STACKS_QUICK="0")


def normalise(root: Path, folders: Mapping[str, int] | None = None) -> None:
    """Set the time of everything in a folder to EPOCH, and modes that do not depend on the umask.

    Files get 755 or 644, or where their owner cannot write, 555 or 444: these are links into the
    cache. Folders get 755 or, by their path below `root`, the mode in `folders`.
    """
    modes = folders or {}
    for path in _walk(root):
        status = path.lstat()
        if not stat.S_ISLNK(status.st_mode):
            of_file = (0o555 if status.st_mode & 0o100 else 0o444) | status.st_mode & 0o200
            usual = 0o755 if stat.S_ISDIR(status.st_mode) else of_file
            mode = modes.get(str(path.relative_to(root)), usual)
            if stat.S_IMODE(status.st_mode) != mode:
                path.chmod(mode)
        # Most files are links into the cache, which have this time already.
        if status.st_mtime_ns != EPOCH * 10**9:
            os.utime(path, (EPOCH, EPOCH), follow_symlinks=False)


def write(root: Path, out: IO[bytes], below: str = "") -> None:
    """Write a normalised folder's content as a tar archive, sorted, owned by root.

    below: the folder in the archive that it is in.
    """
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(_walk(root), key=lambda path: path.relative_to(root).parts):
            if path == root:
                continue
            entry = tarfile.TarInfo(str(PurePosixPath(below, path.relative_to(root))))
            status = path.lstat()
            entry.mode, entry.mtime = stat.S_IMODE(status.st_mode), EPOCH
            if stat.S_ISREG(status.st_mode):
                entry.size = status.st_size
                with path.open("rb") as file:
                    tar.addfile(entry, file)
                continue
            if stat.S_ISLNK(status.st_mode):
                entry.type, entry.mode = tarfile.SYMTYPE, 0o777
                entry.linkname = str(path.readlink())
            else:
                entry.type = tarfile.DIRTYPE
            tar.addfile(entry)


def digest_of(root: Path) -> str:
    """Return the digest (`sha256:...`) of the tar archive of a normalised folder."""
    digest = hashlib.sha256()
    write(root, cast("IO[bytes]", SimpleNamespace(write=digest.update)))
    return f"sha256:{digest.hexdigest()}"


def _walk(root: Path) -> Iterator[Path]:
    """Yield a folder and what is in it, each folder after its content."""
    for name, folders, files in os.walk(root, topdown=False):
        folder = Path(name)
        yield from (folder / file for file in files)
        yield from (folder / child for child in folders if (folder / child).is_symlink())
        yield folder


LAYER = "application/vnd.oci.image.layer.v1.tar"


def compress(contents: Mapping[str, Path], folder: Path) -> tuple[Blob, ...]:
    """Compress layers by name into `folder`, and return them in order.

    contents: each a tar archive, or a normalised folder.
    """
    with explain_disk_errors(folder), ThreadPoolExecutor(len(contents)) as pool:
        return tuple(pool.map(lambda name: _compress(contents[name], folder / name), contents))


def _compress(content: Path, target: Path) -> Blob:
    with target.open("wb") as file:
        compressor = _Compressor(file)
        out = cast("IO[bytes]", compressor)
        if content.is_dir():
            write(content, out)
        else:
            with content.open("rb") as archive:
                shutil.copyfileobj(archive, out, 1 << 20)
        compressor.flush_chunk()
    return Blob(f"{LAYER}+gzip", target, diff_id=f"sha256:{compressor.inside.hexdigest()}")


class _Compressor:
    """Hashes and compresses what is written to it."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out, self.waiting, self.inside = out, bytearray(), hashlib.sha256()

    def write(self, block: bytes) -> None:
        self.inside.update(block)
        self.waiting += block
        while len(self.waiting) >= CHUNK:
            self.flush_chunk()

    def flush_chunk(self) -> None:
        """Compress up to CHUNK bytes of what waits."""
        if data := bytes(self.waiting[:CHUNK]):
            del self.waiting[:CHUNK]
            self.out.write(deflate.gzip_compress(data, LEVEL))
