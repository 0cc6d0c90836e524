"""Finding and reading the files of variants: those of envs/, and a stack.yaml beside one's code."""

import hashlib
import json
import re
from pathlib import Path

from stacks.core import yamlfile
from stacks.core.console import display_path
from stacks.core.errors import UsageError, unknown
from stacks.core.models import NAME
from stacks.core.workspace import Workspace
from stacks.variants import stack
from stacks.variants.files import THROUGH_NUMPY, BlasFile, FlavourFile, FrameworkFile
from stacks.variants.variant import Blas, Framework, Variant, check_name, on_other_channel


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


def load_framework(workspace: Workspace, name: str) -> Framework:
    """Return the framework of a full name; UsageError if it is missing or wrong."""
    content = yamlfile.load(workspace.envs / "frameworks" / f"{name}.yaml", FrameworkFile)
    return Framework(name=name, **dict(content))


def default_framework(workspace: Workspace) -> str:
    """Return the name of the default framework."""
    defaults = [n for n in framework_names(workspace) if load_framework(workspace, n).default]
    if len(defaults) != 1:
        raise UsageError(
            f"{display_path(workspace.envs / 'frameworks')}: no framework is the default",
            expected="`default: true` in exactly one file",
            found=", ".join(defaults) or "none",
        )
    return defaults[0]


def load_variant(workspace: Workspace, name: str, framework: str | None = None) -> Variant:
    """Return a variant by the path of its stack.yaml, or of that one's folder, or as load_flavour.

    Raises UsageError if it is missing or wrong.
    """
    if file := stack.file_of(name):
        return _of_stack(workspace, stack.read(file), framework)
    return load_flavour(workspace, name, framework)


def load_flavour(workspace: Workspace, name: str, framework: str | None = None) -> Variant:
    """Return a flavour on a framework, by default the default one if the flavour supports it.

    `FRAMEWORK/FLAVOUR` names both. `flavour@channel` has another channel's packages; see
    `on_other_channel`. Raises UsageError where either does not exist or is not valid, or they do
    not fit.
    """
    name, _, channel = name.partition("@")
    framework, name = _parts(workspace, name, framework)
    flavour, frameworks = _resolve(workspace, name)
    if framework is None:
        default = default_framework(workspace)
        framework = default if default in frameworks else frameworks[0]
    else:
        framework = framework_named(workspace, framework)
    if framework not in frameworks:
        raise UsageError(
            f"{name} does not support {framework}", expected=f"one of {', '.join(frameworks)}"
        )
    variant = _variant(workspace, name, flavour, framework)
    return on_other_channel(variant, channel) if channel else variant


def all_variants(workspace: Workspace) -> tuple[Variant, ...]:
    """Return every flavour on each framework that it supports, sorted by framework and name."""
    default_framework(workspace)
    resolved = {name: _resolve(workspace, name) for name in flavour_names(workspace)}
    return tuple(
        _variant(workspace, name, flavour, framework)
        for framework in framework_names(workspace)
        for name, (flavour, frameworks) in resolved.items()
        if framework in frameworks
    )


def select(workspace: Workspace, name: str = "", framework: str = "") -> tuple[Variant, ...]:
    """Return the variants of a flavour and a framework, or of a stack.yaml; "" selects all."""
    if stack.file_of(name):
        return (load_variant(workspace, name, framework or None),)
    name, _, channel = name.partition("@")
    chosen, name = _parts(workspace, name, framework or None)
    if name and name not in flavour_names(workspace):
        raise unknown("variant", name, flavour_names(workspace))
    variants = on_framework(workspace, chosen) if chosen else all_variants(workspace)
    selected = tuple(v for v in variants if name in ("", v.name))
    if not selected:
        raise UsageError(f"{name} does not support {chosen}")
    return tuple(on_other_channel(v, channel) for v in selected) if channel else selected


def on_framework(workspace: Workspace, name: str | None = None) -> tuple[Variant, ...]:
    """Return every variant on a framework, by default on the default one."""
    name = framework_named(workspace, name) if name else default_framework(workspace)
    return tuple(v for v in all_variants(workspace) if v.framework.name == name)


def _parts(workspace: Workspace, name: str, framework: str | None) -> tuple[str | None, str]:
    """Return the framework and the flavour of FLAVOUR or FRAMEWORK/FLAVOUR."""
    own, _, flavour = name.rpartition("/")
    if not re.fullmatch(NAME, own):
        return framework, name
    if framework and framework_named(workspace, framework) != framework_named(workspace, own):
        raise UsageError(
            f"--framework {framework}: {name} names its own", fix="leave out --framework"
        )
    return own, flavour


def _of_stack(workspace: Workspace, found: stack.Stack, framework: str | None) -> Variant:
    """Return the variant of a stack.yaml; UsageError with file, line and column."""
    content, where = found.content, found.positions.where
    for kind, name, known in (
        ("variant", content.extends, flavour_names(workspace)),
        ("framework", content.framework, framework_names(workspace)),
    ):
        key = "extends" if kind == "variant" else kind
        if name not in known:
            raise unknown(kind, name, known, where=where((key,)))
    if framework and framework_named(workspace, framework) != content.framework:
        raise UsageError(
            f"--framework {framework}: {display_path(found.file)} has its own",
            found=content.framework,
            fix="leave out --framework, or edit the file",
        )
    try:
        base = load_flavour(workspace, content.extends, content.framework)
    except UsageError as error:
        raise UsageError(
            f"{where(('framework',))}: {error.what}", expected=error.expected, fix=error.fix
        ) from None
    variant = base.model_copy(
        update={
            "name": stack.name_of(found.file),
            "summary": content.summary,
            "file": found.file,
            "declared": content.model_dump(mode="json", exclude={"summary", "pip", "requirements"}),
            "requests": found.requests,
            "floatX": content.floatX or base.floatX,
            "flags": {**base.flags, **content.flags},
            "variables": {**base.variables, **content.environment},
            "packages": (*base.packages, *content.packages),
            # A stack that links a library by a flag of its own is none.
            "baseline": base.baseline
            and not any(flag.startswith("blas") for flag in content.flags),
        }
    )
    own, theirs = ((each.theano_flags(), each.variables) for each in (variant, base))
    if own == theirs:
        return variant
    text = json.dumps([base.settings_label, *own], sort_keys=True)
    label = f"own_{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return variant.model_copy(update={"settings_label": label})


def _names(folder: Path) -> tuple[str, ...]:
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    for name in names:
        check_name(name, f"{display_path(folder)}: the name of a file")
    return tuple(names)


def _variant(workspace: Workspace, name: str, flavour: FlavourFile, framework: str) -> Variant:
    blas = None
    if flavour.blas != THROUGH_NUMPY:
        found = yamlfile.load(workspace.envs / "blas" / f"{flavour.blas}.yaml", BlasFile)
        blas = Blas(name=str(flavour.blas), **dict(found))
    content = dict(flavour)
    for key in ("extends", "frameworks", "environment"):
        del content[key]
    content |= {"name": name, "framework": load_framework(workspace, framework), "blas": blas}
    content["variables"] = {**(blas.environment if blas else {}), **flavour.environment}
    # A build string of conda has no dash.
    return Variant(**content, settings_label=name.replace("-", "_"))


def _resolve(workspace: Workspace, name: str) -> tuple[FlavourFile, tuple[str, ...]]:
    """Return a flavour merged with what it extends, and the frameworks that it supports."""
    merged = _merged(workspace, name, "", ())
    for key in ("python_packages", "blas"):
        if getattr(merged, key) is None:
            path = display_path(workspace.envs / "variants" / f"{name}.yaml")
            raise UsageError(
                f"{path}: expected the key {key!r}, here or in what it extends, found none"
            )
    return merged, merged.frameworks or framework_names(workspace)


def _merged(workspace: Workspace, name: str, where: str, above: tuple[str, ...]) -> FlavourFile:
    """Return a flavour over all that it extends; where: what names it; above: what extends it."""
    if name in above:
        raise UsageError(
            f"{where}: `extends` forms a circle",
            found=" extends ".join([*above[above.index(name) :], name]),
            fix="remove `extends` from one of them",
        )
    known = flavour_names(workspace)
    if name not in known:
        raise unknown("variant", name, known, where=where)
    flavour, positions = yamlfile.read(workspace.envs / "variants" / f"{name}.yaml", FlavourFile)
    _check_names(workspace, flavour, positions)
    if flavour.extends is None:
        return flavour
    where = positions.where(("extends",))
    return _over(_merged(workspace, flavour.extends, where, (*above, name)), flavour)


def _check_names(workspace: Workspace, flavour: FlavourFile, positions: yamlfile.Positions) -> None:
    blas = (THROUGH_NUMPY, *_names(workspace.envs / "blas"))
    if flavour.blas is not None and flavour.blas not in blas:
        raise unknown("BLAS", flavour.blas, blas, where=positions.where(("blas",)))
    known = framework_names(workspace)
    for i, framework in enumerate(flavour.frameworks):
        if framework not in known:
            raise unknown("framework", framework, known, where=positions.where(("frameworks", i)))


def _over(below: FlavourFile, above: FlavourFile) -> FlavourFile:
    """Return a flavour with the keys of the one that extends it."""
    update = {key: getattr(above, key) for key in above.model_fields_set}
    for key in ("flags", "environment"):
        update[key] = {**getattr(below, key), **getattr(above, key)}
    update["packages"] = (*below.packages, *above.packages)
    return below.model_copy(update=update)
