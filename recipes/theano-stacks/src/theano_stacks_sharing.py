"""Take a module that another environment compiled from the same inputs instead of compiling it.

theano_stacks_inputs names a module by its inputs, theano_stacks_modules keeps it. An input that
cannot be hashed, or any error, leads to the compiler.
"""

import logging
import os
import sys

import theano
from theano.gof import cmodule

import theano_stacks_modules as modules
from theano_stacks_inputs import Inputs, Module, UnknownError

LOGGER = logging.getLogger("theano_stacks_modules")
LIST = "theano_stacks_files"


class Shared(object):
    """The shared modules, in terms of compile_str.

    `arguments` are compile_str's without the location: module name, source, and tuples of include
    folders, library folders, libraries and compiler options.
    """

    def __init__(self):
        self.ready = False
        self.store = self.inputs = self.code = None

    def key(self, arguments, hidden=True):
        """Return a module's name in the store, None where it cannot be shared."""
        if not self.ready:
            self._prepare()
        if self.store is None or theano.config.cmodule.compilation_warning:
            return None
        name, source, _, lib_dirs, libs, options = arguments
        module = Module(
            name,
            source,
            _include_dirs(arguments),
            [each for each in lib_dirs if each] + cmodule.std_lib_dirs(),
            list(libs) + cmodule.std_libs(),
            options,
            hidden,
            theano.config.cxx,
            [self.code, bool(theano.config.cmodule.remove_gxx_opt)],
        )
        try:
            return self.inputs.key(module)
        except UnknownError as error:
            LOGGER.info("not shared: %s", error)
            return None

    def _prepare(self):
        """Open the store; late, so that programs that compile nothing need none."""
        self.ready = True
        prefix = getattr(sys, "base_prefix", sys.prefix)
        self.inputs = Inputs(prefix, str(cmodule.gcc_version()), os.environ)
        try:
            # How Theano calls the compiler.
            with open(os.path.splitext(cmodule.__file__)[0] + ".py", "rb") as file:
                self.code = modules.hash_of(file.read())
        except EnvironmentError as error:
            LOGGER.info("not shared: %s", error)
            return
        self.store = modules.store_of(os.environ)

    def has(self, key):
        """Return whether the store has a file of that name."""
        return key is not None and self.store.has(key)

    def take(self, key, arguments, location):
        """Write a stored module's files as compile_str does; return whether that worked."""
        module = self.store.take(key) if key is not None else None
        if module is None:
            return False
        name, source = arguments[:2]
        try:
            with open(os.path.join(location, "mod.cpp"), "w") as file:
                file.write(source if source.endswith("\n") else source + "\n")
            path = os.path.join(location, "%s.%s" % (name, cmodule.get_lib_extension()))
            # Another process may have loaded an older file: replace it, do not write into it.
            handle = os.open(path + ".part", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o777)
            with os.fdopen(handle, "wb") as file:
                file.write(module)
            os.rename(path + ".part", path)
        except EnvironmentError as error:
            LOGGER.info("not taken: %s", error)
            return False
        modules.found["hits"] += 1
        return True

    def path_options(self, key):
        """Return the options that keep the environment's path out of a shared module."""
        return self.inputs.path_options() if key is not None else ()

    def location_options(self, key, name, location):
        """Return the options that hide a module's location, and list the files it is made of."""
        if key is None:
            return ()
        path = os.path.join(location, LIST)
        return ("-MD", "-MF", path, "-fmacro-prefix-map=%s=%s" % (location, name))

    def keep(self, key, arguments, location, header):
        """Store a module that was compiled; `header` is the precompiled header's path or None."""
        if self.store is None:
            return
        if key is None:
            modules.found["not kept"] += 1
            return
        rule = os.path.join(location, LIST)
        path = os.path.join(location, "%s.%s" % (arguments[0], cmodule.get_lib_extension()))
        kept = False
        try:
            extra = [os.path.join(location, "mod.cpp")]
            extra += [header, header + ".gch"] if header else []
            complete = self.inputs.covers(rule, _include_dirs(arguments), extra)
            os.remove(rule)
            with open(path, "rb") as file:
                content = file.read()
            if complete and not self.inputs.has_path(content, location):
                kept = self.store.keep(key, content)
            else:
                LOGGER.info("not shared: %s depends on its location", path)
        except EnvironmentError as error:
            LOGGER.info("not shared: %s", error)
        modules.found["kept" if kept else "not kept"] += 1


def _include_dirs(arguments):
    return [each for each in arguments[2] if each] + cmodule.std_include_dirs()


SHARED = Shared()
