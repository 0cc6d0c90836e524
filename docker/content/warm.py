"""Compiles what every start of the framework and the first matrix product need, and no more.

    python warm.py FOLDER PREFIX FINAL SCRATCH

FOLDER is the compile folder, PREFIX the environment, FINAL the path that it will have. Runs under
the environment's Python, from 2.7 on; what it leaves depends on the environment alone.
"""

import importlib
import os
import pickle
import re
import shutil
import subprocess
import sys

FOLDER, PREFIX, FINAL, SCRATCH = sys.argv[1:]
# Without the maps, paths of this machine would get into the modules through __FILE__; of two that
# fit, the last is taken.
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
    """A set that is pickled in an order that no address decides."""

    def __init__(self, items):
        self.items = items

    def __reduce__(self):
        """Return what makes a plain set again."""
        return set, (sorted(self.items, key=lambda item: pickle.dumps(item, 2)),)


def use_compiler(folder):
    """Put a compiler first on PATH whose output bears no path of this machine."""
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
            # Theano 1.0.5 never keeps this one: it takes an op without properties for unversioned.
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
    """Return the first of these modules that is there."""
    for name in names[:-1]:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return importlib.import_module(names[-1])


def normalise(folder):
    """Leave of each module the library and its key, under a name that follows from the key."""
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
    """Give a module's folder the name that its key says, and the key the path it will have."""
    path = os.path.join(folder, name, "key.pkl")
    with open(path, "rb") as file:
        data = pickle.load(file)
    library = [item for item in os.listdir(os.path.join(folder, name)) if item.endswith(".so")][0]
    # Not the library's own name: modules of the same code for different keys share that.
    final = "tmp" + data.module_hash[-16:]
    place = os.path.join(FINAL, "var", "compiledir", os.path.basename(folder), final)
    data.keys = Sorted(data.keys)
    data.key_pkl = os.path.join(place, "key.pkl")
    data.entry = os.path.join(place, library)
    with open(path, "wb") as file:
        pickle.dump(data, file, 2)
    os.rename(os.path.join(folder, name), os.path.join(folder, final))


def main():
    """Compile, then take out of the folder all that is this machine's or this process's."""
    use_compiler(SCRATCH)
    folder = compile_all().compiledir
    normalise(str(folder))
    # The framework's own clean-up at exit would write there again.
    sys.stdout.flush()
    os._exit(0)


main()
