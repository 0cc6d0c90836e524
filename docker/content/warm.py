"""Compile the modules that every start of the framework and the first matrix product need.

    python warm.py FOLDER PREFIX FINAL SCRATCH

FOLDER is the compile folder, PREFIX the environment, FINAL its path in the image. Runs under the
environment's Python, from 2.7 on. The result depends on the environment alone.
"""

import importlib
import os
import pickle
import re
import shutil
import subprocess
import sys

FOLDER, PREFIX, FINAL, SCRATCH = sys.argv[1:]
# Without the maps, __FILE__ would put paths of this machine into the modules. GCC uses the last map
# that matches.
COMPILER = """\
#!/bin/sh
for word; do
    case $word in
        */mod.cpp) set -- "$@" "-ffile-prefix-map=${word%/*}=/theano" -Wl,--build-id=none ;;
    esac
done
exec "$FROM/bin/g++" "-ffile-prefix-map=$FROM=$TO" "$@"
"""


class Sorted(object):
    """A set that is pickled in an order that does not depend on addresses."""

    def __init__(self, items):
        self.items = items

    def __reduce__(self):
        """Return the call that makes a plain set."""
        return set, (sorted(self.items, key=lambda item: pickle.dumps(item, 2)),)


def use_compiler(folder):
    """Put a compiler first on PATH whose output has no path of this machine."""
    os.makedirs(folder)
    program = os.path.join(folder, "g++")
    with open(program, "w") as file:
        file.write(COMPILER)
    os.chmod(program, 0o755)
    os.environ.update(FROM=PREFIX, TO=FINAL)
    os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]


def compile_all():
    """Compile functions of each kind and return the framework's configuration."""
    framework = first_of("theano", "aesara", "pytensor")
    tensor = importlib.import_module(framework.__name__ + ".tensor")
    import numpy

    for dtype in ("float64", "float32"):
        a, b = tensor.matrix("a", dtype=dtype), tensor.matrix("b", dtype=dtype)
        v = tensor.vector("v", dtype=dtype)
        total = framework.shared(numpy.zeros((2, 2), dtype=dtype))
        ones = numpy.ones((2, 2), dtype=dtype)
        for inputs, outputs, updates in (
            # Theano 1.0.5 does not store this: to it, an op without properties is unversioned.
            ([a, b], [tensor.dot(a, b)], []),
            ([a, v], [tensor.dot(a, v)], []),
            ([a, b], [], [(total, total + tensor.dot(a, b))]),
            ([a, b], [a + b, tensor.exp(a)], []),
        ):
            function = framework.function(inputs, outputs, updates=updates)
            function(*[ones[0] if item is v else ones for item in inputs])
    start = tensor.vector("start", dtype=framework.config.floatX)
    scan = getattr(framework, "scan", None)
    scan = scan if callable(scan) else framework.scan.basic.scan
    steps, updates = scan(lambda last: last * 2, outputs_info=[start], n_steps=3)
    function = framework.function([start], steps, updates=updates)
    function(numpy.ones(2, dtype=framework.config.floatX))
    return framework.config


def first_of(*names):
    """Return the first of these modules that can be imported."""
    for name in names[:-1]:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return importlib.import_module(names[-1])


def normalise(folder):
    """Remove all but each module's library and key, and name its folder after the key."""
    for path, folders, names in os.walk(folder):
        for name in [item for item in folders if item in ("lock_dir", "__pycache__")]:
            shutil.rmtree(os.path.join(path, name))
            folders.remove(name)
        for name in names:
            if name in ("mod.cpp", ".lock") or name.endswith((".pyc", ".delete.me")):
                os.remove(os.path.join(path, name))
            elif name.endswith(".so"):
                strip = [os.path.join(PREFIX, "bin", "strip"), "--strip-unneeded"]
                subprocess.check_call(strip + [os.path.join(path, name)])
    for name in sorted(os.listdir(folder)):
        if os.path.isfile(os.path.join(folder, name, "key.pkl")):
            rename(folder, name)
        elif re.match("tmp", name):
            shutil.rmtree(os.path.join(folder, name))


def rename(folder, name):
    """Name a module's folder after its key, and put its final path into the key."""
    path = os.path.join(folder, name, "key.pkl")
    with open(path, "rb") as file:
        data = pickle.load(file)
    library = [item for item in os.listdir(os.path.join(folder, name)) if item.endswith(".so")][0]
    # Not the library's name, which modules of the same code but different keys share.
    final = "tmp" + data.module_hash[-16:]
    place = os.path.join(FINAL, "var", "compiledir", os.path.basename(folder), final)
    data.keys = Sorted(data.keys)
    data.key_pkl = os.path.join(place, "key.pkl")
    data.entry = os.path.join(place, library)
    with open(path, "wb") as file:
        pickle.dump(data, file, 2)
    os.rename(os.path.join(folder, name), os.path.join(folder, final))


def main():
    """Compile, then remove everything that depends on this machine or process."""
    use_compiler(SCRATCH)
    folder = compile_all().compiledir
    normalise(str(folder))
    # The framework's clean-up at exit would write to the folder again.
    sys.stdout.flush()
    os._exit(0)


main()
