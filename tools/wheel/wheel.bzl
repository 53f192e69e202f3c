"""Rules that build the wheel, from what libraries have at run time, and the sdist."""

load("@python_environment//:env.bzl", "INTERPRETER")

def _packaged(ctx, native):
    """The files that libraries have at run time below `package`, by name."""
    runfiles = depset(transitive = [
        dep[DefaultInfo].default_runfiles.files
        for dep in ctx.attr.deps
    ])
    return {
        file.short_path: file
        for file in runfiles.to_list()
        if file.short_path.startswith(ctx.attr.package + "/") and (
            native or file.extension != "so"
        )
    }

def _run_builder(ctx, module, files, inputs, options):
    """Runs a module of this folder, which writes an archive, a folder's only file.

    Args:
      ctx: the rule's context.
      module: of the builder.
      files: {name in the archive: file}.
      inputs: further files.
      options: arguments of the module.

    Returns:
      The rule's providers.
    """
    manifest = ctx.actions.declare_file(ctx.label.name + ".manifest")
    ctx.actions.write(manifest, "\n".join([
        "%s=%s" % (name, files[name].path)
        for name in sorted(files)
    ]))
    output = ctx.actions.declare_directory(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add_all(["-B", "-m", module])
    arguments.add("--manifest", manifest)
    arguments.add_all(ctx.files.licenses, before_each = "--license")
    arguments.add_all(options)
    arguments.add_all("--output_dir", [output], expand_directories = False)
    ctx.actions.run(
        arguments = [arguments],
        executable = INTERPRETER,
        inputs = depset(
            files.values() + ctx.files.builder + ctx.files.licenses + inputs + [manifest],
        ),
        mnemonic = ctx.label.name.title().replace("_", ""),
        outputs = [output],
        progress_message = "Building the " + ctx.label.name,
        # With the stamp of the system's headers.
        use_default_shell_env = True,
    )
    return [DefaultInfo(
        files = depset([output]),
        runfiles = ctx.runfiles(files = [output]),
    )]

def _wheel_impl(ctx):
    inputs = [ctx.file.pyproject, ctx.file.readme]
    files = _packaged(ctx, ctx.attr.native)
    return _run_builder(ctx, "tools.wheel.build", files, inputs, [
        "--pyproject=" + ctx.file.pyproject.path,
        "--readme=" + ctx.file.readme.path,
    ] + ([] if ctx.attr.native else ["--target=any"]))

def _sdist_impl(ctx):
    files = _packaged(ctx, False)
    own = [ctx.file.pyproject, ctx.file.readme] + ctx.files.licenses + ctx.files.srcs
    files.update({file.short_path: file for file in own})
    return _run_builder(ctx, "tools.wheel.sdist", files, ctx.files.headers, [
        "--headers=%s=%s" % (folder.basename.split("_")[0], folder.path)
        for folder in ctx.files.headers
    ] + ["--headers=eigen=/usr/include"])

_ATTRS = {
    "builder": attr.label_list(allow_files = True),
    "deps": attr.label_list(
        doc = "Python libraries; their files below `package` are shipped.",
    ),
    "licenses": attr.label_list(allow_files = True),
    "package": attr.string(),
    "pyproject": attr.label(allow_single_file = True),
    "readme": attr.label(allow_single_file = True),
}

phasic_wheel = rule(
    implementation = _wheel_impl,
    attrs = dict(
        _ATTRS,
        native = attr.bool(
            default = True,
            doc = "Whether native libraries are shipped; else the wheel is for any system.",
        ),
    ),
)

phasic_sdist = rule(
    implementation = _sdist_impl,
    attrs = dict(
        _ATTRS,
        headers = attr.label_list(
            allow_files = True,
            doc = "Folders PROJECT_include with headers of other projects.",
        ),
        srcs = attr.label_list(allow_files = True),
    ),
)
