"""Keep optimised graphs, so that the next start of a program need not optimise them again.

    import theano_stacks_cache  # before the first theano.function

A graph's name is a hash of everything that decides how Theano optimises it: its operations with
their contents, types and constants, the mode, Theano's settings, the versions, the registered
optimisations, and the text of every module outside of Theano and NumPy that any of these come from.
The values of shared variables are not part of it: the optimiser does not use them. Where something
cannot be hashed, or a file is damaged, Theano optimises the graph.

The graphs lie in the compile folder, beside the compiled modules. Like those, they are code that a
program executes.
"""

import errno
import hashlib
import logging
import os
import pickle
import sys
import tempfile

import numpy
import theano
from theano import configparser
from theano.compile import function_module
from theano.compile import mode as modes
from theano.gof import DestroyHandler

from theano_stacks_graphs import Description, UnknownError, packed, unpacked

FOLDER = "theano_stacks_graphs"
LOGGER = logging.getLogger("theano_stacks_cache")
# Settings that do not change graphs: where files lie, what is printed or counted.
IGNORED = ("base_compiledir", "compiledir", "compiledir_format", "cache_optimizations")
IGNORED_BEGINNINGS = ("profil", "traceback", "compile.", "cmodule", "print_", "exception_")
# Packages whose version stands for their files.
VERSIONED = ("theano", "numpy", "scipy")
BUILT_IN = ("builtins", "__builtin__")
# Numbers of graphs taken from the folder, kept there, and optimised without being kept.
found = {"hits": 0, "kept": 0, "not kept": 0}


class Files(object):
    """The hashes of the modules that a graph depends on."""

    def __init__(self):
        self.known = {}

    def of(self, name):
        """Return the hash of a module's file; raises UnknownError where it has none."""
        if name not in self.known:
            self.known[name] = _hash_of_module(name)
        return self.known[name]


def _hash_of_module(name):
    if name.split(".")[0] in VERSIONED + BUILT_IN:
        return ""
    path = getattr(sys.modules.get(name), "__file__", None)
    if path is None:
        raise UnknownError("the module %s has no file" % name)
    if path.endswith((".pyc", ".pyo")):
        path = path[:-1]
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


FILES = Files()


def key_of(maker):
    """Return the name of a FunctionMaker's graph, before it is optimised.

    Raises UnknownError where something cannot be hashed.
    """
    if theano.config.compute_test_value != "off":
        raise UnknownError("test values are computed")
    mode = modes.get_mode(maker.requested_mode)
    if type(mode) is not modes.Mode:
        # Modes that check each value use marks on variables, which are not kept.
        raise UnknownError("the mode is a %s" % type(mode).__name__)
    fgraph, description = maker.fgraph, Description()
    description.add(sys.version, theano.__version__, numpy.__version__, theano.config.compiledir)
    for name in ("theano_stacks_cache", "theano_stacks_graphs", "theano_stacks_scan"):
        if name in sys.modules:
            description.add(name, FILES.of(name))
    description.value(_settings())
    REGISTERED.describe(description)
    description.value(mode.provided_optimizer)
    description.graph(fgraph.inputs, fgraph.outputs)
    description.add("updates", sorted(fgraph.update_mapping.items()))
    for feature in fgraph._features:
        description.add(type(feature).__name__)
        if isinstance(feature, function_module.Supervisor):
            description.add([fgraph.inputs.index(each) for each in feature.protected])
    for name in sorted(description.modules):
        description.add(name, FILES.of(name))
    return description.hash.hexdigest()


def _settings():
    settings = {}
    for each in configparser._config_var_list:
        name = each.fullname
        if name not in IGNORED and not name.startswith(IGNORED_BEGINNINGS):
            settings[name] = str(each.__get__(True, None))
    return settings


class Registered(object):
    """The registered optimisations, described again only when their number changes."""

    def __init__(self):
        self.count, self.known = None, None

    def describe(self, description):
        """Add names and classes; a function stands for the optimisation made from it."""
        count = _count(modes.optdb)
        if count != self.count:
            self.known = Description()
            self.known.value(_optimisations(modes.optdb))
            self.count = count
        description.add(self.known.hash.hexdigest())
        description.modules |= self.known.modules


REGISTERED = Registered()


def _count(database):
    entries = [each for registered in database.__db__.values() for each in registered]
    return len(entries) + sum(_count(each) for each in entries if hasattr(each, "__db__"))


def _optimisations(database):
    return {
        name: [_optimisation(each) for each in registered]
        for name, registered in database.__db__.items()
    }


def _optimisation(each):
    if hasattr(each, "__db__"):
        return _optimisations(each)
    function = getattr(each, "fn", None)
    return function if hasattr(function, "__module__") else type(each)


def optimize_graph_with_cache(self, optimizer, inputs, outputs):
    """Take a kept graph, or optimise; replaces FunctionMaker's own method, which is unfinished."""
    try:
        path = os.path.join(str(theano.config.compiledir), FOLDER, key_of(self) + ".pkl")
    except UnknownError as error:
        LOGGER.info("not kept: %s", error)
        found["not kept"] += 1
        return optimizer(self.fgraph)
    if _take(self.fgraph, path):
        found["hits"] += 1
        return None
    profile = optimizer(self.fgraph)
    found["kept" if _keep(self.fgraph, path) else "not kept"] += 1
    return profile


def _take(fgraph, path):
    """Replace a graph by the kept one; return whether that worked."""
    try:
        with open(path, "rb") as file:
            digest, content = file.read(64), file.read()
        if hashlib.sha256(content).hexdigest().encode("ascii") != digest:
            raise ValueError("the file is damaged")
        destroys, graph = pickle.loads(content)  # noqa: S301 - compiled code beside it is loaded too
        outputs = unpacked(fgraph.inputs, graph)
    except EnvironmentError as error:
        if error.errno != errno.ENOENT:
            LOGGER.warning("%s cannot be read: %s", path, error)
        return False
    except Exception as error:
        LOGGER.warning("%s cannot be used: %r", path, error)
        return False
    before = list(fgraph.outputs)
    try:
        _set_outputs(fgraph, outputs)
        if destroys and not hasattr(fgraph, "destroyers"):
            fgraph.attach_feature(DestroyHandler())
        fgraph.execute_callbacks("validate")
    except Exception as error:
        LOGGER.warning("%s does not fit: %r", path, error)
        _set_outputs(fgraph, before)
        return False
    return True


def _set_outputs(fgraph, outputs):
    for place, output in enumerate(outputs):
        fgraph.change_input("output", place, output, reason="theano_stacks_cache")


def _keep(fgraph, path):
    """Write an optimised graph in one step; return whether that worked."""
    destroys = hasattr(fgraph, "destroyers")
    try:
        graph = packed(fgraph.inputs, fgraph.outputs)
        content = pickle.dumps((destroys, graph), 2)
    except Exception as error:
        LOGGER.info("not kept: %r", error)
        return False
    part = None
    try:
        if not os.path.isdir(os.path.dirname(path)):
            os.makedirs(os.path.dirname(path))
        handle, part = tempfile.mkstemp(dir=os.path.dirname(path))
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(content).hexdigest().encode("ascii") + content)
        os.rename(part, path)
    except EnvironmentError as error:
        LOGGER.warning("%s cannot be written: %s", path, error)
        if part is not None and os.path.exists(part):
            os.remove(part)
        return False
    return True


def _with_requested_mode(make):
    def __init__(self, inputs, outputs, mode=None, *positional, **named):
        self.requested_mode = mode
        make(self, inputs, outputs, mode, *positional, **named)

    return __init__


def _fix():
    maker = function_module.FunctionMaker
    maker.__init__ = _with_requested_mode(maker.__init__)
    maker.optimize_graph_with_cache = optimize_graph_with_cache
    theano.config.cache_optimizations = True


_fix()
