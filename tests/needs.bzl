"""What the tests that are written once import.

Written by `make format`; do not edit.
"""

HELPERS = {
    "bootstrap_data": {
        "helpers": [],
        "rooms": [
            "inference/resampling"
        ]
    },
    "chain_cases": {
        "helpers": [
            "family_cases"
        ],
        "rooms": [
            "graphs/models",
            "distributions/wrapped",
            "distributions/epochs"
        ]
    },
    "chains": {
        "helpers": [],
        "rooms": [
            "math/model"
        ]
    },
    "closure_cases": {
        "helpers": [
            "family_cases"
        ],
        "rooms": [
            "distributions/closures"
        ]
    },
    "conformance": {
        "helpers": [
            "chain_cases",
            "family_cases",
            "pairwise"
        ],
        "rooms": []
    },
    "conformance_modes": {
        "helpers": [
            "conformance"
        ],
        "rooms": [
            "math/calls"
        ]
    },
    "conformance_statistics": {
        "helpers": [
            "conformance"
        ],
        "rooms": []
    },
    "derivatives": {
        "helpers": [],
        "rooms": [
            "math/calls"
        ]
    },
    "em_cases": {
        "helpers": [],
        "rooms": [
            "inference/data"
        ]
    },
    "epoch_models": {
        "helpers": [],
        "rooms": [
            "graphs/models"
        ]
    },
    "epoch_path_oracle": {
        "helpers": [],
        "rooms": []
    },
    "family_cases": {
        "helpers": [],
        "rooms": [
            "distributions/wrapped"
        ]
    },
    "fit_data": {
        "helpers": [],
        "rooms": [
            "inference/data"
        ]
    },
    "graph_cases": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "graphs/core"
        ]
    },
    "models": {
        "helpers": [],
        "rooms": []
    },
    "own_family": {
        "helpers": [],
        "rooms": [
            "distributions/families"
        ]
    },
    "pairwise": {
        "helpers": [],
        "rooms": []
    },
    "panel_cases": {
        "helpers": [],
        "rooms": [
            "multistate/data"
        ]
    },
    "reward_models": {
        "helpers": [
            "models"
        ],
        "rooms": []
    },
    "small_laws": {
        "helpers": [],
        "rooms": [
            "distributions/families"
        ]
    },
    "test_case": {
        "helpers": [],
        "rooms": [
            "internal"
        ]
    },
    "trials": {
        "helpers": [],
        "rooms": [
            "math/model"
        ]
    }
}

TESTS = {
    "kernel/value_tests": {
        "helpers": [
            "derivatives",
            "models",
            "test_case",
            "trials"
        ],
        "rooms": [
            "config",
            "math",
            "inference/data"
        ]
    },
    "quantiles/accuracy_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "math/quantiles",
            "config"
        ]
    },
    "sampling/sampling_tests": {
        "helpers": [
            "derivatives",
            "models",
            "test_case"
        ],
        "rooms": [
            "distributions/absorption"
        ]
    },
    "moments/moment_tests": {
        "helpers": [
            "models",
            "test_case"
        ],
        "rooms": [
            "distributions/rewards",
            "config"
        ]
    },
    "moments/transition_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "math"
        ]
    },
    "moments/accuracy_tests": {
        "helpers": [
            "chains",
            "derivatives",
            "test_case"
        ],
        "rooms": [
            "math",
            "config"
        ]
    },
    "moments/extreme_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "math"
        ]
    },
    "rewards/accuracy_tests": {
        "helpers": [
            "chains",
            "models",
            "reward_models",
            "test_case"
        ],
        "rooms": [
            "distributions/rewards",
            "config"
        ]
    },
    "graphs/graph_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "graphs/models",
            "graphs/transformations",
            "graphs/steady_state",
            "distributions/absorption"
        ]
    },
    "graphs/host_tests": {
        "helpers": [
            "graph_cases",
            "test_case"
        ],
        "rooms": [
            "graphs/models",
            "graphs/transformations",
            "distributions/absorption"
        ]
    },
    "graphs/accuracy_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "math/rewards",
            "graphs/models",
            "graphs/transformations",
            "distributions/absorption"
        ]
    },
    "graphs/model_tests": {
        "helpers": [
            "conformance",
            "conformance_modes",
            "test_case"
        ],
        "rooms": [
            "graphs/models",
            "distributions/epochs"
        ]
    },
    "epochs/epoch_tests": {
        "helpers": [
            "epoch_models",
            "test_case"
        ],
        "rooms": [
            "graphs",
            "distributions/epochs"
        ]
    },
    "epochs/epoch_sweeps": {
        "helpers": [
            "epoch_models",
            "test_case"
        ],
        "rooms": [
            "distributions/epochs"
        ]
    },
    "epochs/epoch_rewards_tests": {
        "helpers": [
            "epoch_models",
            "epoch_path_oracle",
            "test_case"
        ],
        "rooms": [
            "graphs/models",
            "distributions/wrapped",
            "distributions/epochs",
            "config"
        ]
    },
    "contract/distribution_tests": {
        "helpers": [
            "chain_cases",
            "chains",
            "derivatives",
            "family_cases",
            "models",
            "own_family",
            "small_laws",
            "test_case"
        ],
        "rooms": [
            "math",
            "graphs/models",
            "distributions/closures",
            "distributions/epochs",
            "inference/mle",
            "binding",
            "config"
        ]
    },
    "contract/accuracy_tests": {
        "helpers": [
            "chains",
            "closure_cases",
            "family_cases",
            "graph_cases",
            "models",
            "own_family",
            "test_case"
        ],
        "rooms": [
            "graphs/models",
            "distributions",
            "inference/mle",
            "config"
        ]
    },
    "quadrature/accuracy_tests": {
        "helpers": [
            "models",
            "test_case"
        ],
        "rooms": [
            "distributions/absorption",
            "config"
        ]
    },
    "contract/doctests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "phasic"
        ]
    },
    "conformance/conformance_tests": {
        "helpers": [
            "conformance",
            "conformance_modes",
            "conformance_statistics",
            "pairwise",
            "test_case"
        ],
        "rooms": [
            "distributions"
        ]
    },
    "conformance/long_tests": {
        "helpers": [
            "conformance",
            "conformance_modes",
            "conformance_statistics",
            "test_case"
        ],
        "rooms": [
            "distributions/wrapped"
        ]
    },
    "covariates/covariates_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "inference/data",
            "inference/datasets",
            "covariates"
        ]
    },
    "inference/inference_tests": {
        "helpers": [
            "derivatives",
            "em_cases",
            "fit_data",
            "own_family",
            "test_case"
        ],
        "rooms": [
            "graphs/models",
            "distributions/epochs",
            "inference/selection",
            "inference/plots",
            "config"
        ]
    },
    "multistate/panel_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "inference/mle",
            "multistate/answers"
        ]
    },
    "multistate/hidden_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "inference/mle",
            "multistate/answers"
        ]
    },
    "multistate/answers_tests": {
        "helpers": [
            "panel_cases",
            "test_case"
        ],
        "rooms": [
            "inference/selection",
            "inference/resampling",
            "multistate/answers"
        ]
    },
    "multistate/simulation_tests": {
        "helpers": [
            "panel_cases",
            "test_case"
        ],
        "rooms": [
            "inference/mle",
            "multistate/answers"
        ]
    },
    "multistate/msm_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "inference/mle",
            "multistate/likelihood"
        ]
    },
    "multistate/msm_answers_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "inference/mle",
            "multistate/answers"
        ]
    },
    "multistate/random_cases_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "multistate/likelihood"
        ]
    },
    "plots/plots_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "inference/mle",
            "inference/plots"
        ]
    },
    "regression/partial_effects_test": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "regression"
        ]
    },
    "resampling/resampling_tests": {
        "helpers": [
            "bootstrap_data",
            "test_case"
        ],
        "rooms": [
            "inference"
        ]
    },
    "regression/regression_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "regression"
        ]
    },
    "intervals/interval_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "inference/selection",
            "regression"
        ]
    },
    "interop/latent_atoms_test": {
        "helpers": [],
        "rooms": [
            "distributions/closures",
            "interop"
        ]
    },
    "saving/saving_tests": {
        "helpers": [
            "chain_cases",
            "family_cases",
            "own_family",
            "test_case"
        ],
        "rooms": [
            "graphs/models",
            "distributions",
            "inference/mle"
        ]
    },
    "binding/binding_tests": {
        "helpers": [
            "test_case"
        ],
        "rooms": [
            "math/calls",
            "binding"
        ]
    }
}
