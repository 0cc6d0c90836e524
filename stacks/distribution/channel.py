"""`./invoke publish-channel`: a channel for any conda client, in a folder or a registry."""

import hashlib
import json
import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from stacks.channel.candidates import SUBDIRS, Channel, IndexEntry, read_channel
from stacks.core import records
from stacks.core.console import display_path, plural, step
from stacks.core.disk import explain_disk_errors, fixed_umask, replace_atomically, sha256_of
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.paths import check_working_folder, expanded
from stacks.core.process import quoted
from stacks.core.workspace import Workspace
from stacks.distribution import signature
from stacks.environments.make.pip_install import link_or_copy
from stacks.image import builder
from stacks.locks.solution import DIGESTS, Publication, packages_of, publication, source_path
from stacks.sources.fetch import fetch
from stacks.sources.registry import Blob, Registry, RegistryWriter, is_registry, registry_at
from stacks.variants.load import all_variants

SIGNATURE = f"{DIGESTS}.sig"
# Media types in a registry.
PACKAGE = "application/vnd.conda.package.v2"
PACKAGE_INDEX = "application/vnd.conda.info.index.v1+json"
REPODATA = "application/vnd.conda.repodata.v1+json"
INDEX = {"repodata.json": REPODATA, "repodata.json.zst": f"{REPODATA}+zst"}
FILE = "application/octet-stream"
ANNOTATIONS = {"org.conda.oci.schema": "1"}


def publish_channel(
    workspace: Workspace,
    to: str,
    *,
    include: Collection[str] = (),
    key: str = "",
    check: bool = False,
    images: bool = False,
) -> None:
    """Publish the channel in a folder or a registry, or check a folder.

    include: packages that are published only on request. key: as of `signature.private_key`, empty
    for none. Raises UsageError for options that do not belong together.
    """
    # Before the packages are built.
    signer = signature.private_key(workspace, key) if key else None
    if is_registry(to):
        for option, given in (("--check compares", check), ("--images writes to", images)):
            if given:
                raise UsageError(f"{option} a folder", fix="leave it out, or name a folder")
        target = registry_at(to, "--to")
        published, paths = prepare(workspace, include)
        push(target, published, paths, _signed(published.digests, signer))
        report(published, is_signed=signer is not None)
        return
    folder = Path(os.path.realpath(expanded(to)))
    if check:
        check_folder(workspace, folder, include=include)
    else:
        check_working_folder(folder)
        publish_to_folder(workspace, folder, include=include, key=signer, images=images)


def publish_to_folder(
    workspace: Workspace,
    folder: Path,
    *,
    include: Collection[str] = (),
    key: Ed25519PrivateKey | None = None,
    images: bool = False,
) -> None:
    """Write the channel of all locks into a folder, in place of the one that is there.

    include: packages that are published only on request. key: the private key. images: also what
    the Dockerfiles build with. Raises UsageError if the folder has anything else, StaleError for a
    stale lock, IntegrityError if a package has other bytes than the locked ones.
    """
    if unlisted := _unlisted(folder):
        raise UsageError(
            f"{folder} has files that are not of a published channel",
            found=", ".join(unlisted[:3]) + (" ..." if len(unlisted) > 3 else ""),
            fix="choose an empty or new folder: publishing replaces all that is in it",
        )
    published, paths = prepare(workspace, include)
    with step("publish", display_path(folder)), fixed_umask(), replace_atomically(folder) as new:
        for path, source in paths.items():
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(source, new / path)
        if images:
            builder.write(workspace, new / builder.FOLDER)
        tools = {path: sha256_of(new / path) for path in builder.FILES if images}
        lists = _signed({**published.digests, **tools}, key)
        for path, data in {**published.files, **lists}.items():
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            (new / path).write_bytes(data)
    report(published, is_signed=key is not None)


def _signed(digests: Mapping[str, str], key: Ed25519PrivateKey | None) -> dict[str, bytes]:
    """Return the list of digests and its signature, by path in a channel."""
    data = records.digests_text(digests).encode()
    return {DIGESTS: data, **({SIGNATURE: key.sign(data)} if key else {})}


def prepare(workspace: Workspace, include: Collection[str]) -> tuple[Publication, dict[str, Path]]:
    """Return what to publish, and the files of packages and sources by their paths in it.

    Sources are fetched first: one that is nowhere is reported before any package is built. Then
    packages that the cache lacks are fetched or built. Raises FetchError or IntegrityError.
    """
    channel = read_channel(workspace)
    _check_names(channel, include)
    published = publication(workspace, channel, all_variants(workspace), include)
    sources = fetch(workspace, published.sources)
    paths = {source_path(pin): sources[pin] for pin in published.sources}
    return published, paths | packages_of(workspace, channel, published.entries)


def _check_names(channel: Channel, names: Collection[str]) -> None:
    known = {
        candidate.recipe.package.name
        for candidate in channel.candidates.values()
        if candidate.recipe.about.republish == "on request"
    }
    if unknown := sorted(set(names) - known):
        raise UsageError(
            f"--include: {', '.join(unknown)} cannot be included",
            expected=f"some of: {', '.join(sorted(known))}",
            fix="leave it out: all that may be republished freely is published anyway",
        )


def report(published: Publication, *, is_signed: bool) -> None:
    """Print what was published and what was left out."""
    size = sum(entry.package.size for entry in published.entries)
    sources = sum(pin.size for pin in published.sources)
    print(
        f"{plural(len(published.entries), 'package')}, {size / 1e6:.1f} MB; "
        f"{plural(len(published.sources), 'file')} of sources, {sources / 1e6:.1f} MB"
    )
    for entry in published.left_out:
        about, name = entry.recipe.about, entry.package.name
        hint = f"; --include {name} adds it" if about.republish == "on request" else ""
        print(f"left out: {name} ({about.republish}: {about.conditions}{hint})")
    if not is_signed:
        print(f"not signed: no --key was given; {DIGESTS} lists the digest of each file")
    sys.stdout.flush()


def check_folder(workspace: Workspace, folder: Path, *, include: Collection[str] = ()) -> None:
    """Compare each file of a published channel with what the locks say.

    What Dockerfiles build with is compared with the channel's own list. Nothing is built, and no
    network is used. A signature that is there must be good. Raises IntegrityError, which names what
    differs, StaleError for a stale lock.
    """
    if not (folder / DIGESTS).is_file():
        raise UsageError(f"{folder} is no published channel", fix="publish it: leave out --check")
    channel = read_channel(workspace)
    _check_names(channel, include)
    locked = publication(workspace, channel, all_variants(workspace), include)
    listed = records.parse_digests((folder / DIGESTS).read_text(errors="replace"))
    # These change with every commit: who signed the list vouches for them.
    tools = {path: digest for path, digest in listed.items() if path in builder.FILES}
    expected = {**locked.digests, **tools}
    digests = records.digests_text(expected).encode()
    expected[DIGESTS] = hashlib.sha256(digests).hexdigest()
    present = records.list_files(folder)
    signed = present.pop(SIGNATURE, None)
    with explain_disk_errors(folder):
        faults = records.differences(expected, present, {f"{builder.FOLDER}/{builder.STATIC}"})
    if faults:
        words: list[str | Path] = ["./invoke", "publish-channel", "--to", folder]
        words += ["--include", ",".join(sorted(include))] if include else []
        words += ["--images"] if tools else []
        words += ["--key", "KEY"] if signed else []
        raise IntegrityError(
            f"{folder} differs from the locks:\n{faults}", fix=f"publish it again: {quoted(words)}"
        )
    if signed:
        signature.check_signature(workspace, digests, signed.read_bytes())
    parts = [f"{plural(len(expected) - 1 - len(tools), 'file')} as in the locks"]
    if tools:
        parts.append(f"{plural(len(tools), 'file')} of {builder.FOLDER}/ as listed")
    print(f"{folder}: {', '.join(parts)}, {'signed' if signed else 'not signed'}")


def _unlisted(folder: Path) -> list[str]:
    """Return the paths of files that the folder's own list of digests does not name."""
    if not folder.is_dir():
        return [folder.name] if folder.exists() else []
    present = records.list_files(folder)
    text = present[DIGESTS].read_text(errors="replace") if DIGESTS in present else ""
    return sorted(present.keys() - records.parse_digests(text).keys() - {DIGESTS, SIGNATURE})


def push(
    registry: Registry,
    published: Publication,
    paths: Mapping[str, Path],
    lists: Mapping[str, bytes],
) -> None:
    """Push a publication, in the layout that py-rattler reads; what is there is not sent again.

    A package is the repository CHANNEL/SUBDIR/NAME with the tag VERSION-BUILD. The index of a
    subdir is CHANNEL/SUBDIR/repodata.json:latest. The list of digests and the sources are the
    project's own: CHANNEL/index:latest and CHANNEL/sources:latest.

    paths: the files of packages and sources. lists: the list of digests and its signature, by path.
    They come last, so that they name nothing that is missing. Raises FetchError.
    """
    writer, sent = RegistryWriter(registry), 0
    with step("push", "") as summaries:
        for entry in published.entries:
            package, index = entry.package, json.dumps(dict(entry.index), sort_keys=True).encode()
            sent += writer.put_manifest(
                registry.repository(package.subdir, package.name),
                tag_of(entry),
                [Blob(PACKAGE, paths[entry.path], package.filename), Blob(PACKAGE_INDEX, index)],
                {
                    **ANNOTATIONS,
                    "org.conda.package.name": package.name,
                    "org.conda.package.version": package.version,
                    "org.conda.package.build": package.build,
                },
            )
        sources = [Blob(FILE, paths[source_path(p)], p.filename) for p in published.sources]
        latest = {"sources": sources} if sources else {}
        for subdir in SUBDIRS:
            latest[f"{subdir}/repodata.json"] = [
                Blob(kind, published.files[f"{subdir}/{name}"], name)
                for name, kind in INDEX.items()
            ]
        latest["index"] = [Blob(FILE, data, name) for name, data in sorted(lists.items())]
        for name, layers in latest.items():
            annotations = ANNOTATIONS if name.endswith(".json") else {}
            sent += writer.put_manifest(f"{registry.name}/{name}", "latest", layers, annotations)
        summaries.append(f"{registry.host}/{registry.name}: {sent / 1e6:.1f} MB sent")


def tag_of(entry: IndexEntry) -> str:
    """Return the tag of a package: a tag has no +, ! and =."""
    tag = f"{entry.package.version}-{entry.package.build}"
    return tag.replace("+", "__p__").replace("!", "__e__").replace("=", "__eq__")
