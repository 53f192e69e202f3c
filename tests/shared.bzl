"""What the tests that are written once are made of, and what they need.

`tests/BUILD` makes a test of each entry and substrate. `tools/rooms` checks
that `rooms` and `helpers` are what the files import: a test that names more
than that runs more often than it has to.
"""

# Helpers of the tests: which rooms of phasic, and which other helpers, each
# imports.
HELPERS = {
    "chain_cases": dict(
        helpers = ["family_cases"],
        rooms = [
            "graphs/models",
            "distributions/wrapped",
            "distributions/epochs",
        ],
    ),
    "chains": dict(
        rooms = ["math/model"],
    ),
    "closure_cases": dict(
        helpers = ["family_cases"],
        rooms = ["distributions/closures"],
    ),
    "conformance": dict(
        helpers = [
            "chain_cases",
            "family_cases",
            "pairwise",
        ],
    ),
    "conformance_modes": dict(
        helpers = ["conformance"],
        rooms = ["internal"],
    ),
    "conformance_statistics": dict(
        helpers = ["conformance"],
    ),
    "em_cases": dict(
        rooms = ["inference/data"],
    ),
    "epoch_models": dict(
        rooms = ["graphs/models"],
    ),
    "family_cases": dict(
        rooms = ["distributions/wrapped"],
    ),
    "fit_data": dict(
        rooms = ["inference/data"],
    ),
    "graph_cases": dict(
        helpers = ["test_case"],
        rooms = ["graphs/core"],
    ),
    "models": dict(
    ),
    "pairwise": dict(
    ),
    "reward_models": dict(
        helpers = ["models"],
    ),
    "test_case": dict(
        rooms = ["internal"],
    ),
    "trials": dict(
        rooms = ["math/model"],
    ),
}

# The tests of a folder that run in one process, which imports its framework
# once. `slow` says why a substrate runs them in `make test-slow` alone.
TESTS = {
    "kernel/value_tests": dict(
        files = [
            "binary_test",
            "edge_rates_test",
            "phase_type_test",
            "property_test",
            "segments_test",
            "wanted_test",
        ],
        helpers = [
            "models",
            "test_case",
        ],
        rooms = ["math"],
    ),
    "kernel/statistics_tests": dict(
        files = [
            "expected_statistics_laws_test",
            "expected_statistics_test",
        ],
        helpers = [
            "models",
            "test_case",
        ],
        rooms = ["math"],
    ),
    "kernel/portable_tests": dict(
        files = [
            "portable_accuracy_test",
            "portable_test",
        ],
        helpers = [
            "models",
            "test_case",
        ],
        rooms = ["math"],
    ),
    "kernel/discrete_tests": dict(
        files = [
            "discrete_kinds_test",
            "discrete_phase_type_derivatives_test",
            "discrete_phase_type_test",
        ],
        helpers = [
            "test_case",
            "trials",
        ],
        rooms = ["math"],
    ),
    "moments/moment_tests": dict(
        files = [
            "elimination_test",
            "moments_test",
            "passage_methods_test",
        ],
        helpers = [
            "models",
            "test_case",
        ],
        rooms = ["distributions/absorption"],
    ),
    "moments/accuracy_tests": dict(
        files = [
            "elimination_derivatives_accuracy_test",
            "generating_functions_test",
            "moments_accuracy_test",
            "passages_accuracy_test",
        ],
        helpers = [
            "chains",
            "models",
            "test_case",
        ],
        rooms = [
            "math",
            "distributions/wrapped",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "moments/renewal_tests": dict(
        files = ["renewals_test"],
        helpers = ["test_case"],
        rooms = ["distributions/wrapped"],
        tags = {
            "jax": {"slow": "compiles many cases"},
        },
    ),
    "rewards/reward_tests": dict(
        files = ["discrete_reward_transform_test"],
        helpers = ["test_case"],
        rooms = ["math/rewards"],
    ),
    "rewards/accuracy_tests": dict(
        files = [
            "feed_forward_accuracy_test",
            "mark_probs_accuracy_test",
            "multivariate_accuracy_test",
            "multivariate_phase_type_accuracy_test",
            "reward_transform_accuracy_test",
        ],
        helpers = [
            "chains",
            "models",
            "reward_models",
            "test_case",
        ],
        rooms = ["distributions/rewards"],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "computes what NumPy computes, in the same code"},
        },
    ),
    "quadrature/quadrature_tests": dict(
        files = [
            "heavy_moments_test",
            "information_accuracy_test",
            "node_sums_test",
            "transformed_modes_test",
            "truncated_moments_test",
        ],
        helpers = [
            "family_cases",
            "models",
            "test_case",
        ],
        rooms = [
            "distributions/wrapped",
            "distributions/rewards",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "computes what NumPy computes, in the same code"},
        },
    ),
    "quadrature/mode_tests": dict(
        files = ["modes_test"],
        helpers = ["test_case"],
        rooms = ["distributions/wrapped"],
    ),
    "quantiles/quantile_tests": dict(
        files = ["quantile_test"],
        helpers = [
            "models",
            "test_case",
        ],
        rooms = ["math/likelihood"],
    ),
    "quantiles/accuracy_tests": dict(
        files = ["quantile_accuracy_test"],
        helpers = ["test_case"],
        rooms = ["math/quantiles"],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "computes what NumPy computes, in the same code"},
        },
    ),
    "sampling/sampling_tests": dict(
        files = [
            "sample_paths_test",
            "sampling_test",
        ],
        helpers = [
            "models",
            "test_case",
        ],
        rooms = ["distributions/families"],
    ),
    "families/family_tests": dict(
        files = [
            "families_canonical_form_test",
            "families_limits_test",
            "families_structure_test",
            "families_truncated_test",
            "families_warnings_test",
        ],
        helpers = [
            "chains",
            "family_cases",
            "test_case",
        ],
        rooms = ["distributions"],
    ),
    "families/far_times_tests": dict(
        files = ["families_far_times_test"],
        helpers = ["test_case"],
        rooms = ["distributions/wrapped"],
    ),
    "families/failure_tests": dict(
        files = [
            "families_failures_test",
            "families_rare_failures_test",
        ],
        helpers = ["test_case"],
        rooms = ["distributions/wrapped"],
    ),
    "families/residual_life_tests": dict(
        files = ["families_residual_life_test"],
        helpers = ["test_case"],
        rooms = ["distributions/wrapped"],
    ),
    "families/accuracy_tests": dict(
        files = [
            "families_accuracy_test",
            "families_contract_test",
            "families_derivatives_test",
            "families_moments_test",
        ],
        helpers = [
            "family_cases",
            "test_case",
        ],
        rooms = [
            "graphs/models",
            "distributions/wrapped",
            "distributions/epochs",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "computes what NumPy computes, in the same code"},
        },
    ),
    "closures/closure_tests": dict(
        files = ["closure_test"],
        helpers = ["test_case"],
        rooms = ["distributions/closures"],
    ),
    "closures/accuracy_tests": dict(
        files = [
            "closure_accuracy_test",
            "closure_contract_test",
        ],
        helpers = [
            "closure_cases",
            "test_case",
        ],
        rooms = ["distributions"],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "computes what NumPy computes, in the same code"},
        },
    ),
    "epochs/epoch_tests": dict(
        files = [
            "epochs_accuracy_test",
            "epochs_derivatives_accuracy_test",
            "epochs_divergences_test",
            "epochs_test",
        ],
        helpers = [
            "epoch_models",
            "test_case",
        ],
        rooms = [
            "graphs/models",
            "graphs/transformations",
            "distributions/families",
            "distributions/epochs",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
        },
    ),
    "graphs/graph_tests": dict(
        files = [
            "graph_arrays_test",
            "graphs_test",
            "lumping_test",
        ],
        helpers = ["test_case"],
        rooms = [
            "graphs/models",
            "graphs/transformations",
            "distributions/absorption",
        ],
    ),
    "graphs/host_tests": dict(
        files = [
            "graph_states_errors_test",
            "graphs_errors_test",
            "graphs_formats_test",
            "graphs_json_test",
            "graphs_pictures_test",
            "graphs_property_test",
        ],
        helpers = [
            "graph_cases",
            "test_case",
        ],
        rooms = [
            "graphs/transformations",
            "distributions/absorption",
        ],
        tags = {
            "jax": {"slow": "works on the host, in the same code as in NumPy"},
            "tf": {"slow": "works on the host, in the same code as in NumPy"},
        },
    ),
    "graphs/distribution_tests": dict(
        files = [
            "competing_risks_accuracy_test",
            "competing_risks_test",
            "graph_distributions_test",
            "log_prob_and_moments_test",
        ],
        helpers = [
            "chain_cases",
            "test_case",
        ],
        rooms = [
            "graphs/models",
            "distributions/rewards",
        ],
    ),
    "graphs/accuracy_tests": dict(
        files = [
            "graph_models_accuracy_test",
            "graph_transformations_accuracy_test",
        ],
        helpers = ["test_case"],
        rooms = [
            "math/rewards",
            "graphs/models",
            "graphs/transformations",
            "distributions/absorption",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "computes what NumPy computes, in the same code"},
        },
    ),
    "inference/em_tests": dict(
        files = [
            "em_families_test",
            "em_step_test",
            "fit_em_test",
            "moment_matching_test",
        ],
        helpers = [
            "em_cases",
            "fit_data",
            "test_case",
        ],
        rooms = ["inference/em"],
        tags = {
            "jax": {"slow": "compiles many cases"},
        },
    ),
    "inference/fit_tests": dict(
        files = [
            "coordinates_test",
            "fit_errors_test",
            "fit_mle_test",
            "fit_starts_test",
            "fit_uncertainty_test",
        ],
        helpers = [
            "fit_data",
            "test_case",
        ],
        rooms = [
            "graphs/models",
            "distributions/epochs",
            "inference/em",
            "inference/selection",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "inference/observation_tests": dict(
        files = [
            "inference_accuracy_test",
            "inference_observations_test",
            "observations_test",
        ],
        helpers = ["test_case"],
        rooms = [
            "graphs/models",
            "distributions/rewards",
            "distributions/epochs",
            "inference/likelihood",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
        },
    ),
    "inference/picture_tests": dict(
        files = [
            "inference_pictures_kinds_test",
            "inference_pictures_test",
        ],
        helpers = ["test_case"],
        rooms = [
            "distributions/rewards",
            "inference/mle",
            "inference/plots",
        ],
        tags = {
            "jax": {"slow": "works on the host, in the same code as in NumPy"},
            "tf": {"slow": "works on the host, in the same code as in NumPy"},
        },
    ),
    "contract/contract_tests": dict(
        files = [
            "argument_errors_test",
            "contract_test",
            "discrete_distribution_test",
            "distribution_test",
            "hazards_test",
            "mistakes_test",
            "structure_errors_test",
        ],
        helpers = [
            "models",
            "test_case",
        ],
        rooms = [
            "distributions/wrapped",
            "distributions/rewards",
        ],
    ),
    "contract/doctests": dict(
        files = ["doctest_test"],
        helpers = ["test_case"],
        rooms = ["phasic"],
    ),
    "conformance/conformance_tests": dict(
        files = [
            "conformance_dtypes_test",
            "conformance_quantiles_test",
            "conformance_rewards_test",
            "conformance_round_trips_test",
            "conformance_rules_test",
            "conformance_samples_test",
            "conformance_scipy_test",
            "conformance_statistics_test",
            "conformance_structure_test",
            "conformance_values_test",
            "pairwise_test",
        ],
        helpers = [
            "conformance",
            "conformance_modes",
            "conformance_statistics",
            "pairwise",
            "test_case",
        ],
        rooms = ["distributions"],
        sweep = True,
    ),
    "conformance/derivative_tests": dict(
        files = [
            "conformance_derivatives_test",
            "conformance_statistics_derivatives_test",
        ],
        helpers = [
            "conformance",
            "conformance_modes",
            "conformance_statistics",
            "test_case",
        ],
        rooms = ["distributions/base"],
        sweep = True,
        disabled = {"numpy": "has no autodiff"},
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "binding/binding_tests": dict(
        files = ["binding_test"],
        helpers = ["test_case"],
        rooms = ["binding"],
    ),
}
