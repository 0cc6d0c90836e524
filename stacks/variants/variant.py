"""Variants: a flavour (how BLAS, libm and device are chosen) on a framework.

envs/variants/NAME.yaml     flavours, which may extend each other
envs/frameworks/NAME.yaml   which Theano on which Python, with what
envs/blas/NAME.yaml         a BLAS library, and how Theano reaches it
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field

from stacks.core import yamlfile
from stacks.core.console import display_path
from stacks.core.errors import UsageError
from stacks.core.models import IN_WORDS, NAME, Strict
from stacks.core.suggestions import unknown
from stacks.core.workspace import Workspace
from stacks.variants.files import (
    THROUGH_NUMPY,
    BlasFile,
    Device,
    FlavourFile,
    FloatX,
    FrameworkFile,
    Libm,
    PythonPackages,
    Specs,
)

# The package in locks for `libm: amdlibm`: AMD's own must not be redistributed.
AMDLIBM = "amdlibm-compat"

# Packages that a framework's `accelerator` may name: what is in force from `import theano` on, and
# the fix of scan's gradient that a program imports.
ACCELERATOR = "theano-stacks"
SCAN_FIX = "theano-stacks-scan"

# Their names in the framework's flag `device`.
DEVICES = {"cpu": "cpu", "opencl": "opencl0:0", "cuda": "cuda"}


class Framework(FrameworkFile):
    """A framework with its name."""

    name: str


class Blas(BlasFile):
    """A BLAS library with its name."""

    name: str


class Variant(Strict):
    """A flavour on a framework, resolved."""

    name: str
    summary: str
    framework: Framework
    blas: Blas | None
    python_packages: PythonPackages
    libm: Libm
    device: Device
    floatX: FloatX  # noqa: N815
    flags: dict[str, str]
    variables: dict[str, str]
    packages: Specs
    baseline: bool
    # The label of its packages' channel, `conda-forge` in `mkl@conda-forge`; empty for the
    # project's own. The lock has the channel's address.
    channel: str = Field("", exclude=True)

    @property
    def id(self) -> str:
        """The name among all variants, `theano-1.0.5/pip-openblas`."""
        return f"{self.framework.name}/{self.name}"

    @property
    def one_blas(self) -> bool:
        """Whether the framework, NumPy and SciPy use one BLAS: all are linked to libblas."""
        return self.framework.libblas and self.python_packages == "conda" and bool(self.blas)

    @property
    def accelerator(self) -> Specs:
        """The names of its framework's accelerator packages; the baseline has none."""
        return () if self.baseline else self.framework.accelerator

    def conda_specs(self) -> Specs:
        """Return the match specs of all requested conda packages, sorted."""
        own = self.framework.packages if self.python_packages == "conda" else ()
        blas = (self.blas.package,) if self.blas else ()
        if self.blas and self.one_blas:
            blas = (*blas, f"libblas=*=*{self.blas.name}")
        libm = (AMDLIBM,) if self.libm == "amdlibm" else ()
        # Another channel has no accelerator: see stacks/environments/accelerator.py.
        accelerator = () if self.channel else self.accelerator
        base = (*self.framework.base, *accelerator)
        return tuple(sorted({*base, *own, *blas, *libm, *self.packages}))

    def pip_requirements(self) -> tuple[str, ...]:
        """Return `name==version` of what pip installs, in order; empty for conda flavours."""
        return self.framework.pip if self.python_packages == "pip" else ()

    def theano_flags(self) -> dict[str, str]:
        """Return the framework's flags, `section.name` to value; the flavour's flags win."""
        amdlibm = {self.framework.amdlibm_flag: "True"} if self.libm == "amdlibm" else {}
        device = {"device": DEVICES[self.device]} if self.framework.has_device else {}
        return {
            "floatX": self.floatX,
            **device,
            # Empty for the baseline: it must not find a library of the machine.
            "blas.ldflags": self.blas.ldflags if self.blas else "",
            **amdlibm,
            **self.flags,
        }

    def environment(self) -> dict[str, str]:
        """Return its environment variables."""
        return self.variables


def flavour_names(workspace: Workspace) -> tuple[str, ...]:
    """Return the names of all flavours, sorted."""
    return _names(workspace.envs / "variants")


def framework_names(workspace: Workspace) -> tuple[str, ...]:
    """Return the names of all frameworks, sorted."""
    return _names(workspace.envs / "frameworks")


def framework_named(workspace: Workspace, name: str) -> str:
    """Return a framework's full name; the version is optional if there is only one.

    Raises UsageError if there is none of that name.
    """
    known = framework_names(workspace)
    names = [n for n in known if n == name] or [n for n in known if n.rpartition("-")[0] == name]
    if len(names) != 1:
        raise unknown("framework", name, known)
    return names[0]


def default_framework(workspace: Workspace) -> str:
    """Return the name of the default framework."""
    defaults = [n for n in framework_names(workspace) if _framework(n, workspace.envs).default]
    if len(defaults) != 1:
        raise UsageError(
            f"{display_path(workspace.envs / 'frameworks')}: no framework is the default",
            expected="`default: true` in exactly one file",
            found=", ".join(defaults) or "none",
        )
    return defaults[0]


def load_variant(workspace: Workspace, name: str, framework: str | None = None) -> Variant:
    """Return a flavour on a framework, by default the default one if the flavour supports it.

    `flavour@channel` is the flavour with another channel's packages; see `on_other_channel`.
    Raises UsageError if either does not exist or is not valid, or they do not fit.
    """
    name, _, channel = name.partition("@")
    flavour, frameworks = _resolve(workspace, name, workspace.envs)
    if framework is None:
        default = default_framework(workspace)
        framework = default if default in frameworks else frameworks[0]
    else:
        framework = framework_named(workspace, framework)
    if framework not in frameworks:
        raise UsageError(
            f"{name} does not support {framework}", expected=f"one of {', '.join(frameworks)}"
        )
    variant = _variant(name, flavour, _framework(framework, workspace.envs), workspace.envs)
    return on_other_channel(variant, channel) if channel else variant


def all_variants(workspace: Workspace) -> tuple[Variant, ...]:
    """Return every flavour on each framework that it supports, sorted by framework and name."""
    default_framework(workspace)
    resolved = {
        name: _resolve(workspace, name, workspace.envs) for name in flavour_names(workspace)
    }
    return tuple(
        _variant(name, flavour, _framework(framework, workspace.envs), workspace.envs)
        for framework in framework_names(workspace)
        for name, (flavour, frameworks) in resolved.items()
        if framework in frameworks
    )


def select(workspace: Workspace, name: str = "", framework: str = "") -> tuple[Variant, ...]:
    """Return the variants of a flavour and a framework; an empty name selects all."""
    name, _, channel = name.partition("@")
    if name and name not in flavour_names(workspace):
        raise unknown("variant", name, flavour_names(workspace))
    variants = on_framework(workspace, framework) if framework else all_variants(workspace)
    selected = tuple(v for v in variants if name in ("", v.name))
    if not selected:
        raise UsageError(f"{name} does not support {framework}")
    return tuple(on_other_channel(v, channel) for v in selected) if channel else selected


def on_framework(workspace: Workspace, name: str | None = None) -> tuple[Variant, ...]:
    """Return every variant on a framework, by default on the default one."""
    name = framework_named(workspace, name) if name else default_framework(workspace)
    return tuple(v for v in all_variants(workspace) if v.framework.name == name)


def _names(folder: Path) -> tuple[str, ...]:
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    for name in names:
        _check_name(name, f"{display_path(folder)}: the name of a file")
    return tuple(names)


def _check_name(name: str, what: str) -> None:
    """Raise UsageError unless a name is valid: it becomes a part of paths and commands."""
    if not re.fullmatch(NAME, name):
        raise UsageError(f"{what} is not valid", expected=IN_WORDS[NAME], found=repr(name))


def _framework(name: str, envs: Path) -> Framework:
    content = yamlfile.load(envs / "frameworks" / f"{name}.yaml", FrameworkFile)
    return Framework(name=name, **dict(content))


def _blas(name: str, envs: Path) -> Blas:
    return Blas(name=name, **dict(yamlfile.load(envs / "blas" / f"{name}.yaml", BlasFile)))


def _variant(name: str, flavour: FlavourFile, framework: Framework, envs: Path) -> Variant:
    blas = None if flavour.blas == THROUGH_NUMPY else _blas(str(flavour.blas), envs)
    content = dict(flavour)
    for key in ("extends", "frameworks", "environment"):
        del content[key]
    variables = {**(blas.environment if blas else {}), **flavour.environment}
    return Variant(
        **{**content, "name": name, "framework": framework, "blas": blas, "variables": variables}
    )


def _resolve(workspace: Workspace, name: str, envs: Path) -> tuple[FlavourFile, tuple[str, ...]]:
    """Return a flavour merged with what it extends, and the frameworks that it supports."""
    chain = _chain(workspace, name, envs)
    merged = chain[-1].value
    for document in reversed(chain[:-1]):
        merged = _over(merged, document.value)
    for key in ("python_packages", "blas"):
        if getattr(merged, key) is None:
            raise UsageError(
                f"{chain[0].positions.where(())}: expected the key {key!r}, here or in what it "
                "extends, found none"
            )
    return merged, merged.frameworks or framework_names(workspace)


def _chain(workspace: Workspace, name: str, envs: Path) -> list[yamlfile.Document[FlavourFile]]:
    """Return the files of a flavour and of all that it extends, itself first."""
    known = flavour_names(workspace)
    chain: list[yamlfile.Document[FlavourFile]] = []
    names: list[str] = []
    following: str | None = name
    while following is not None:
        where = chain[-1].positions.where(("extends",)) if chain else ""
        if following in names:
            raise UsageError(
                f"{where}: `extends` forms a circle",
                found=" extends ".join([*names[names.index(following) :], following]),
                fix="remove `extends` from one of them",
            )
        if following not in known:
            raise unknown("variant", following, known, where=where)
        document = yamlfile.read(envs / "variants" / f"{following}.yaml", FlavourFile)
        _check_names(workspace, document, envs)
        chain.append(document)
        names.append(following)
        following = document.value.extends
    return chain


def _check_names(
    workspace: Workspace, document: yamlfile.Document[FlavourFile], envs: Path
) -> None:
    flavour, where = document.value, document.positions.where
    blas = (THROUGH_NUMPY, *_names(envs / "blas"))
    if flavour.blas is not None and flavour.blas not in blas:
        raise unknown("BLAS", flavour.blas, blas, where=where(("blas",)))
    for i, framework in enumerate(flavour.frameworks):
        if framework not in framework_names(workspace):
            known = framework_names(workspace)
            raise unknown("framework", framework, known, where=where(("frameworks", i)))


def _over(below: FlavourFile, above: FlavourFile) -> FlavourFile:
    """Return a flavour with the keys of the one that extends it."""
    update = {key: getattr(above, key) for key in above.model_fields_set}
    for key in ("flags", "environment"):
        update[key] = {**getattr(below, key), **getattr(above, key)}
    update["packages"] = (*below.packages, *above.packages)
    return below.model_copy(update=update)


def on_other_channel(variant: Variant, channel: str) -> Variant:
    """Return a variant with another channel's packages: `mkl` becomes `mkl@channel`.

    Raises UsageError for a variant that needs a package of this project's channel.
    """
    _check_name(channel, f"{variant.name}@{channel}: the name of a channel")
    if variant.libm == "amdlibm":
        raise UsageError(
            f"{variant.id} is not available with another channel's packages",
            found="`libm: amdlibm`: only this project's channel has that library",
            fix="use the flavour without it, which this one extends",
        )
    changes: dict[str, object] = {
        "name": f"{variant.name}@{channel}",
        "channel": channel,
        # There, NumPy and SciPy are linked to libblas on every framework.
        "framework": variant.framework.model_copy(update={"libblas": True}),
    }
    if variant.blas and (other := variant.blas.conda_forge):
        library, *more = other.packages
        changes |= {
            # Another version, which may support other processors.
            "blas": variant.blas.model_copy(update={"package": library, "processors": ()}),
            "packages": (*variant.packages, *more),
            "variables": {**variant.variables, **other.environment},
        }
    return variant.model_copy(update=changes)
