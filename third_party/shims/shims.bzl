"""Stand-ins for repositories that Bazel 4 would otherwise download."""

_NAMES = ["rules_cc", "rules_java", "remote_coverage_tools"]

def offline_shims():
    """Declares them under Bazel 4, whose native rules load these repositories.

    Debian's build of Bazel 4.2.3 reports an empty version. Later versions
    bundle what they need.
    """
    version = getattr(native, "bazel_version", "")
    if version and not version.startswith("4."):
        return
    for name in _NAMES:
        native.local_repository(
            name = name,
            path = "third_party/shims/" + name,
        )
