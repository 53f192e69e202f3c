"""The rule that builds the wheel from what libraries have at run time."""

load("@python_environment//:env.bzl", "INTERPRETER")

def _wheel_impl(ctx):
    runfiles = depset(transitive = [
        dep[DefaultInfo].default_runfiles.files
        for dep in ctx.attr.deps
    ])
    files = {}
    for file in runfiles.to_list():
        if file.short_path.startswith(ctx.attr.package + "/"):
            files[file.short_path] = file
    manifest = ctx.actions.declare_file(ctx.label.name + ".manifest")
    ctx.actions.write(manifest, "\n".join([
        "%s=%s" % (name, files[name].path)
        for name in sorted(files)
    ]))
    output = ctx.actions.declare_directory(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add_all(["-B", "-m", "tools.wheel.build"])
    arguments.add("--manifest", manifest)
    arguments.add("--pyproject", ctx.file.pyproject)
    arguments.add("--readme", ctx.file.readme)
    arguments.add_all(ctx.files.licenses, before_each = "--license")
    arguments.add_all("--output_dir", [output], expand_directories = False)
    ctx.actions.run(
        arguments = [arguments],
        executable = INTERPRETER,
        inputs = depset(
            files.values() + ctx.files.builder + ctx.files.licenses +
            [manifest, ctx.file.pyproject, ctx.file.readme],
        ),
        mnemonic = "Wheel",
        outputs = [output],
        progress_message = "Building the wheel",
    )
    return [DefaultInfo(
        files = depset([output]),
        runfiles = ctx.runfiles(files = [output]),
    )]

phasic_wheel = rule(
    implementation = _wheel_impl,
    attrs = {
        "builder": attr.label_list(allow_files = True),
        "deps": attr.label_list(
            doc = "Python libraries; their files below `package` are shipped.",
        ),
        "licenses": attr.label_list(allow_files = True),
        "package": attr.string(),
        "pyproject": attr.label(allow_single_file = True),
        "readme": attr.label(allow_single_file = True),
    },
)
