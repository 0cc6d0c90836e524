"""The name of a graph: a hash of everything that decides what Theano makes of it."""

import hashlib
import os
import platform
import sys
import types

import numpy
import theano
from theano import configparser
from theano.compile import function_module
from theano.compile import mode as modes

import theano_stacks_code as code
from theano_stacks_code import UnknownError
from theano_stacks_graphs import MARKS, Description

# Settings that do not change graphs: where files lie, what is printed or counted.
IGNORED = ("base_compiledir", "compiledir", "compiledir_format", "cache_optimizations")
IGNORED_BEGINNINGS = ("profil", "traceback", "compile.", "cmodule", "print_", "exception_")
# Settings under which the optimiser reports on its work, so it has to run.
REPORTING = ("profile_optimizer", "optimizer_verbose")
# Variables that choose kernels, and so the last bits of constants that the optimiser computes.
NUMERIC = ("OPENBLAS_", "GOTO_", "BLIS_", "MKL_", "NVPL_", "OMP_", "NPY_", "GLIBC_TUNABLES")
NUMERIC += ("LD_PRELOAD", "LD_LIBRARY_PATH")
# The modules that, once imported, change graphs, what computes their constants, or how these
# are kept.
CHANGING = ("aliases", "cache", "code", "graphs", "keys", "links", "ops", "packs", "replaced")
CHANGING += ("scan",)


def is_optimised(maker):
    """Return whether a FunctionMaker's mode optimises; scan makes a function that does not."""
    mode = modes.get_mode(maker.requested_mode)
    return getattr(mode, "provided_optimizer", None) is not modes.OPT_NONE


def key_of(maker):
    """Return the name of a FunctionMaker's graph, before it is optimised.

    Raises UnknownError where something cannot be hashed.
    """
    if theano.config.compute_test_value != "off":
        raise UnknownError("test values are computed")
    for name in REPORTING:
        if getattr(theano.config, name, False):
            raise UnknownError("%s is set" % name)
    mode = modes.get_mode(maker.requested_mode)
    if type(mode) is not modes.Mode:
        # Modes that check each value use marks on variables, which are not kept.
        raise UnknownError("the mode is a %s" % type(mode).__name__)
    fgraph, description = maker.fgraph, Description()
    description.add(INSTALLED.digest(), _processor.text, _numeric(os.environ))
    description.value(_settings())
    _add_accelerator(description)
    _refuse_patches()
    REGISTERED.describe(description)
    description.value(mode.provided_optimizer)
    description.graph(fgraph.inputs, fgraph.outputs)
    description.add("updates", sorted(fgraph.update_mapping.items()))
    for feature in fgraph._features:
        description.value(type(feature))
        if isinstance(feature, function_module.Supervisor):
            description.add([fgraph.inputs.index(each) for each in feature.protected])
    return description.hash.hexdigest()


class Files(object):
    """The hashes of the accelerator's modules."""

    def __init__(self):
        self.known = {}

    def of(self, name):
        """Return the hash of a module's file."""
        if name not in self.known:
            self.known[name] = _hash_of_module(name)
        return self.known[name]


def _hash_of_module(name):
    path = sys.modules[name].__file__
    if path.endswith((".pyc", ".pyo")):
        path = path[:-1]
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


FILES = Files()


class Installed(object):
    """Python, the packages, and Theano's own files, which a person may edit."""

    def __init__(self):
        self.known = None

    def digest(self):
        """Return a hash, the same as long as none of them changes."""
        if self.known is None:
            words = [sys.version, platform.platform(), sys.prefix, theano.__version__]
            words += [numpy.__version__, numpy.__file__]
            prefix = getattr(sys, "base_prefix", sys.prefix)
            words += sorted(_names(os.path.join(prefix, "conda-meta")))
            folder = os.path.dirname(os.path.abspath(theano.__file__))
            words += sorted(_packages(os.path.dirname(folder)))
            words += sorted(_versions_of_files(folder))
            self.known = hashlib.sha256(repr(words).encode("utf-8")).hexdigest()
        return self.known


def _names(folder):
    try:
        return [name for name in os.listdir(folder) if name.endswith(".json")]
    except EnvironmentError:
        return []


def _packages(folder):
    names = [name for name in os.listdir(folder) if name.endswith(("-info", ".egg"))]
    return [name for name in names if name.lower().startswith(code.VERSIONED)]


def _versions_of_files(folder):
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in ("tests", "__pycache__")]
        for name in names:
            if name.endswith(".py"):
                file = os.path.join(path, name)
                status = os.stat(file)
                yield "%s %d %r" % (os.path.relpath(file, folder), status.st_size, status.st_mtime)


INSTALLED = Installed()


class _Processor(object):
    """The first processor's name and features, on which computed constants depend."""

    def __init__(self):
        self.text = platform.machine()
        try:
            with open("/proc/cpuinfo") as file:
                for line in file:
                    if line.startswith(("model name", "flags")):
                        self.text += line
                    elif not line.strip():
                        break
        except EnvironmentError:
            pass


_processor = _Processor()


def _numeric(environ):
    return sorted(pair for pair in environ.items() if pair[0].startswith(NUMERIC))


def _settings():
    settings = {}
    for each in configparser._config_var_list:
        name = each.fullname
        if name not in IGNORED and not name.startswith(IGNORED_BEGINNINGS):
            settings[name] = str(each.__get__(True, None))
    return settings


def _add_accelerator(description):
    for name in CHANGING:
        if "theano_stacks_" + name in sys.modules:
            description.add(name, FILES.of("theano_stacks_" + name))


def _refuse_patches():
    """Raise UnknownError if a program has put something in the place of Theano's functions."""
    for name, module in sorted(sys.modules.items()):
        if module is None or name.split(".")[0] != "theano":
            continue
        for where, function in _functions(name, module):
            if code.is_function_of_program(function):
                raise UnknownError("%s.%s is a program's" % (name, where))


def _functions(name, module):
    for where, value in list(vars(module).items()):
        kind = type(value)
        if kind is types.FunctionType:
            yield where, value
        elif isinstance(value, type) and value.__module__ == name:
            for attribute, member in list(vars(value).items()):
                if type(member) in (staticmethod, classmethod):
                    member = member.__func__
                if type(member) is types.FunctionType:
                    yield "%s.%s" % (where, attribute), member


class Registered(object):
    """The registered optimisations, described again only when others are registered."""

    def __init__(self):
        self.identities, self.known = None, None

    def describe(self, description):
        """Add the optimisations, their tags and their order; UnknownError if one is a program's."""
        identities = list(_identities(modes.optdb))
        if identities != self.identities:
            self.identities, self.known = identities, None
            known = Description()
            known.value(_content(modes.optdb, {}))
            self.known = known
        if self.known is None:
            raise UnknownError("a registered optimisation is a program's")
        description.add(self.known.hash.hexdigest())


REGISTERED = Registered()


def _identities(database):
    yield id(database), sorted(getattr(database, "__position__", {}).items())
    for tag, registered in database.__db__.items():
        if not registered:
            # A query for a tag that a database does not have leaves one.
            continue
        yield tag, [id(each) for each in registered]
        for each in registered:
            if hasattr(each, "__db__"):
                for identity in _identities(each):
                    yield identity


def _content(database, known):
    """Return a database as plain data; each optimisation is whole at its first place only."""
    left_out = ("__db__", "_names") + MARKS
    state = {name: value for name, value in vars(database).items() if name not in left_out}
    entries = []
    for tag, registered in sorted(database.__db__.items(), key=lambda item: str(item[0])):
        for each in registered:
            first = id(each) not in known
            number = known.setdefault(id(each), len(known))
            if first:
                each = _content(each, known) if hasattr(each, "__db__") else each
            entries.append((tag, number, each if first else None))
    return type(database), state, entries
