"""The glossary: private words, and the field's words to use instead.

Only words that can be checked without context are here.
"""

# Of a whole identifier, without leading underscores.
NAMES = {
  "carried_masses": "transient_distribution",
  "chain_paths": "chain_statistics",
  "discretise": "with_event_counts",
  "heaviest_paths": "max_plus_scaling",
  "lost_times": "underflowed_times",
  "maximizing": "optimizer",
  "named_checks": "value_rules",
  "named_phases": "phase_arguments",
  "nesting": "nested_models",
  "node_rests": "truncation_bounds",
  "normalise": "normalize, embedded_jump_chain",
  "observations_of_density": "observations_from_density",
  "other_laws": "distributions",
  "possible_steps": "reachable_step_counts",
  "round_about": "perturbed_starts",
  "signed_killing": "exponential_tilting",
  "small_arrays": "array_utils",
  "start_of": "initial_guess",
  "time_to": "first_passage_time",
  "with_one_more_phase": "add_phase",
  "without_reward": "stochastic_complement",
}

# Of one word in an identifier, such as `climb` in `_climb_once`.
WORDS = {
  "climb": "maximize",
  "climbing": "maximize",
  "climbs": "runs",
  "companion": "derivative rule",
  "companions": "derivative rules",
  "height": "log_likelihood, objective",
  "heights": "log_likelihoods",
  "hill": "objective",
  "hills": "objective",
  "ladder": "scaling and squaring",
  "rung": "squared power",
  "rungs": "squared powers",
}

# British endings, of one word in an identifier.
STEMS = {
  "behaviour": "behavior",
  "colour": "color",
  "discretis": "discretiz",
  "factoris": "factoriz",
  "initialis": "initializ",
  "neighbour": "neighbor",
  "normalis": "normaliz",
  "optimis": "optimiz",
  "standardis": "standardiz",
  "vectoris": "vectoriz",
}
