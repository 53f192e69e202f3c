"""The files of each substrate's seam."""

# The same names and signatures in phasic/internal and substrates/<s>.
SEAM = [
    "__init__",
    "array_ops",
    "arrays",
    "autodiff",
    "control_flow",
    "custom_gradient",
    "elimination_calls",
    "native/host_calls",
    "native/native_ops",
    "phase_type_calls",
    "random",
    "static",
    "structures",
]

# Those of phasic/internal that go into every substrate, as in
# substrates/meta/paths.py.
SEAM_SHARED = [
    "dtypes",
    "elimination_ops",
    "frameworks",
    "halves",
    "kernel_common",
    "kernel_ops",
    "late_names",
    "native/__init__",
    "native/host_functions",
    "native/host_results",
    "native/native_checks",
    "native/native_declarations",
    "native/native_files",
    "native/native_libraries",
    "native/native_rules",
    "native/native_shapes",
    "native_module",
    "progress_bars",
    "raw_arguments",
    "native/static_options",
    "user_warnings",
]

# What a substrate has besides.
SEAM_EXTRAS = {
    "jax": [
        "exporting",
        "ffi_targets",
        "maps/__init__",
        "maps/derivatives",
        "maps/elimination_map",
        "maps/exponential_map",
        "maps/moments_map",
        "maps/phase_type_function",
        "maps/quantiles_map",
        "maps/statistics_map",
        "multilinear",
        "native/ffi_versions",
        "native/host_map",
        "native/native_maps",
        "rule_maps",
        "rules",
        "seeds",
        "sharding",
    ],
    "numpy": [
        "tape/__init__",
        "tape/elimination",
        "tape/functions",
        "tape/linear_maps",
        "tape/modes",
        "tape/operators",
        "tape/phase_type",
        "tape/placing",
        "tape/rules",
        "tape/traced",
        "tape/trees",
        "tape/ufuncs",
    ],
    "tf": [
        "array_functions",
        "elimination_op",
        "kernel_calls",
        "moments_op",
        "native/host_family",
        "native/host_programs",
        "native/host_xla",
        "native/native_calls",
        "native/native_gradients",
        "native/native_results",
        "phase_type_op",
        "trees",
        "xla_calls",
        "xla_programs",
    ],
}

def seam_srcs(substrate):
    """The labels of the sources of a seam other than NumPy's."""
    return [
        "//phasic:internal/%s.py" % name
        for name in SEAM_SHARED
    ] + [
        "//substrates/%s:%s.py" % (substrate, name)
        for name in SEAM + SEAM_EXTRAS[substrate]
    ]

def check_seam(substrate, found):
    """Fails when files and lists differ; call it with the package's glob."""
    listed = [name + ".py" for name in SEAM + SEAM_EXTRAS[substrate]]
    missing = [name for name in found if name not in listed]
    if missing:
        fail("list in substrates/seam.bzl: " + ", ".join(missing))
