"""What the tests that are written once are made of.

`tests/BUILD` makes a test of each entry and substrate. What it needs follows
from its imports, in `needs.bzl`; `rooms` names what it needs besides.
"""

# Files of tests/shared that run in one process, which imports its framework once:
# those that a change would run together anyway. A "slow" tag says why a substrate
# runs them in `make test-slow` alone.
TESTS = {
    "kernel/value_tests": dict(
        files = [
            "kernel/binary_test",
            "kernel/discrete_kinds_test",
            "kernel/discrete_phase_type_derivatives_test",
            "kernel/discrete_phase_type_test",
            "kernel/edge_rates_test",
            "kernel/expected_statistics_laws_test",
            "kernel/expected_statistics_test",
            "kernel/far_values_test",
            "kernel/large_sparse_test",
            "kernel/phase_type_test",
            "kernel/portable_accuracy_test",
            "kernel/portable_derivatives_test",
            "kernel/portable_test",
            "kernel/property_test",
            "kernel/segments_test",
            "kernel/unusable_kernel_test",
            "kernel/wanted_test",
        ],
    ),
    "quantiles/accuracy_tests": dict(
        files = ["quantiles/quantile_accuracy_test"],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "computes what NumPy computes, in the same code"},
        },
    ),
    "sampling/sampling_tests": dict(
        files = [
            "quantiles/quantile_portable_test",
            "quantiles/quantile_test",
            "sampling/sampling_test",
        ],
    ),
    "moments/moment_tests": dict(
        files = [
            "moments/elimination_test",
            "moments/moments_test",
            "moments/partial_rewards_test",
            "moments/passage_methods_test",
            "moments/phase_weights_test",
            "rewards/discrete_reward_transform_test",
        ],
    ),
    "moments/transition_tests": dict(
        files = ["moments/transition_probs_test"],
        tags = {"jax": {"slow": "compiles many cases"}},
    ),
    "moments/accuracy_tests": dict(
        files = [
            "moments/elimination_derivatives_accuracy_test",
            "moments/moments_accuracy_test",
            "moments/passages_accuracy_test",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "moments/extreme_tests": dict(
        files = ["moments/extreme_moments_test"],
        sweep = True,
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "rewards/accuracy_tests": dict(
        files = [
            "rewards/feed_forward_accuracy_test",
            "rewards/mark_probs_accuracy_test",
            "rewards/multivariate_accuracy_test",
            "rewards/multivariate_phase_type_accuracy_test",
            "rewards/reward_transform_accuracy_test",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "computes what NumPy computes, in the same code"},
        },
    ),
    "graphs/graph_tests": dict(
        files = [
            "graphs/competing_risks_accuracy_test",
            "graphs/competing_risks_test",
            "graphs/graph_arrays_test",
            "graphs/graphs_test",
            "graphs/log_prob_and_moments_test",
            "graphs/lumping_test",
            "graphs/steady_state_test",
        ],
    ),
    "graphs/host_tests": dict(
        files = [
            "graphs/graph_states_errors_test",
            "graphs/graphs_errors_test",
            "graphs/graphs_formats_test",
            "graphs/graphs_json_test",
            "graphs/graphs_pictures_test",
            "graphs/graphs_property_test",
            "graphs/graphs_without_states_test",
        ],
        tags = {
            "jax": {"slow": "works on the host, in the same code as in NumPy"},
            "tf": {"slow": "works on the host, in the same code as in NumPy"},
        },
    ),
    "graphs/accuracy_tests": dict(
        files = [
            "graphs/graph_models_accuracy_test",
            "graphs/graph_transformations_accuracy_test",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "computes what NumPy computes, in the same code"},
        },
    ),
    "graphs/model_tests": dict(
        files = [
            "graphs/joint_models_test",
            "graphs/merger_models_test",
            "graphs/spectra_test",
            "graphs/structured_models_test",
        ],
        tags = {
            "tf": {"slow": "computes what NumPy computes, in the same code"},
        },
    ),
    "epochs/epoch_tests": dict(
        files = [
            "epochs/epoch_rewards_accuracy_test",
            "epochs/epochs_accuracy_test",
            "epochs/epochs_derivatives_accuracy_test",
            "epochs/epochs_test",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "epochs/epoch_sweeps": dict(
        files = [
            "epochs/epoch_gradients_accuracy_test",
            "epochs/epoch_simulation_test",
        ],
        sweep = True,
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "epochs/epoch_rewards_tests": dict(
        files = [
            "epochs/epoch_paths_test",
            "epochs/epoch_statistics_test",
            "epochs/multivariate_epochs_test",
            "epochs/piecewise_constant_test",
            "epochs/spectra_covariance_test",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "contract/distribution_tests": dict(
        files = [
            "closures/closure_test",
            "closures/count_test",
            "closures/scaled_test",
            "contract/argument_errors_test",
            "contract/argument_rules_test",
            "contract/bad_arguments_test",
            "contract/bad_values_test",
            "contract/contract_test",
            "contract/declarations_test",
            "contract/discrete_distribution_test",
            "contract/distribution_test",
            "contract/gradients_of_edges_test",
            "contract/mistakes_test",
            "contract/nan_derivatives_test",
            "contract/nan_reasons_test",
            "contract/own_hooks_test",
            "contract/precision_test",
            "contract/result_sizes_test",
            "contract/rounded_sums_test",
            "contract/sparse_matrices_test",
            "contract/structure_errors_test",
            "contract/unusual_values_test",
            "contract/work_limits_test",
            "families/families_structure_test",
            "families/kept_chains_test",
            "graphs/graph_distributions_test",
            "graphs/kept_chains_test",
            "sampling/sample_paths_test",
        ],
    ),
    "contract/accuracy_tests": dict(
        files = [
            "closures/closure_accuracy_test",
            "closures/closure_contract_test",
            "closures/scaled_accuracy_test",
            "contract/hazards_test",
            "epochs/epochs_divergences_test",
            "families/families_accuracy_test",
            "families/families_canonical_form_test",
            "families/families_contract_test",
            "families/families_derivatives_test",
            "families/families_failures_test",
            "families/families_far_times_test",
            "families/families_limits_test",
            "families/families_moments_test",
            "families/families_rare_failures_test",
            "families/families_residual_life_test",
            "families/families_truncated_test",
            "families/families_warnings_test",
            "families/partial_means_test",
            "families/shifted_test",
            "moments/generating_functions_test",
            "moments/renewals_test",
            "quadrature/heavy_moments_test",
            "quadrature/modes_test",
            "quadrature/quadrature_points_test",
            "quadrature/transformed_divergences_test",
            "quadrature/transformed_modes_test",
            "quadrature/transformed_sojourns_test",
            "quadrature/truncated_moments_test",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "computes what NumPy computes, in the same code"},
        },
    ),
    "quadrature/accuracy_tests": dict(
        files = ["quadrature/information_accuracy_test"],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "computes what NumPy computes, in the same code"},
        },
    ),
    "contract/doctests": dict(
        files = ["contract/doctest_test"],
        rooms = ["phasic"],
        tags = {
            "tf": {"slow": "computes what NumPy computes, in the same code"},
        },
    ),
    "conformance/conformance_tests": dict(
        files = [
            "conformance/conformance_dtypes_test",
            "conformance/conformance_quantiles_test",
            "conformance/conformance_rewards_test",
            "conformance/conformance_rules_test",
            "conformance/conformance_samples_test",
            "conformance/conformance_statistics_test",
            "conformance/conformance_structure_test",
            "conformance/conformance_values_test",
            "conformance/pairwise_test",
        ],
        sweep = True,
    ),
    "conformance/long_tests": dict(
        files = [
            "conformance/conformance_derivatives_test",
            "conformance/conformance_round_trips_test",
            "conformance/conformance_scipy_test",
            "conformance/conformance_statistics_derivatives_test",
        ],
        sweep = True,
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "covariates/covariates_tests": dict(
        files = [
            "covariates/columns_test",
            "covariates/designs_test",
            "covariates/formulas_test",
            "datasets/datasets_test",
        ],
    ),
    "inference/inference_tests": dict(
        files = [
            "inference/coordinates_test",
            "inference/em_families_test",
            "inference/em_step_test",
            "inference/epoch_em_test",
            "inference/epoch_fits_test",
            "inference/fit_arguments_test",
            "inference/fit_em_options_test",
            "inference/fit_em_test",
            "inference/fit_ends_test",
            "inference/fit_errors_test",
            "inference/fit_mle_test",
            "inference/fit_starts_test",
            "inference/fit_uncertainty_test",
            "inference/inference_accuracy_test",
            "inference/inference_pictures_kinds_test",
            "inference/inference_pictures_test",
            "inference/maximum_test",
            "inference/moment_matching_test",
            "inference/observation_conditions_test",
            "inference/observation_rules_test",
            "inference/observation_terms_test",
            "inference/observations_test",
            "inference/own_family_test",
            "inference/tables_test",
            "m_step/m_step_edges_test",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "multistate/panel_tests": dict(
        files = [
            "multistate/likelihood_test",
            "multistate/panel_data_test",
        ],
    ),
    "multistate/hidden_tests": dict(
        files = [
            "multistate/decoding_test",
            "multistate/em_test",
            "multistate/sojourns_test",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "multistate/answers_tests": dict(
        files = [
            "multistate/answers_test",
            "multistate/goodness_of_fit_test",
            "multistate/inference_test",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "multistate/simulation_tests": dict(
        files = [
            "multistate/prevalence_test",
            "multistate/simulation_test",
        ],
    ),
    "multistate/msm_tests": dict(
        files = ["multistate/msm_test"],
    ),
    "multistate/msm_answers_tests": dict(
        files = ["multistate/msm_answers_test"],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "multistate/random_cases_tests": dict(
        files = ["multistate/random_cases_test"],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "plots/plots_tests": dict(
        files = [
            "plots/coefficients_test",
            "plots/fit_pictures_test",
        ],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "regression/partial_effects_test": dict(
        files = ["regression/partial_effects_test"],
        tags = {
            "jax": {"slow": "compiles many cases"},
            "tf": {"slow": "traces many cases"},
        },
    ),
    "resampling/resampling_tests": dict(
        files = [
            "resampling/bootstrap_intervals_test",
            "resampling/bootstrap_test",
            "resampling/resamples_test",
        ],
        tags = {"tf": {"slow": "traces each fit"}},
    ),
    "regression/regression_tests": dict(
        files = ["regression/regression_test"],
        tags = {
            "jax": {"slow": "compiles for minutes what NumPy computes"},
            "tf": {"slow": "traces for minutes what NumPy computes"},
        },
    ),
    "intervals/interval_tests": dict(
        files = [
            "intervals/intervals_test",
            "regression/effects_test",
            "regression/refusals_test",
        ],
    ),
    "interop/latent_atoms_test": dict(
        files = ["interop/latent_atoms_test"],
        disabled = {"numpy": "TensorFlow Probability has no NumPy distributions here"},
    ),
    "saving/saving_tests": dict(
        files = [
            "saving/json_test",
            "saving/pickles_test",
            "saving/refusals_test",
        ],
    ),
    "binding/binding_tests": dict(
        files = [
            "binding/binding_rules_test",
            "binding/binding_test",
        ],
    ),
}

def check_shared(tests):
    """Fails when a file is not in exactly one entry of TESTS.

    Args:
      tests: all files of the tests that are written once, as a glob has them.
    """
    counts = {path: 0 for path in tests}
    for test in TESTS.values():
        for file in test["files"]:
            path = "shared/%s.py" % file
            if path not in counts:
                fail("tests/%s is in tests/shared.bzl, but is not there: drop it" % path)
            counts[path] += 1
    for path, count in counts.items():
        if count != 1:
            fail("tests/%s is in %s entries of tests/shared.bzl: it must be in one" % (path, count))
