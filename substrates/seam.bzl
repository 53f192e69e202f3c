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
    "derivative_family",
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
    "tables",
    "user_warnings"
]

EXTRAS = {
    "jax": [
        "derivatives",
        "exporting",
        "ffi_targets",
        "multilinear",
        "native/ffi_versions",
        "native/host_map",
        "native/native_maps",
        "phase_type_maps",
        "rule_maps",
        "rules",
        "seeds",
        "sharding"
    ],
    "numpy": [
        "tape/__init__",
        "tape/functions",
        "tape/linear_maps",
        "tape/modes",
        "tape/operators",
        "tape/placing",
        "tape/rules",
        "tape/traced",
        "tape/trees",
        "tape/ufuncs"
    ],
    "tf": [
        "array_functions",
        "kernel_calls",
        "native/host_family",
        "native/host_programs",
        "native/host_xla",
        "native/native_calls",
        "native/native_gradients",
        "native/native_results",
        "op_library",
        "phase_type_op",
        "xla_calls",
        "xla_programs"
    ]
}
