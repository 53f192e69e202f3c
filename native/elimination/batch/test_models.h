// Random batches of models that share their edges, for tests.

#ifndef PHASIC_NATIVE_ELIMINATION_BATCH_TEST_MODELS_H_
#define PHASIC_NATIVE_ELIMINATION_BATCH_TEST_MODELS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "native/elimination/api/elimination.h"

namespace phasic {

// A batch of linear systems whose models all have the same edges.
template <class F>
struct Models {
  int64_t num_phases = 0;
  int64_t columns = 1;
  int64_t batch = 1;
  std::vector<int32_t> sources, targets;
  std::vector<F> weights;    // [batch, m]
  std::vector<F> per_phase;  // [batch, p, columns]
  std::vector<F> per_edge;   // [batch, m, columns] or none

  int64_t num_edges() const { return static_cast<int64_t>(sources.size()); }
};

template <class F>
struct Results {
  std::vector<F> per_phase;
  std::vector<F> per_edge;
};

template <class F>
Results<F> Apply(Direction direction, const Models<F>& models, int64_t first,
                 int64_t count) {
  const int64_t m = models.num_edges();
  const int64_t p = models.num_phases;
  const int64_t r = models.columns;
  std::vector<int32_t> indices(models.sources);
  indices.insert(indices.end(), models.targets.begin(), models.targets.end());
  const bool has_edges = !models.per_edge.empty();
  const int64_t index_dims[] = {1, 2, m};
  const int64_t weight_dims[] = {count, m};
  const int64_t phase_dims[] = {count, p, r};
  const int64_t given_dims[] = {count, has_edges ? m : 0, r};
  const int64_t edge_dims[] = {count, m, r};
  LinearSystem system;
  system.indices = {indices.data(), {index_dims, 3}};
  system.weights = {models.weights.data() + first * m, {weight_dims, 2}};
  system.per_phase = {models.per_phase.data() + first * p * r, {phase_dims, 3}};
  system.per_edge = {
      has_edges ? models.per_edge.data() + first * m * r : nullptr,
      {given_dims, 3}};
  system.precision =
      std::is_same_v<F, float> ? Precision::kFloat32 : Precision::kFloat64;
  Results<F> results;
  results.per_phase.resize(static_cast<size_t>(count * p * r));
  results.per_edge.resize(static_cast<size_t>(count * m * r));
  const char* error =
      Eliminate(direction, system, {results.per_phase.data(), {phase_dims, 3}},
                {results.per_edge.data(), {edge_dims, 3}});
  EXPECT_EQ(error, nullptr) << error;
  return results;
}

enum class Pattern { kGrid, kComponents, kRandom, kChain, kDense, kAcyclic };
constexpr Pattern kPatterns[] = {Pattern::kGrid,   Pattern::kComponents,
                                 Pattern::kRandom, Pattern::kChain,
                                 Pattern::kDense,  Pattern::kAcyclic};

template <class F>
Models<F> MakeModels(Pattern pattern, int64_t batch, int64_t columns,
                     bool has_edges, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Models<F> models;
  models.batch = batch;
  models.columns = columns;
  const auto add = [&](int64_t i, int64_t j) {
    models.sources.push_back(static_cast<int32_t>(i));
    models.targets.push_back(static_cast<int32_t>(j));
  };
  const auto pick = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  int64_t p = 36;
  if (pattern == Pattern::kGrid) {
    for (int64_t i = 0; i < p; ++i) {
      if (i % 6 > 0) add(i, i - 1);
      if (i % 6 < 5) add(i, i + 1);
      if (i >= 6) add(i, i - 6);
      if (i < 30) add(i, i + 6);
    }
    add(0, p);
  } else if (pattern == Pattern::kComponents) {
    // The graph consists of cycles of four phases, with edges to later cycles.
    for (int64_t i = 0; i < p; ++i) {
      add(i, i / 4 * 4 + (i + 1) % 4);
      add(i, std::min(p, i / 4 * 4 + 4 + pick(8)));
    }
  } else if (pattern == Pattern::kRandom) {
    for (int64_t e = 0; e < 3 * p; ++e) add(pick(p), pick(p + 1));
    for (int64_t i = 0; i < p; ++i) add(i, p);
  } else if (pattern == Pattern::kChain) {
    for (int64_t i = 0; i < p; ++i) {
      add(i, i + 1);
      if (i > 0) add(i, i - 1);
    }
  } else if (pattern == Pattern::kDense) {
    p = 13;
    for (int64_t i = 0; i < p; ++i) {
      for (int64_t j = 0; j <= p; ++j) add(i, j);
    }
  } else {
    for (int64_t i = 0; i < p; ++i) {
      for (int64_t k = 0; k < 5; ++k) add(i, i + 1 + pick(p - i));
    }
  }
  models.num_phases = p;
  const int64_t m = models.num_edges();
  for (int64_t n = 0; n < batch * m; ++n) {
    models.weights.push_back(static_cast<F>(std::exp(2.0 * normal(random))));
  }
  for (int64_t n = 0; n < batch * p * columns; ++n) {
    models.per_phase.push_back(static_cast<F>(std::exp(normal(random))));
  }
  for (int64_t n = 0; has_edges && n < batch * m * columns; ++n) {
    models.per_edge.push_back(static_cast<F>(std::exp(normal(random))));
  }
  return models;
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_BATCH_TEST_MODELS_H_
