"""Build rules for code that is written once and runs on every substrate.

`multi_substrate_py_library(name = "math")` gives

  :math          the source as it stands (NumPy, portable path)
  :math.numpy    the same, rewritten for phasic.substrates.numpy
  :math.jax      ... for phasic.substrates.jax
  :math.tf       ... for phasic.substrates.tf

`multi_substrate_py_test` gives `name.numpy`, `name.jax`, `name.tf` and a
test_suite `name`. A substrate whose array library is not installed stays
visible: its targets are incompatible, and Bazel reports them as SKIPPED.
"""

load("@python_environment//:env.bzl", "HAVE_JAX", "HAVE_TF", "INTERPRETER")
load("//native:copts.bzl", "COPTS")

SUBSTRATES = ["numpy", "jax", "tf"]

_REWRITER = "//substrates/meta:rewriter"
_TEST_MAIN = "//tools:test_main.py"
_FREEZE = "@python_environment//:freeze.txt"

# Where TensorFlow's `np.` names are looked up.
_REWRITER_DATA = {
    "numpy": [],
    "jax": [],
    "tf": ["//substrates/tf:array_functions.py"],
}

def needs_jax():
    """target_compatible_with of what cannot be built or run without JAX."""
    return [] if HAVE_JAX else ["@python_environment//:no_jax"]

def needs_tf():
    """target_compatible_with of what cannot be built or run without TF."""
    return [] if HAVE_TF else ["@python_environment//:no_tf"]

def _compatible_with(substrate):
    if substrate == "jax":
        return needs_jax()
    return needs_tf() if substrate == "tf" else []

def substrate_dep(label, substrate):
    """The label of a multi-substrate library's target for one substrate."""
    if label.startswith("//") and ":" not in label:
        label += ":" + label.split("/")[-1]
    return label + "." + substrate

def _module(label):
    """The dotted module that a library stands for: the rewriter's name."""
    label = _absolute(label)
    package, _, name = label[2:].partition(":")
    parts = package.split("/")
    if name.split("/")[-1] != parts[-1]:
        parts.append(name.replace("/", "."))
    return ".".join(parts)

def _absolute(label):
    if label.startswith("//"):
        return label if ":" in label else label + ":" + label.split("/")[-1]
    return "//" + native.package_name() + ":" + label.lstrip(":")

def _source_path(label):
    return _absolute(label)[2:].replace(":", "/")

def _output(path, substrate):
    """Where the rewriter puts a source, as in substrates/meta/paths.py."""
    parts = path.split("/")
    if parts[0] == "tests":
        return "/".join(["tests/generated", substrate] + parts[1:])
    if parts[0] == "substrates":
        tail = ["internal"] + parts[2:]
    else:
        tail = parts[1:]
    return "/".join(["phasic/substrates", substrate] + tail)

def _in_package(path):
    prefix = native.package_name() + "/"
    if not path.startswith(prefix):
        fail("%s is outside the package %s" % (path, prefix))
    return path[len(prefix):]

def rewritten(name, substrate, srcs, omit_deps = [], init = {}):
    """One genrule that rewrites sources for one substrate.

    Args:
      name: of the genrule.
      substrate: one of SUBSTRATES.
      srcs: labels of source files.
      omit_deps: labels of libraries whose imports are dropped.
      init: {kind: output path}: which __init__.py files to write, too.

    Returns:
      The outputs, as labels of this package.
    """
    outs = [_in_package(_output(_source_path(s), substrate)) for s in srcs]
    outs += [_in_package(path) for path in init.values()]
    command = [INTERPRETER, "-B -m substrates.meta.rewrite --substrate", substrate]
    command += ["--source_root . --outputs_root $(GENDIR)"]
    command += ["--init " + kind for kind in init]
    if omit_deps:
        command.append("--omit_deps " + ",".join([_module(d) for d in omit_deps]))
    command += [_source_path(s) for s in srcs]
    native.genrule(
        name = name,
        srcs = srcs + [d for d in _REWRITER_DATA[substrate] if d not in srcs],
        outs = outs,
        cmd = " ".join(command),
        message = "Rewriting for %s:" % substrate,
        tools = [_REWRITER],
        visibility = ["//visibility:private"],
    )
    return outs

def _check(name, disabled_substrates, reasons = {}):
    """Every exception from "runs everywhere" has its reason."""
    for substrate, reason in disabled_substrates.items():
        if substrate not in SUBSTRATES or not reason:
            fail("%s: disabled_substrates is {substrate: reason}" % name)
    for substrate, tags in reasons.items():
        for tag, reason in tags.items():
            if not reason:
                fail("%s: the %s tag %s needs a reason" % (name, substrate, tag))

def multi_substrate_py_library(
        name,
        srcs,
        deps = [],
        shared_deps = [],
        data = [],
        substrate_srcs = {},
        substrate_inits = {},
        substrates_omit_deps = [],
        numpy_omit_deps = [],
        jax_omit_deps = [],
        tf_omit_deps = [],
        disabled_substrates = {},
        visibility = None):
    """A Python library that is written once and rewritten per substrate.

    Args:
      name: the target of the source as it stands; a substrate's is name.jax.
      srcs: source files in the NumPy dialect.
      deps: multi-substrate libraries; each substrate depends on its own.
      shared_deps: Python libraries that are the same for all substrates.
      data: files at run time.
      substrate_srcs: {substrate: labels} that stand in for srcs.
      substrate_inits: {substrate: {kind: path}} of extra __init__.py files.
      substrates_omit_deps: labels of `deps` that only the source itself has;
        matching imports and `__all__` entries are dropped in all substrates.
      numpy_omit_deps: the same for one substrate.
      jax_omit_deps: the same.
      tf_omit_deps: the same.
      disabled_substrates: {substrate: reason} that get no target at all.
      visibility: as everywhere.
    """
    _check(name, disabled_substrates)
    omit_deps = {
        "numpy": numpy_omit_deps,
        "jax": jax_omit_deps,
        "tf": tf_omit_deps,
    }
    native.py_library(
        name = name,
        srcs = srcs,
        data = data,
        visibility = visibility,
        deps = deps + shared_deps,
    )
    for substrate in SUBSTRATES:
        if substrate in disabled_substrates:
            continue
        omitted = [_absolute(d) for d in substrates_omit_deps + omit_deps[substrate]]
        own_srcs = substrate_srcs.get(substrate, srcs)
        inits = substrate_inits.get(substrate, {})
        native.py_library(
            name = name + "." + substrate,
            srcs = rewritten(
                name = "%s.%s.rewritten" % (name, substrate),
                substrate = substrate,
                srcs = own_srcs,
                init = inits,
                omit_deps = omitted,
            ) if own_srcs or inits else [],
            data = data,
            target_compatible_with = _compatible_with(substrate),
            visibility = visibility,
            deps = shared_deps + [
                substrate_dep(d, substrate)
                for d in deps
                if _absolute(d) not in omitted
            ],
        )

# Of a whole product of cases, which takes an hour of a processor.
FULL_SHARDS = 6

def phasic_py_test(
        name,
        srcs,
        deps = [],
        data = [],
        env = {},
        selected_env = None,
        **kwargs):
    """Python test files, run by pytest in one process as Bazel wants it.

    Args:
      name: of the test.
      srcs: the files with the tests.
      deps: Python libraries.
      data: files at run time.
      env: environment variables.
      selected_env: a select() of them, in place of `env`.
      **kwargs: as py_test has them.
    """
    native.py_test(
        name = name,
        srcs = [_TEST_MAIN] + srcs,
        args = ["$(rootpath %s)" % src for src in srcs],
        data = data + [_FREEZE],
        env = selected_env or select({
            # Without the kernel on purpose: nothing warns.
            "//:native_off": dict(env, PHASIC_REQUIRE_KERNEL = "0"),
            "//conditions:default": env,
        }),
        main = _TEST_MAIN,
        deps = deps + ["//tests:package"],
        **kwargs
    )

def multi_substrate_py_test(
        name,
        srcs,
        deps = [],
        shared_deps = [],
        data = [],
        size = "medium",
        substrates_omit_deps = [],
        numpy_omit_deps = [],
        jax_omit_deps = [],
        tf_omit_deps = [],
        disabled_substrates = {},
        numpy_tags = {},
        jax_tags = {},
        tf_tags = {},
        tags = [],
        sweep = False,
        timeout = None):
    """A test that is written once and runs on each substrate.

    Args:
      name: of the test_suite; a substrate's test is name.jax.
      srcs: files in the NumPy dialect; those of one substrate run in one process,
        as importing a framework takes seconds.
      deps: multi-substrate libraries.
      shared_deps: Python libraries that are the same for all substrates.
      data: files at run time.
      size: as py_test has it.
      substrates_omit_deps: see multi_substrate_py_library.
      numpy_omit_deps: the same.
      jax_omit_deps: the same.
      tf_omit_deps: the same.
      disabled_substrates: {substrate: reason}: the test can never run there,
        there is no target.
      numpy_tags: {tag: reason}; "skip" keeps the target but leaves it out of
        `make test`.
      jax_tags: the same.
      tf_tags: the same.
      tags: of all its tests.
      sweep: whether it runs a part of its cases by default. Then there are
        tests NAME_full.SUBSTRATE, too, as `py_test_package` makes them.
      timeout: as py_test has it.
    """
    own_tags = {"numpy": numpy_tags, "jax": jax_tags, "tf": tf_tags}
    omit_deps = {
        "numpy": numpy_omit_deps,
        "jax": jax_omit_deps,
        "tf": tf_omit_deps,
    }
    _check(name, disabled_substrates, own_tags)
    tests = []
    for substrate in SUBSTRATES:
        if substrate in disabled_substrates:
            continue
        omitted = [_absolute(d) for d in substrates_omit_deps + omit_deps[substrate]]
        outs = rewritten(
            name = "%s.%s.rewritten" % (name, substrate),
            substrate = substrate,
            srcs = srcs,
            omit_deps = omitted,
        )
        reasons = ["%s: %s" % item for item in own_tags[substrate].items()]
        variants = [(name, {}, own_tags[substrate].keys() + reasons, None, timeout)]
        if sweep:
            # On a busy machine a part of TensorFlow's takes more than half an hour.
            variants.append((
                name + "_full",
                {"PHASIC_FULL_SWEEPS": "1"},
                ["slow"],
                FULL_SHARDS,
                "eternal",
            ))
        for variant, env, more_tags, shard_count, limit in variants:
            phasic_py_test(
                name = variant + "." + substrate,
                srcs = outs,
                size = size,
                timeout = limit,
                data = data,
                env = env,
                shard_count = shard_count,
                tags = tags + more_tags + [substrate],
                target_compatible_with = _compatible_with(substrate),
                deps = shared_deps + ["//tests:generated"] + [
                    substrate_dep(d, substrate)
                    for d in deps
                    if _absolute(d) not in omitted
                ],
            )
            tests.append(":%s.%s" % (variant, substrate))
    native.test_suite(name = name, tests = tests)

def native_op(
        name,
        srcs,
        library = None,
        includes = [],
        copts = [],
        deps = [],
        visibility = None):
    """Native ops: a C++ source with PHASIC_OP as a library for each framework.

    Gives LIBRARY.so, for NumPy and, where JAX is installed, JAX, and, where
    TensorFlow is, LIBRARY_tf.so; `phasic.binding.bind_native` loads them.

    Args:
      name: of the filegroup of the libraries.
      srcs: sources and headers.
      library: the path of the libraries; "lib" and the name by default.
      includes: folders of headers, as in cc_binary.
      copts: compiler options.
      deps: C++ libraries.
      visibility: as everywhere.
    """
    path = library or "lib" + name
    options = COPTS + ["-Wno-unused-parameter"] + copts
    native.cc_binary(
        name = path + ".so",
        srcs = srcs,
        copts = options,
        includes = includes,
        linkshared = True,
        linkstatic = True,
        local_defines = ["PHASIC_WITH_XLA"] if HAVE_JAX else [],
        visibility = visibility,
        deps = deps + ["//phasic:op_headers"] + (
            ["@python_environment//:xla_ffi"] if HAVE_JAX else []
        ),
    )
    native.cc_binary(
        name = path + "_tf.so",
        srcs = srcs,
        copts = options,
        includes = includes,
        linkshared = True,
        linkstatic = True,
        local_defines = ["PHASIC_WITH_TENSORFLOW"],
        target_compatible_with = needs_tf(),
        visibility = visibility,
        deps = deps + ["//phasic:op_headers"] + (
            ["@python_environment//:tensorflow"] if HAVE_TF else []
        ),
    )
    native.filegroup(
        name = name,
        srcs = [":" + path + ".so"] + ([":" + path + "_tf.so"] if HAVE_TF else []),
        visibility = visibility,
    )

def _in_groups(names, together, rest):
    """Returns {group: names}; a name in no group gets its own, or joins `rest`."""
    grouped = {}
    for group, members in together.items():
        if not members:
            fail("%s: has no file" % group)
        for name in members:
            if name in grouped:
                fail("%s: is in two groups, %s and %s" % (name, group, grouped[name]))
            grouped[name] = group
    left = [name for name in names if name not in grouped]
    return dict(together, **({rest: left} if rest else {name: [name] for name in left}))

def _matching(pattern):
    """Returns the names of the files that a pattern matches, without ".py"."""
    found = native.glob([pattern + ".py"], allow_empty = True)
    if not found:
        fail("%s: matches no test here: drop it" % pattern)
    return [src[:-3] for src in found]

def available_substrates(label):
    """The targets of a multi-substrate library that can be built here."""
    return [
        substrate_dep(label, substrate)
        for substrate in SUBSTRATES
        if not _compatible_with(substrate)
    ]

def py_test_package(
        deps = [],
        test_deps = {},
        together = {},
        rest = None,
        sweeps = [],
        needs = [],
        size = "medium",
        tags = [],
        data = []):
    """A directory of Python tests that are not rewritten, and their helpers.

    Gives a public library called like the directory, and a test per *_test.py, or
    per entry of `together`. Those named in `sweeps` get a second one, NAME_full,
    which is tagged "slow" and runs every case: the variable PHASIC_FULL_SWEEPS
    is 1 there.

    Args:
        deps: Python libraries.
        test_deps: {test: what it needs besides}.
        together: {test: names of files that run in one process}, as globs have
            them, without ".py".
        rest: the test of all files that are not in `together`; by default each
            has its own.
        sweeps: tests that run a part of their cases by default.
        needs: substrates without which nothing here runs.
        size: of the tests, as py_test has it.
        tags: of the tests.
        data: files at run time.
    """
    library = native.package_name().split("/")[-1]
    compatible_with = []
    for substrate in needs:
        compatible_with = compatible_with + _compatible_with(substrate)
    tests = native.glob(["*_test.py"], allow_empty = True)
    native.py_library(
        name = library,
        srcs = native.glob(["*.py"], exclude = ["*_test.py"], allow_empty = True),
        data = data,
        target_compatible_with = compatible_with,
        visibility = ["//visibility:public"],
        deps = deps + ["//tests:package"],
    )
    groups = _in_groups([src[:-3] for src in tests], {
        name: {file: None for x in patterns for file in _matching(x)}.keys()
        for name, patterns in together.items()
    }, rest)
    variants = [(name, name, files, {}, tags) for name, files in groups.items()]
    variants += [
        (name + "_full", name, [name], {"PHASIC_FULL_SWEEPS": "1"}, tags + ["slow"])
        for name in sweeps
    ]
    for variant, name, files, env, own_tags in variants:
        phasic_py_test(
            name = variant,
            size = size,
            srcs = [file + ".py" for file in files],
            env = env,
            tags = own_tags,
            target_compatible_with = compatible_with,
            deps = [":" + library] + test_deps.get(name, []),
        )
