"""Machines with little: a root of Debian 12, made once and kept in the cache; no network at all."""

import os
import shlex
import shutil
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from integration.programs import called
from stacks.core.disk import REPOSITORY, hold_lock, replace_atomically
from stacks.core.errors import FetchError
from stacks.core.workspace import default_workspace
from stacks.sources.debian_archive import KEYRING
from stacks.sources.debian_mirrors import current_mirrors
from stacks.sources.download import get_document
from stacks.sources.package_index import pip_settings
from stacks.sources.retrieve import address_wheel
from stacks.sources.web import UnreachableError

BUNDLE = "etc/ssl/certs/ca-certificates.crt"
PROXIES = ("http_proxy", "https_proxy", "no_proxy")


def packed_root(suite: str = "bookworm", packages: str = "python3-venv,ca-certificates") -> Path:
    """Return a tar archive of a root as debootstrap makes it: about a minute, once.

    The test is skipped where the machine lacks a program or a network. That no mirror is found, or
    that debootstrap fails, is a failure: to find one is what the tests of the root are about.
    """
    missing = [name for name in ("debootstrap", "unshare", "chroot") if not shutil.which(name)]
    if os.geteuid() or missing:
        pytest.skip(f"no bare machine: {', '.join(missing) or 'only root'} can make one")
    if not has_network():
        pytest.skip("no bare machine: no package index answers, so there is no network")
    workspace = default_workspace()
    target = workspace.cache / "bases" / f"debootstrap-{suite}-{packages.replace(',', '+')}.tar"
    with hold_lock(target, "the root of a bare machine"):
        if not target.is_file():
            with replace_atomically(target) as made:
                mirror = current_mirrors(address_wheel(workspace))[0]
                make_root(made, mirror, suite, packages)
    return target


def has_network() -> bool:
    """Return whether a package index of pip's configuration answers, with whatever status."""
    settings = pip_settings()
    web = replace(settings, retries=1)
    for url in settings.index_urls:
        try:
            get_document(web, f"{url.rstrip('/')}/pip/", "text/html")
        except UnreachableError:
            continue
        except FetchError:
            pass
        return True
    return False


def make_root(target: Path, mirror: str, suite: str, packages: str) -> None:
    root = target.with_name("root")
    words = ["debootstrap", "--variant=minbase", f"--include={packages}"]
    words += [f"--keyring={KEYRING}", suite, str(root), mirror]
    try:
        done = called(words, timeout=600)
        if done.returncode:
            last = (done.stdout + done.stderr).strip().splitlines()[-1:]
            pytest.fail(f"debootstrap fails: {''.join(last)}")
        with tarfile.open(target, "w") as archive:
            archive.add(root, ".")
    finally:
        shutil.rmtree(root, ignore_errors=True)


def give_network(root: Path) -> None:
    """Give a root what a network's operator would: name servers, a CA bundle, an index for pip."""
    shutil.copyfile("/etc/resolv.conf", root / "etc" / "resolv.conf")
    settings = pip_settings()
    bundle = settings.verify if isinstance(settings.verify, str) else f"/{BUNDLE}"
    if Path(bundle).is_file():
        (root / BUNDLE).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(bundle, root / BUNDLE)
    first, *more = [url for url in settings.index_urls if url.startswith("http")]
    lines = ["[global]", f"cert = /{BUNDLE}", f"index-url = {first}"]
    lines += [f"extra-index-url = {' '.join(more)}"] if more else []
    lines += [f"trusted-host = {' '.join(settings.trusted_hosts)}"]
    lines += [f"proxy = {settings.proxy}"] if settings.proxy else []
    (root / "etc" / "pip.conf").write_text("\n".join(lines) + "\n")


def copy_checkout(target: Path) -> Path:
    """Copy the files of this checkout that git knows, or would add."""
    listed = subprocess.run(
        ["git", "-C", REPOSITORY, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        stdout=subprocess.PIPE,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source = REPOSITORY / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)
    return target


def run_without_network(
    command: str, folder: Path, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a shell command in a network of its own that has not even a loopback interface."""
    words = ["unshare", "--net", "--map-root-user"]
    if not shutil.which("unshare") or subprocess.run([*words, "true"], check=False).returncode:
        pytest.skip("no network of its own can be made: unshare fails")
    return called(
        [*words, "sh", "-c", command],
        cwd=folder,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", **variables},
        stdin=subprocess.DEVNULL,
    )


def unpack_root(folder: Path, packages: str = "python3-venv,ca-certificates") -> Path:
    """Make the root in a folder; skip the test where that cannot be done."""
    root = folder / "root"
    root.mkdir()
    subprocess.run(["tar", "-C", root, "-xf", packed_root(packages=packages)], check=True)
    give_network(root)
    return root


def run_in_root(
    root: Path, command: str, user: str = "0:0", home: str = "root", folders: Sequence[Path] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a shell command in a root folder, by default as root; its mounts end with it.

    folders: of this machine, which the root has at the same paths.
    """
    variables = {"HOME": f"/{home}", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
    variables |= {"COLUMNS": "300", "DEBIAN_FRONTEND": "noninteractive"}
    variables |= {name: os.environ[name] for name in PROXIES if name in os.environ}
    settings = [f"{name}={value}" for name, value in variables.items()]
    chroot = ["chroot", f"--userspec={user}", str(root), "env", "-i", *settings]
    inside = shlex.join([*chroot, "sh", "-c", command])
    mounts = f"mount -t proc proc {root}/proc && mount -t tmpfs tmpfs {root}/dev/shm"
    for folder in folders:
        target = root / folder.relative_to("/")
        target.mkdir(parents=True, exist_ok=True)
        mounts += f" && mount --bind {shlex.join(map(str, (folder, target)))}"
    words = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", f"{mounts} && exec {inside}"]
    return called(words, stdin=subprocess.DEVNULL, timeout=1800)
