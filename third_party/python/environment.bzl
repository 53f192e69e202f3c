"""The repository @python_environment: what setup.sh's .venv has.

Targets:
  toolchain                     runs py_* targets with the .venv's interpreter
  freeze.txt                    the installed packages; every test's input
  python, pybind11, xla_ffi, tensorflow, gtest     C++ headers and libraries
  no_jax, no_tf                 constraints that no platform satisfies

`env.bzl` has HAVE_JAX, HAVE_TF and INTERPRETER. XLA's and TensorFlow's targets
exist only where the package does.
"""

_INTERPRETER = "PHASIC_PYTHON"
_STAMP = "PHASIC_ENV_STAMP"
_JAX_HEADERS = "PHASIC_JAX_HEADERS"

def _python_environment_impl(ctx):
    interpreter = ctx.os.environ.get(_INTERPRETER, "")
    if not interpreter:
        fail("No Python environment: run ./setup.sh first.")

    probe = ctx.execute([
        interpreter,
        str(ctx.path(Label("//third_party/python:probe.py"))),
        ctx.os.environ.get(_JAX_HEADERS, ""),
    ])
    if probe.return_code:
        fail("Looking at %s failed; run ./setup.sh. It said:\n%s" %
             (interpreter, probe.stderr))
    found = {}
    for line in probe.stdout.splitlines():
        key, _, value = line.partition("=")
        found[key] = value

    freeze = ctx.execute(
        [interpreter, str(ctx.path(Label("//tools:freeze.py")))],
    )
    if freeze.return_code:
        fail("Listing the packages failed:\n" + freeze.stderr)
    ctx.file("freeze.txt", freeze.stdout)

    # Each tree of headers is one link, a single input to Bazel.
    build = ctx.read(Label("//third_party/python:environment.BUILD"))
    parts = ["python_include", "pybind11_include"]
    if found["jax_include"]:
        parts.append("jax_include")
        build += ctx.read(Label("//third_party/python:jax.BUILD"))
    if found["tf_include"]:
        parts.append("tf_include")
        build += ctx.read(Label("//third_party/python:tf.BUILD"))
    for part in parts:
        ctx.symlink(found[part], part)

    ctx.file("BUILD", build
        .replace("%{interpreter}", interpreter)
        .replace("%{tf_library}", found["tf_library"]))
    ctx.file("env.bzl", "\n".join([
        "HAVE_JAX = %s" % bool(found["jax_include"]),
        "HAVE_TF = %s" % bool(found["tf_include"]),
        "INTERPRETER = \"%s\"" % interpreter,
        "",
    ]))

python_environment = repository_rule(
    implementation = _python_environment_impl,
    environ = [_INTERPRETER, _STAMP, _JAX_HEADERS],
    local = True,
)
