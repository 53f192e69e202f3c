// Models for tests of moments, and functions that compute their moments.

#ifndef PHASIC_NATIVE_ELIMINATION_MOMENTS_TEST_MODELS_H_
#define PHASIC_NATIVE_ELIMINATION_MOMENTS_TEST_MODELS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "native/elimination/api/moments.h"

namespace phasic {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

struct Model {
  int64_t num_phases = 0;
  std::vector<int32_t> sources, targets;
  std::vector<double> weights;  // [batch, m], or [batch, p, p] with a matrix
  std::vector<double> exits;    // beside a matrix, [p] or none
  std::vector<double> initial;  // [p]
  std::vector<double> atom, stay;
  bool is_discrete = false;
  bool has_matrix = false;

  void Add(int32_t source, int64_t target, double weight) {
    sources.push_back(source);
    targets.push_back(static_cast<int32_t>(target));
    weights.push_back(weight);
  }
};

struct Found {
  std::string error;
  std::vector<double> mean, variance;
  std::vector<double> mean_of_weights, mean_of_exits, mean_of_initial;
  std::vector<double> variance_of_weights, variance_of_exits;
  std::vector<double> variance_of_initial;
};

inline Found Compute(const Model& model, int64_t batch = 1,
                     bool wants_root = false) {
  const auto m = static_cast<int64_t>(model.sources.size());
  const auto p = static_cast<int64_t>(model.initial.size());
  std::vector<int32_t> indices(model.sources);
  indices.insert(indices.end(), model.targets.begin(), model.targets.end());
  const int64_t index_dims[] = {1, 2, m};
  const int64_t edge_dims[] = {batch, m};
  const int64_t matrix_dims[] = {batch, p, p};
  const Shape weights =
      model.has_matrix ? Shape{matrix_dims, 3} : Shape{edge_dims, 2};
  const auto num_exits = static_cast<int64_t>(model.exits.size());
  const int64_t exit_dims[] = {1, num_exits};
  const int64_t phase_dims[] = {1, p};
  const int64_t atom_dims[] = {1, static_cast<int64_t>(model.atom.size())};
  const int64_t stay_dims[] = {1, static_cast<int64_t>(model.stay.size())};
  const int64_t slope_dims[] = {batch, p};
  const int64_t exit_slope_dims[] = {batch, num_exits};
  MomentsCall call;
  call.indices = {indices.data(), {index_dims, 3}};
  call.weights = {model.weights.data(), weights};
  call.exits = {model.exits.data(), {exit_dims, 2}};
  call.initial = {model.initial.data(), {phase_dims, 2}};
  call.atom = {model.atom.data(), {atom_dims, 2}};
  call.stay = {model.stay.data(), {stay_dims, 2}};
  call.is_discrete = model.is_discrete;
  call.wants_variance = call.wants_gradients = true;
  call.wants_root = wants_root;
  call.epsilon = kEpsilon;
  Found found;
  const auto results =
      [&](std::vector<double>* value, std::vector<double>* of_weights,
          std::vector<double>* of_exits, std::vector<double>* of_initial) {
        value->resize(static_cast<size_t>(batch));
        of_weights->resize(
            static_cast<size_t>(model.has_matrix ? batch * p * p : batch * m));
        of_exits->resize(static_cast<size_t>(batch * num_exits));
        of_initial->resize(static_cast<size_t>(batch * p));
        return MomentResults{{value->data(), {edge_dims, 1}},
                             {of_weights->data(), weights},
                             {of_exits->data(), {exit_slope_dims, 2}},
                             {of_initial->data(), {slope_dims, 2}}};
      };
  const MomentResults mean =
      results(&found.mean, &found.mean_of_weights, &found.mean_of_exits,
              &found.mean_of_initial);
  const MomentResults variance =
      results(&found.variance, &found.variance_of_weights,
              &found.variance_of_exits, &found.variance_of_initial);
  const char* error = ComputeMoments(call, mean, variance);
  if (error != nullptr) found.error = error;
  return found;
}

inline Model RandomModel(int64_t p, bool is_discrete, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.5, 1.0);
  Model model;
  model.num_phases = p;
  model.is_discrete = is_discrete;
  for (int32_t i = 0; i < p; ++i) {
    for (int k = 0; k < 3; ++k) {
      const auto target =
          static_cast<int64_t>(random() % static_cast<uint64_t>(p + 1));
      model.Add(i, target, 0.25 * uniform(random));
    }
    model.Add(i, p, 0.125 * uniform(random));
    model.initial.push_back(uniform(random) / static_cast<double>(p));
  }
  return model;
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_MOMENTS_TEST_MODELS_H_
