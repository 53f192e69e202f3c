// Models of a batch: each as by itself, bit by bit, and all as dense
// elimination in a wider format has them.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "native/elimination/elimination.h"

namespace phasic {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Models with the same edges.
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

enum class Shape { kGrid, kComponents, kRandom, kChain, kDense, kAcyclic };
constexpr Shape kShapes[] = {Shape::kGrid,   Shape::kComponents,
                             Shape::kRandom, Shape::kChain,
                             Shape::kDense,  Shape::kAcyclic};

template <class F>
Models<F> MakeModels(Shape shape, int64_t batch, int64_t columns,
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
  if (shape == Shape::kGrid) {
    for (int64_t i = 0; i < p; ++i) {
      if (i % 6 > 0) add(i, i - 1);
      if (i % 6 < 5) add(i, i + 1);
      if (i >= 6) add(i, i - 6);
      if (i < 30) add(i, i + 6);
    }
    add(0, p);
  } else if (shape == Shape::kComponents) {
    // Cycles of four, one after the other, with edges on to later ones.
    for (int64_t i = 0; i < p; ++i) {
      add(i, i / 4 * 4 + (i + 1) % 4);
      add(i, std::min(p, i / 4 * 4 + 4 + pick(8)));
    }
  } else if (shape == Shape::kRandom) {
    for (int64_t e = 0; e < 3 * p; ++e) add(pick(p), pick(p + 1));
    for (int64_t i = 0; i < p; ++i) add(i, p);
  } else if (shape == Shape::kChain) {
    for (int64_t i = 0; i < p; ++i) {
      add(i, i + 1);
      if (i > 0) add(i, i - 1);
    }
  } else if (shape == Shape::kDense) {
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

template <class F>
void ExpectSameBits(const std::vector<F>& all, const std::vector<F>& part,
                    int64_t first) {
  const F* mine = all.data() + first * static_cast<int64_t>(part.size());
  EXPECT_EQ(std::memcmp(mine, part.data(), part.size() * sizeof(F)), 0);
}

template <class F>
void CheckBits(const Models<F>& models) {
  for (const Direction direction :
       {Direction::kSolve, Direction::kSolveTransposed}) {
    const Results<F> all = Apply(direction, models, 0, models.batch);
    for (int64_t n = 0; n < models.batch; ++n) {
      const Results<F> one = Apply(direction, models, n, 1);
      ExpectSameBits(all.per_phase, one.per_phase, n);
      ExpectSameBits(all.per_edge, one.per_edge, n);
    }
  }
}

TEST(BatchesTest, BitsDoNotDependOnTheBatch) {
  unsigned seed = 0;
  for (const Shape shape : kShapes) {
    for (const int64_t batch : {2, 3, 8, 9, 19}) {
      for (const int64_t columns : {1, 2}) {
        for (const bool has_edges : {false, true}) {
          ++seed;
          CheckBits(MakeModels<double>(shape, batch, columns, has_edges, seed));
          CheckBits(MakeModels<float>(shape, batch, columns, has_edges, seed));
        }
      }
    }
  }
}

// What one model has wrong is none of the others' business.
TEST(BatchesTest, BadModelsAreApart) {
  for (const Shape shape : kShapes) {
    for (const double bad : {-1.0, std::nan(""), kInfinity, 1e308}) {
      Models<double> models = MakeModels<double>(shape, 16, 1, true, 7);
      const int64_t m = models.num_edges();
      for (int64_t e = 0; e < m; ++e) models.weights[3 * m + e] = bad;
      models.weights[9 * m] = bad;
      CheckBits(models);
      const Results<double> all = Apply(Direction::kSolve, models, 0, 16);
      EXPECT_FALSE(std::isfinite(
          all.per_phase[static_cast<size_t>(3 * models.num_phases)]));
      EXPECT_TRUE(std::isfinite(all.per_phase[0]));
    }
  }
}

TEST(BatchesTest, TrapsAreApart) {
  for (const Shape shape : kShapes) {
    Models<double> models = MakeModels<double>(shape, 16, 2, true, 8);
    const int64_t m = models.num_edges();
    std::mt19937 random(9);
    for (const int64_t model : {2, 11, 12}) {
      for (int64_t e = 0; e < m; ++e) {
        if (random() % 3 == 0) models.weights[model * m + e] = 0.0;
      }
    }
    for (int64_t e = 0; e < m; ++e) models.weights[5 * m + e] = -0.0;
    CheckBits(models);
    const Results<double> all = Apply(Direction::kSolve, models, 0, 16);
    const auto p = static_cast<size_t>(models.num_phases);
    EXPECT_EQ(all.per_phase[5 * p * 2], kInfinity);
  }
}

// Dense elimination of the phases from the last to the first.
class Dense {
 public:
  Dense(const Models<double>& models, int64_t model)
      : p_(models.num_phases),
        rates_(static_cast<size_t>(p_ * p_)),
        exits_(static_cast<size_t>(p_)),
        pivots_(static_cast<size_t>(p_)) {
    const int64_t m = models.num_edges();
    for (int64_t e = 0; e < m; ++e) {
      const double weight = models.weights[model * m + e];
      const int64_t i = models.sources[e];
      const int64_t j = models.targets[e];
      (j == p_ ? exits_[i] : At(i, j)) += weight;
    }
    for (int64_t k = p_; k-- > 0;) {
      pivots_[k] = exits_[k];
      for (int64_t j = 0; j < k; ++j) pivots_[k] += At(k, j);
      for (int64_t i = 0; i < k; ++i) {
        At(i, k) /= pivots_[k];
        for (int64_t j = 0; j < k; ++j) At(i, j) += At(i, k) * At(k, j);
        exits_[i] += At(i, k) * exits_[k];
      }
    }
  }

  std::vector<long double> Solve(std::vector<long double> b) {
    for (int64_t k = p_; k-- > 0;) {
      for (int64_t i = 0; i < k; ++i) b[i] += At(i, k) * b[k];
    }
    for (int64_t k = 0; k < p_; ++k) {
      for (int64_t j = 0; j < k; ++j) b[k] += At(k, j) * b[j];
      b[k] /= pivots_[k];
    }
    return b;
  }

  std::vector<long double> SolveTransposed(std::vector<long double> b) {
    for (int64_t k = p_; k-- > 0;) {
      b[k] /= pivots_[k];
      for (int64_t j = 0; j < k; ++j) b[j] += At(k, j) * b[k];
    }
    for (int64_t k = 0; k < p_; ++k) {
      for (int64_t i = 0; i < k; ++i) b[k] += At(i, k) * b[i];
    }
    return b;
  }

 private:
  long double& At(int64_t i, int64_t j) { return rates_[i * p_ + j]; }

  const int64_t p_;
  std::vector<long double> rates_, exits_, pivots_;
};

TEST(BatchesTest, AgreesWithDenseEliminationInAWiderFormat) {
  if (std::numeric_limits<long double>::digits < 60) GTEST_SKIP();
  unsigned seed = 100;
  for (const Shape shape : kShapes) {
    const int64_t columns = 2;
    const Models<double> models =
        MakeModels<double>(shape, 11, columns, true, ++seed);
    const int64_t p = models.num_phases;
    const int64_t m = models.num_edges();
    const Results<double> solved = Apply(Direction::kSolve, models, 0, 11);
    Models<double> phases_only = models;
    phases_only.per_edge.clear();
    const Results<double> transposed =
        Apply(Direction::kSolveTransposed, phases_only, 0, 11);
    for (int64_t n = 0; n < 11; ++n) {
      Dense dense(models, n);
      for (int64_t c = 0; c < columns; ++c) {
        std::vector<long double> b;
        for (int64_t i = 0; i < p; ++i) {
          b.push_back(models.per_phase[(n * p + i) * columns + c]);
        }
        const auto y = dense.SolveTransposed(b);
        for (int64_t e = 0; e < m; ++e) {
          b[models.sources[e]] += models.per_edge[(n * m + e) * columns + c];
        }
        const auto x = dense.Solve(b);
        const auto near = [](double found, long double expected,
                             long double size) {
          EXPECT_NEAR(found, static_cast<double>(expected),
                      static_cast<double>(1e-14L * size));
        };
        for (int64_t i = 0; i < p; ++i) {
          const int64_t place = (n * p + i) * columns + c;
          near(solved.per_phase[place], x[i], x[i]);
          near(transposed.per_phase[place], y[i], y[i]);
        }
        for (int64_t e = 0; e < m; ++e) {
          const int64_t i = models.sources[e];
          const int64_t j = models.targets[e];
          const long double there = j == p ? 0.0L : x[j];
          const int64_t place = (n * m + e) * columns + c;
          near(solved.per_edge[place], x[i] - there, x[i] + there);
          near(transposed.per_edge[place], y[i], y[i]);
        }
      }
    }
  }
}

// A cycle that is left once in 1e12 rounds: solutions agree to twelve digits,
// their differences are known to all.
TEST(BatchesTest, DifferencesKeepTheirDigits) {
  Models<double> models;
  const int64_t p = 24;
  models.num_phases = p;
  models.batch = 9;
  for (int32_t i = 0; i < p; ++i) {
    models.sources.push_back(i);
    models.targets.push_back(static_cast<int32_t>((i + 1) % p));
  }
  models.sources.push_back(0);
  models.targets.push_back(static_cast<int32_t>(p));
  for (int64_t n = 0; n < models.batch; ++n) {
    for (int64_t i = 0; i < p; ++i) {
      models.weights.push_back(1.0 + static_cast<double>(n + i));
    }
    models.weights.push_back(1e-12);
    models.per_phase.insert(models.per_phase.end(), static_cast<size_t>(p),
                            1.0);
  }
  const Results<double> found =
      Apply(Direction::kSolve, models, 0, models.batch);
  for (int64_t n = 0; n < models.batch; ++n) {
    // Each phase but the first is left for the next after its mean time.
    for (int64_t i = 1; i < p; ++i) {
      const double time = 1.0 / models.weights[n * (p + 1) + i];
      EXPECT_NEAR(found.per_edge[n * (p + 1) + i], time, 1e-13 * time);
    }
  }
}

// Cycles one after the other, of which the last is hardly ever left.
TEST(BatchesTest, DifferencesBeforeASlowComponent) {
  Models<double> models;
  models.num_phases = 6;
  models.batch = 5;
  models.sources = {0, 1, 0, 2, 3, 2, 4, 5, 4};
  models.targets = {1, 0, 2, 3, 2, 4, 5, 4, 6};
  for (int64_t n = 0; n < models.batch; ++n) {
    for (int i = 0; i < 8; ++i) models.weights.push_back(1.0);
    models.weights.push_back(1e-20);
    models.per_phase.insert(models.per_phase.end(), 6, 1.0);
  }
  const Results<double> found =
      Apply(Direction::kSolve, models, 0, models.batch);
  for (int64_t n = 0; n < models.batch; ++n) {
    // Half of the visits to a cycle's first phase, of half a unit each, go on
    // to its second, of one unit.
    const double expected[] = {-1.0, 1.0, 2.0, -1.0, 1.0, 2.0, -1.0, 1.0, 2e20};
    for (int64_t e = 0; e < 9; ++e) {
      EXPECT_NEAR(found.per_edge[n * 9 + e], expected[e],
                  1e-14 * std::fabs(expected[e]));
    }
  }
}

}  // namespace
}  // namespace phasic
