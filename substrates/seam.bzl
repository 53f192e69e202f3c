"""The files of the seam: of all substrates, shared ones, and others.

Written by `make format`; do not edit.
"""

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
    "structures"
]

SHARED = [
    "dtypes",
    "elimination_ops",
    "frameworks",
    "halves",
    "kernel_common",
    "kernel_ops",
    "late_names",
    "native/__init__",
    "native/batch_checks",
    "native/host_functions",
    "native/host_results",
    "native/native_checks",
    "native/native_declarations",
    "native/native_libraries",
    "native/native_rules",
    "native/native_shapes",
    "native/static_options",
    "native_files",
    "native_module",
    "progress_bars",
    "raw_arguments",
    "user_warnings"
]

EXTRAS = {
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
        "sharding"
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
        "tape/ufuncs"
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
        "xla_programs"
    ]
}
