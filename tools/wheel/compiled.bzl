"""What Bazel compiles: sources with their options and defines."""

_CompiledInfo = provider(fields = {"lines": "A depset of JSON, one for a source."})

def _compiled_aspect_impl(target, ctx):
    lines = []
    if CcInfo in target and hasattr(ctx.rule.files, "srcs"):
        defines = target[CcInfo].compilation_context.defines.to_list()
        lines = [
            struct(
                source = file.short_path,
                options = ctx.rule.attr.copts,
                defines = ctx.rule.attr.local_defines + defines,
            ).to_json()
            for file in ctx.rule.files.srcs
            if file.extension == "cc"
        ]
    return [_CompiledInfo(lines = depset(lines, transitive = [
        dep[_CompiledInfo].lines
        for dep in getattr(ctx.rule.attr, "deps", [])
        if _CompiledInfo in dep
    ]))]

_compiled_aspect = aspect(
    implementation = _compiled_aspect_impl,
    attr_aspects = ["deps"],
)

def _compiled_sources_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".jsonl")
    level = struct(level = ctx.var.get("phasic_level", "")).to_json()
    lines = depset(transitive = [dep[_CompiledInfo].lines for dep in ctx.attr.deps])
    ctx.actions.write(output, "\n".join([level] + lines.to_list()))
    return [DefaultInfo(
        files = depset([output]),
        runfiles = ctx.runfiles(files = [output]),
    )]

compiled_sources = rule(
    implementation = _compiled_sources_impl,
    doc = """Writes what is compiled for binaries, as lines of JSON.

    The first line has the level of --define=phasic_level.
    """,
    attrs = {"deps": attr.label_list(aspects = [_compiled_aspect])},
)
