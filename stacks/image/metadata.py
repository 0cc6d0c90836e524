"""An image's names, how it starts, and its bill of materials (CycloneDX).

In the bill a package of the project's channel lists the debs and wheels it was made from, under the
names that vulnerability databases use.
"""

import importlib.metadata
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from stacks.channel.candidates import Channel
from stacks.core.reproducible import CREATED, TIMESTAMP
from stacks.core.workspace import Workspace
from stacks.environments.make.packages import PackageToInstall
from stacks.image import base
from stacks.image.files import PREFIX
from stacks.locks.lock import Lock
from stacks.sources.pins import DebPin, IndexPin, canonical
from stacks.variants.load import default_framework
from stacks.variants.variant import Variant

ENTRY = PurePosixPath("/usr/local/bin/theano-stacks")
HOME = PurePosixPath("/home/theano")
WORK = PurePosixPath("/work")
USER, UID, GID = "theano", 10001, 0


@dataclass(frozen=True, kw_only=True)
class ImageConfig:
    """An image's names, labels, and what an engine starts in it."""

    repository: str
    tags: tuple[str, ...]
    description: str
    environment: dict[str, str]
    labels: dict[str, str]
    user: str
    workdir: str
    entrypoint: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names with their tags, `theano-mkl:1.0.5`; the most exact one comes first."""
        return tuple(f"{self.repository}:{tag}" for tag in self.tags)

    @property
    def file_name(self) -> str:
        """The name of the image's file."""
        return f"{self.repository}-{self.tags[0]}.oci.tar"


def config_of(workspace: Workspace, variant: Variant) -> ImageConfig:
    """Return a variant's image config."""
    framework = variant.framework
    default = framework.name == default_framework(workspace)
    # Not the module's name: Theano-PyMC's is theano, too.
    repository = f"{framework.name.removesuffix('-' + framework.version)}-{variant.name}"
    if variant.file:
        # Its folder may have the name of a flavour, whose image it must not replace.
        repository = f"stack-{variant.name}"
    description = f"{variant.summary}, on {framework.summary}"
    return ImageConfig(
        repository=repository,
        tags=(framework.version, "latest") if default or variant.file else (framework.version,),
        description=description,
        environment={
            "PATH": f"{PREFIX}/bin:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(HOME),
            "USER": USER,
            "LANG": "C.UTF-8",
            # Theano's keys of some modules contain Python's hash of a text. With a random seed,
            # each process would compile these modules again.
            "PYTHONHASHSEED": "0",
            **variant.exported(PREFIX),
        },
        labels={
            "org.opencontainers.image.title": repository,
            "org.opencontainers.image.description": description,
            "org.opencontainers.image.version": framework.version,
            "org.opencontainers.image.created": TIMESTAMP,
            "org.opencontainers.image.base.name": base.name(workspace),
        },
        user=f"{UID}:{GID}",
        workdir=str(WORK),
        entrypoint=(str(ENTRY),),
    )


RELEASES = {"bullseye": "debian-11", "bookworm": "debian-12", "trixie": "debian-13"}
# A source package is the file that names its others.
PACKAGES = (".deb", ".dsc")
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_OID, "theano-stacks")


def render(
    config: ImageConfig,
    key: str,
    to_install: Sequence[PackageToInstall],
    lock: Lock,
    channel: Channel,
    base: Mapping[DebPin, Sequence[str]],
    site_packages: Path,
) -> str:
    """Return the document, the same text for the same image.

    key: the hash of everything that decides the image. channel: the recipes. base: the licences of
    each of its packages. site_packages: the folder that pip installed into.
    """
    debs = [_pinned(pin, "base", licences) for pin, licences in base.items()]
    conda = {package.name: _conda(package, channel) for package in to_install}
    licences = _licences_in(site_packages)
    wheels = [
        _pinned(pin, "pip", licences.get(canonical(pin.name), ())) for pin in lock.requirements
    ]
    image = Component(
        type=ComponentType.CONTAINER,
        name=config.repository,
        version=config.tags[0],
        bom_ref=config.names[0],
        description=config.description,
    )
    bom = Bom(
        serial_number=uuid.uuid5(NAMESPACE, f"{key} {len(debs)}"),
        metadata=BomMetaData(component=image, timestamp=CREATED),
        components=[*debs, *conda.values(), *wheels],
    )
    bom.register_dependency(image, [*debs, *conda.values(), *wheels])
    for package in to_install:
        needed = {spec.split()[0] for spec in package.index["depends"]}
        dependencies = [conda[name] for name in sorted(needed & conda.keys())]
        bom.register_dependency(conda[package.name], dependencies)
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"


def _conda(package: PackageToInstall, channel: Channel) -> Component:
    """Return a conda package, with its sources if its recipe is the project's."""
    index, candidate = package.index, channel.candidates.get(package.file_name)
    qualifiers = {"build": index["build"], "subdir": index["subdir"], "type": "conda"}
    purl = PackageURL("conda", None, package.name, index["version"], qualifiers)
    pinned = candidate.recipe.pins(channel.pins) if candidate else ()
    described = {pin.name for pin in pinned if pin.filename.endswith(".dsc")}
    return _component(
        purl,
        "conda",
        package.built.sha256,
        [index["license"]] if index.get("license") else (),
        description=candidate.recipe.about.summary if candidate else None,
        components=[
            _pinned(pin, package.name)
            for pin in pinned
            if pin.name not in described or pin.filename.endswith(PACKAGES)
        ],
    )


def _pinned(pin: DebPin | IndexPin, where: str, licences: Sequence[str] = ()) -> Component:
    name = pin.filename
    if isinstance(pin, DebPin):
        arch = name[:-4].rpartition("_")[2] if name.endswith(".deb") else "source"
        qualifiers = {"arch": arch, "distro": RELEASES.get(pin.suite, pin.suite)}
        purl = PackageURL("deb", "debian", pin.name, pin.version, qualifiers)
    else:
        qualifiers = {"file_name": name}
        purl = PackageURL("pypi", None, canonical(pin.name), pin.version, qualifiers)
    return _component(purl, where, pin.sha256, licences)


def _component(
    purl: PackageURL, where: str, sha256: str, licences: Sequence[str], **more: Any
) -> Component:
    factory = LicenseFactory()
    # Only a single licence may be an SPDX expression; a name can be any text.
    make = factory.make_from_string if len(licences) == 1 else factory.make_with_name
    return Component(
        type=ComponentType.LIBRARY,
        name=purl.name,
        version=purl.version,
        bom_ref=f"{where}/{purl}",
        purl=purl,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=sha256)],
        licenses=[make(text) for text in licences],
        **more,
    )


def _licences_in(site_packages: Path) -> dict[str, tuple[str, ...]]:
    """Return {distribution: its licence} of what is installed, if the metadata is short enough."""
    licences: dict[str, tuple[str, ...]] = {}
    for item in importlib.metadata.distributions(path=[str(site_packages)]):
        metadata = item.metadata.json
        named = str(metadata.get("license_expression") or metadata.get("license") or "")
        if not named or "\n" in named or len(named) >= 80:
            # The field may contain the licence's whole text.
            lines = [line for line in metadata.get("classifier", []) if line[:7] == "License"]
            named = lines[0].rpartition(" :: ")[2] if lines else ""
        if named not in ("", "UNKNOWN"):
            licences[canonical(str(metadata["name"]))] = (named,)
    return licences
