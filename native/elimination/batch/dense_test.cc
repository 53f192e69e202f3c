// Compares solutions, and their differences along edges, with the results of
// dense elimination in long doubles.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "native/elimination/api/elimination.h"
#include "native/elimination/batch/test_models.h"

namespace phasic {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The matrix -S of one model in long doubles, eliminated from the last phase to
// the first.
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
  for (const Pattern pattern : kPatterns) {
    const int64_t columns = 2;
    const Models<double> models =
        MakeModels<double>(pattern, 11, columns, true, ++seed);
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

// Tests a cycle that is left once in 1e12 rounds: solutions agree to twelve
// digits, but their differences are accurate to all digits.
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
    // The only edge from phase i > 0 leads to the next phase. The difference
    // along it is the mean holding time of phase i.
    for (int64_t i = 1; i < p; ++i) {
      const double time = 1.0 / models.weights[n * (p + 1) + i];
      EXPECT_NEAR(found.per_edge[n * (p + 1) + i], time, 1e-13 * time);
    }
  }
}

// Tests cycles in series, of which the last one is hardly ever left.
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
    // In each cycle but the last, a visit to the first phase takes 1/2 on
    // average. The second phase follows with probability 1/2, else the cycle
    // ends; a visit to it takes 1 and leads back to the first phase. So a cycle
    // that begins in its first phase takes 2 * 1/2 + 1 = 2. The last cycle is
    // left after 1e20 rounds on average, each of which takes 2.
    const double expected[] = {-1.0, 1.0, 2.0, -1.0, 1.0, 2.0, -1.0, 1.0, 2e20};
    for (int64_t e = 0; e < 9; ++e) {
      EXPECT_NEAR(found.per_edge[n * 9 + e], expected[e],
                  1e-14 * std::fabs(expected[e]));
    }
  }
}

}  // namespace
}  // namespace phasic
