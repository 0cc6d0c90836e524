"""A definition file for Apptainer and Singularity, from the image in a file: no engine is needed.

Apptainer's user guide, "Definition Files".
"""

from __future__ import annotations

from stacks.exports.subject import Export, Subject, require_image
from stacks.image.config import ENTRY
from stacks.image.oci import file_name


def export(subject: Subject) -> Export:
    """Return a definition file; UsageError if the variant has no image."""
    require_image(subject, "apptainer")
    # Without its tag, the bill of materials beside the image could be meant as well.
    image = f"{file_name(subject.image)}:{subject.image.tags[0]}"
    text = f"""\
# {subject.name}
Bootstrap: oci-archive
From: {image}

%environment
    # The user's home is mounted, with packages for other Pythons in it.
    export PYTHONNOUSERSITE=1

%runscript
    exec {ENTRY} "$@"
"""
    nvidia = " --nv" if subject.variant.device == "cuda" else ""
    usage = (
        f"./invoke build {subject.variant.option} --to oci && apptainer build {subject.name}.sif "
        f"{{to}} && apptainer run{nvidia} {subject.name}.sif python train.py"
    )
    return Export({f"{subject.name}.def": text}, usage)
