from __future__ import annotations

from stacks.exports import apptainer
from unit.exports.conftest import NASTY, MakeSubject


def test_the_image_that_build_writes_to_a_file(subject: MakeSubject) -> None:
    export = apptainer.export(subject("mkl", summary=NASTY))
    [(name, text)] = export.files.items()
    assert name == "theano-1.0.5-mkl.def"
    assert text == (
        "# theano-1.0.5-mkl\n"
        "Bootstrap: oci-archive\n"
        "From: theano-mkl-1.0.5.oci.tar:1.0.5\n"
        "\n"
        "%environment\n"
        "    # The user's home is mounted, with packages for other Pythons in it.\n"
        "    export PYTHONNOUSERSITE=1\n"
        "\n"
        "%runscript\n"
        '    exec /usr/local/bin/theano-stacks "$@"\n'
    )
    assert "apptainer run theano-1.0.5-mkl.sif" in export.usage


def test_a_gpu_is_passed_through(subject: MakeSubject) -> None:
    export = apptainer.export(subject("gpuarray-cuda"))
    assert "apptainer run --nv theano-1.0.5-gpuarray-cuda.sif" in export.usage
