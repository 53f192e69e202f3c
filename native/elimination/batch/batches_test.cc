// Tests that the results of each model of a batch have the same bits as in a
// separate call.

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
  for (const Pattern pattern : kPatterns) {
    for (const int64_t batch : {2, 3, 8, 9, 19}) {
      for (const int64_t columns : {1, 2}) {
        for (const bool has_edges : {false, true}) {
          ++seed;
          CheckBits(
              MakeModels<double>(pattern, batch, columns, has_edges, seed));
          CheckBits(
              MakeModels<float>(pattern, batch, columns, has_edges, seed));
        }
      }
    }
  }
}

// Tests that an invalid model does not affect the other models.
TEST(BatchesTest, BadModelsAreApart) {
  for (const Pattern pattern : kPatterns) {
    for (const double bad : {-1.0, std::nan(""), kInfinity}) {
      Models<double> models = MakeModels<double>(pattern, 16, 1, true, 7);
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

// Tests weights whose sum overflows.
TEST(BatchesTest, HugeModelsAreApart) {
  for (const Pattern pattern : kPatterns) {
    Models<double> models = MakeModels<double>(pattern, 16, 1, true, 7);
    const int64_t m = models.num_edges();
    for (int64_t e = 0; e < m; ++e) models.weights[3 * m + e] = 1e308;
    CheckBits(models);
    const Results<double> all = Apply(Direction::kSolve, models, 0, 16);
    for (const double x : all.per_phase) EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(BatchesTest, TrapsAreApart) {
  for (const Pattern pattern : kPatterns) {
    Models<double> models = MakeModels<double>(pattern, 16, 2, true, 8);
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

}  // namespace
}  // namespace phasic
