"""A variant with the packages of another channel, whose names are conda-forge's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacks.errors import UsageError

if TYPE_CHECKING:
    from stacks.variant import Variant


def elsewhere(variant: Variant, channel: str) -> Variant:
    """Return a variant as it is with another channel's packages: `mkl` becomes `mkl@channel`.

    Raises UsageError for a variant that needs a package of the project's own.
    """
    if variant.libm == "amdlibm":
        raise UsageError(
            f"{variant.id} cannot be made of another channel's packages",
            found="`libm: amdlibm`: only this project's channel has the library for it",
            mend="take the flavour without it, which the file of this one extends",
        )
    changes: dict[str, object] = {
        "name": f"{variant.name}@{channel}",
        "channel": channel,
        # There NumPy and SciPy are linked to libblas, whatever the framework is.
        "framework": variant.framework.model_copy(update={"libblas": True}),
    }
    if variant.blas and (there := variant.blas.conda_forge):
        library, *more = there.packages
        changes |= {
            # Of another version, which may know other processors, and by other numbers.
            "blas": variant.blas.model_copy(update={"package": library, "processors": ()}),
            "packages": (*variant.packages, *more),
            "variables": {**variant.variables, **there.environment},
        }
    return variant.model_copy(update=changes)
