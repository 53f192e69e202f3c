"""The rooms of native code, lowest first, and what each includes.

Written by `make format`; do not edit.
"""

ROOMS = {
    "kernel/runtime": [],
    "kernel/api": [
        "kernel/runtime"
    ],
    "kernel/simd": [
        "kernel/runtime"
    ],
    "kernel/numbers": [
        "kernel/api",
        "kernel/simd"
    ],
    "kernel/matrix": [
        "kernel/runtime",
        "kernel/simd",
        "kernel/numbers"
    ],
    "kernel/model": [
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/matrix"
    ],
    "kernel/uniformization": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/matrix",
        "kernel/model"
    ],
    "kernel/choice": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/model",
        "kernel/uniformization"
    ],
    "kernel/values": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/model",
        "kernel/uniformization",
        "kernel/choice"
    ],
    "kernel/cotangents": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/model",
        "kernel/uniformization",
        "kernel/values"
    ],
    "kernel/methods/squaring": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/matrix",
        "kernel/model",
        "kernel/uniformization",
        "kernel/choice",
        "kernel/values"
    ],
    "kernel/methods/many_times": [
        "kernel/runtime",
        "kernel/simd",
        "kernel/numbers",
        "kernel/uniformization",
        "kernel/choice",
        "kernel/values",
        "kernel/cotangents"
    ],
    "kernel/sweeps": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/matrix",
        "kernel/model",
        "kernel/uniformization",
        "kernel/choice",
        "kernel/values",
        "kernel/cotangents"
    ],
    "kernel/methods/many_models": [
        "kernel/runtime",
        "kernel/simd",
        "kernel/numbers",
        "kernel/matrix",
        "kernel/model",
        "kernel/uniformization",
        "kernel/choice",
        "kernel/cotangents",
        "kernel/methods/squaring",
        "kernel/methods/many_times",
        "kernel/sweeps"
    ],
    "kernel/methods/small_models": [
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/matrix",
        "kernel/model",
        "kernel/uniformization",
        "kernel/sweeps"
    ],
    "kernel/builds": [
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/methods/squaring",
        "kernel/methods/many_times",
        "kernel/sweeps",
        "kernel/methods/many_models",
        "kernel/methods/small_models"
    ],
    "kernel/batch": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/choice"
    ],
    "elimination/api": [
        "kernel/api"
    ],
    "elimination/ordering": [],
    "elimination/symbolic": [
        "kernel/api",
        "elimination/api",
        "elimination/ordering"
    ],
    "elimination/solver": [
        "kernel/runtime",
        "kernel/simd",
        "kernel/numbers",
        "kernel/builds",
        "elimination/symbolic"
    ],
    "elimination/factors": [
        "kernel/runtime",
        "kernel/simd",
        "elimination/symbolic",
        "elimination/solver"
    ],
    "elimination/batch": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd",
        "elimination/api",
        "elimination/symbolic",
        "elimination/solver",
        "elimination/factors"
    ],
    "elimination/moments": [
        "kernel/simd",
        "kernel/numbers",
        "elimination/api",
        "elimination/symbolic",
        "elimination/solver",
        "elimination/factors",
        "elimination/batch"
    ],
    "quantiles": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd",
        "kernel/batch",
        "elimination/api",
        "elimination/moments"
    ],
    "xla": [
        "kernel/runtime",
        "kernel/api",
        "elimination/api",
        "quantiles"
    ],
    "tf": [
        "kernel/runtime",
        "kernel/api",
        "elimination/api",
        "quantiles",
        "xla"
    ],
    "python": [
        "kernel/runtime",
        "kernel/api",
        "kernel/builds",
        "elimination/api",
        "quantiles",
        "xla"
    ],
    "kernel/fuzz": [
        "kernel/api",
        "kernel/simd"
    ],
    "elimination/fuzz": [
        "elimination/api",
        "kernel/fuzz"
    ]
}

TESTS = {
    "elimination/batch/batches_test": [
        "elimination/api"
    ],
    "elimination/batch/dense_test": [
        "elimination/api"
    ],
    "elimination/batch/elimination_test": [
        "elimination/api"
    ],
    "elimination/fuzz/random_systems_test": [
        "kernel/fuzz"
    ],
    "elimination/moments/matrix_weights_test": [
        "kernel/simd",
        "elimination/api"
    ],
    "elimination/moments/moments_test": [
        "elimination/api"
    ],
    "elimination/symbolic/fronts_test": [],
    "kernel/batch/batch_threads_test": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd"
    ],
    "kernel/batch/concurrent_calls_test": [
        "kernel/api"
    ],
    "kernel/batch/direction_batches_test": [
        "kernel/runtime",
        "kernel/api"
    ],
    "kernel/batch/direction_scales_test": [
        "kernel/api"
    ],
    "kernel/batch/hostile_calls_test": [
        "kernel/api"
    ],
    "kernel/batch/kept_model_test": [
        "kernel/runtime",
        "kernel/api"
    ],
    "kernel/batch/kinds_test": [
        "kernel/api"
    ],
    "kernel/batch/phase_type_test": [
        "kernel/api"
    ],
    "kernel/batch/statistics_test": [
        "kernel/runtime",
        "kernel/api"
    ],
    "kernel/builds/instruction_sets_test": [
        "kernel/api"
    ],
    "kernel/choice/choice_test": [
        "kernel/runtime",
        "kernel/numbers",
        "kernel/model"
    ],
    "kernel/cotangents/term_blocks_test": [
        "kernel/simd",
        "kernel/model",
        "kernel/uniformization"
    ],
    "kernel/fuzz/corpus_test": [],
    "kernel/matrix/accurate_product_test": [
        "kernel/runtime"
    ],
    "kernel/matrix/operator_test": [
        "kernel/runtime",
        "kernel/numbers"
    ],
    "kernel/matrix/parallel_parts_test": [
        "kernel/runtime",
        "kernel/simd"
    ],
    "kernel/matrix/tile_selection_test": [],
    "kernel/methods/many_models/group_test": [
        "kernel/runtime",
        "kernel/api"
    ],
    "kernel/methods/many_times/many_times_test": [
        "kernel/runtime",
        "kernel/methods/squaring",
        "kernel/sweeps"
    ],
    "kernel/methods/small_models/small_models_test": [
        "kernel/runtime",
        "kernel/api"
    ],
    "kernel/methods/small_models/small_sweep_test": [
        "kernel/runtime",
        "kernel/api"
    ],
    "kernel/methods/small_models/small_times_test": [
        "kernel/runtime",
        "kernel/api"
    ],
    "kernel/methods/squaring/scaled_powers_test": [
        "kernel/runtime",
        "kernel/simd",
        "kernel/model"
    ],
    "kernel/model/rate_scales_test": [
        "kernel/api"
    ],
    "kernel/numbers/dual_test": [],
    "kernel/numbers/extended_double_test": [
        "kernel/simd"
    ],
    "kernel/numbers/pack_math_test": [],
    "kernel/numbers/scaled_test": [
        "kernel/simd"
    ],
    "kernel/runtime/parallel_test": [],
    "kernel/runtime/work_limit_test": [],
    "kernel/runtime/workspace_test": [],
    "kernel/sweeps/counted_work_test": [
        "kernel/runtime",
        "kernel/numbers",
        "kernel/methods/squaring",
        "kernel/methods/many_times"
    ],
    "kernel/sweeps/derivatives_test": [
        "kernel/runtime",
        "kernel/numbers",
        "kernel/methods/squaring",
        "kernel/methods/many_times"
    ],
    "kernel/uniformization/checkpoints_test": [
        "kernel/simd",
        "kernel/numbers",
        "kernel/model"
    ],
    "kernel/uniformization/poisson_test": [],
    "kernel/uniformization/tail_closure_test": [
        "kernel/simd",
        "kernel/model"
    ],
    "quantiles/quantiles_test": []
}
