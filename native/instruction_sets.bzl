"""Which instruction sets the sweeps and solvers are compiled for.

"generic" and, on x86-64, all levels; with --define=phasic_level=v3 that level
alone, with --define=phasic_level=generic none. `--config=dev` is for builds
during development.
"""

X86_64_LEVELS = [
    "v3",
    "v4",
]

def level_builds(prefix):
    """Labels of the builds for the levels that are compiled.

    Args:
      prefix: what comes before the level in a label.

    Returns:
      A select of lists of labels.
    """
    builds = {
        "//native:x86_64_only_" + level: [prefix + level]
        for level in X86_64_LEVELS
    }
    builds["//native:x86_64"] = [prefix + level for level in X86_64_LEVELS]
    builds["//native:x86_64_only_generic"] = []
    builds["//conditions:default"] = []
    return select(builds)

def level_defines():
    """Defines that tell `levels.h` which levels are compiled.

    Returns:
      A select of lists of defines.
    """
    defines = {
        "//native:x86_64_only_" + level: ["PHASIC_ONLY_LEVEL=" + level[1:]]
        for level in X86_64_LEVELS
    }
    defines["//native:x86_64_only_generic"] = ["PHASIC_NO_LEVELS"]
    defines["//conditions:default"] = []
    return select(defines)
