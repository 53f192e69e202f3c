// Compares the moments of matrices with those of models that have the same
// edges, and tests which rows are refused.

#include "native/elimination/moments/matrix_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "native/elimination/api/moments.h"
#include "native/elimination/moments/moment_numbers.h"
#include "native/elimination/moments/test_models.h"
#include "native/kernel/simd/float_environment.h"

namespace phasic {
namespace {

// Returns a random matrix whose entries are multiples of 2^-10, so that sums of
// them are exact.
Model RandomMatrix(size_t p, bool is_discrete, bool has_exits, unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&] { return static_cast<double>(random() % 32) / 1024.0; };
  Model model;
  model.num_phases = static_cast<int64_t>(p);
  model.is_discrete = is_discrete;
  model.has_matrix = true;
  model.weights.resize(p * p);
  for (size_t i = 0; i < p; ++i) {
    const double exit = pick() + 1.0 / 1024.0;
    double total = exit;
    for (size_t j = 0; j < p; ++j) {
      if (j == i) continue;
      total += model.weights[i * p + j] = pick();
    }
    model.weights[i * p + i] = is_discrete ? 1.0 - total : -total;
    if (has_exits) model.exits.push_back(exit);
    model.initial.push_back(1.0 / 16.0);
  }
  return model;
}

// Returns the same model, given by its edges.
Model WithEdges(const Model& matrix) {
  const auto p = static_cast<size_t>(matrix.num_phases);
  Model model = matrix;
  model.has_matrix = false;
  model.exits.clear();
  model.weights.clear();
  for (const bool is_exit : {false, true}) {
    for (size_t i = 0; i < p; ++i) {
      double rest = matrix.is_discrete ? 1.0 : 0.0;
      for (size_t j = 0; j < p; ++j) {
        const double x = matrix.weights[i * p + j];
        rest -= x;
        if (!is_exit) {
          model.Add(static_cast<int32_t>(i), static_cast<int64_t>(j),
                    i == j ? 0.0 : x);
        }
      }
      if (is_exit) model.Add(static_cast<int32_t>(i), matrix.num_phases, rest);
    }
  }
  return model;
}

void ExpectClose(double found, double expected, double size) {
  EXPECT_NEAR(found, expected, 1e-13 * std::fabs(expected) + 1e-15 * size);
}

TEST(MatrixWeightsTest, MomentsAreThoseOfTheEdges) {
  for (const bool is_discrete : {false, true}) {
    for (const bool has_exits : {false, true}) {
      for (const size_t p : {1U, 2U, 7U, 12U}) {
        const Model model =
            RandomMatrix(p, is_discrete, has_exits, static_cast<unsigned>(p));
        const Found found = Compute(model);
        const Found edges = Compute(WithEdges(model));
        ASSERT_EQ(found.error + edges.error, "");
        EXPECT_EQ(found.mean[0], edges.mean[0]);
        ExpectClose(found.variance[0], edges.variance[0], 0.0);
        EXPECT_EQ(found.mean_of_initial, edges.mean_of_initial);
        for (size_t i = 0; i < p; ++i) {
          const double of_exit = edges.mean_of_weights[p * p + i];
          const double spread = edges.variance_of_weights[p * p + i];
          if (has_exits) {
            EXPECT_EQ(found.mean_of_exits[i], of_exit);
            ExpectClose(found.variance_of_exits[i], spread, 0.0);
          }
          for (size_t j = 0; j < p; ++j) {
            const size_t k = i * p + j;
            const double own = i == j ? 0.0 : edges.mean_of_weights[k];
            const double more = i == j ? 0.0 : edges.variance_of_weights[k];
            if (has_exits) {
              EXPECT_EQ(found.mean_of_weights[k], own);
              ExpectClose(found.variance_of_weights[k], more, 0.0);
            } else {
              ExpectClose(found.mean_of_weights[k], own - of_exit,
                          std::fabs(own));
              ExpectClose(found.variance_of_weights[k], more - spread,
                          100.0 * (std::fabs(more) + std::fabs(spread)));
            }
          }
        }
      }
    }
  }
}

// Two phases in series, the second one 2^60 times faster: the entry that moves
// mass there has a small derivative, which is no difference of large ones.
TEST(MatrixWeightsTest, SmallDerivativesAreNoDifferences) {
  Model model;
  model.num_phases = 2;
  model.has_matrix = true;
  model.initial = {1.0, 0.0};
  model.weights = {-1.0, 0.5, 0.0, -0x1p60};
  const Found found = Compute(model);
  const std::vector<double> expected = {1.0 + 0x1p-61, 0x1p-60};
  EXPECT_DOUBLE_EQ(found.mean_of_weights[0], expected[0]);
  EXPECT_DOUBLE_EQ(found.mean_of_weights[1], expected[1]);
}

TEST(MatrixWeightsTest, ModelsOfABatchAreAsAlone) {
  const Model first = RandomMatrix(5, false, false, 1);
  Model all = first;
  std::vector<Found> alone;
  all.weights.clear();
  constexpr int64_t kBatch = 11;
  for (int64_t n = 0; n < kBatch; ++n) {
    Model one = RandomMatrix(5, false, false, static_cast<unsigned>(n));
    if (n == 3) one.weights[0] = 1.0;
    all.weights.insert(all.weights.end(), one.weights.begin(),
                       one.weights.end());
    alone.push_back(Compute(one));
  }
  const Found found = Compute(all, kBatch);
  ASSERT_EQ(found.error, "");
  for (size_t n = 0; n < static_cast<size_t>(kBatch); ++n) {
    if (n == 3) {
      EXPECT_TRUE(std::isnan(found.mean[n]));
      EXPECT_TRUE(std::isnan(found.mean_of_weights[n * 25]));
      continue;
    }
    EXPECT_EQ(found.mean[n], alone[n].mean[0]);
    EXPECT_EQ(found.variance[n], alone[n].variance[0]);
    for (size_t k = 0; k < 25; ++k) {
      EXPECT_EQ(found.variance_of_weights[n * 25 + k],
                alone[n].variance_of_weights[k]);
    }
  }
}

TEST(MatrixWeightsTest, SumsOfTheLargestRatesStayInRange) {
  Model model;
  model.num_phases = 3;
  model.has_matrix = true;
  model.initial = {1.0, 0.0, 0.0};
  model.weights = {-0x1.8p1023, 0x1p1023, 0x1p1022, 0.0, -1.0,
                   0.0,         0.0,      0.0,      -1.0};
  const Found found = Compute(model);
  EXPECT_DOUBLE_EQ(found.mean[0], 1.0);
}

// Results are rounded to floats outside of the range of floats, too, where a
// conversion would raise flags.
TEST(MatrixWeightsTest, RoundsToFloatsWithoutFlags) {
  const PHASIC_ISA::FloatEnvironment environment(PHASIC_ISA::Denormals::kKeep);
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const int exponent = static_cast<int>(random() % 400) - 200;
    const double x = std::ldexp(static_cast<double>(random()), exponent - 64) *
                     ((random() & 1) != 0 ? 1.0 : -1.0);
    const float found = Rounded<float>(x);
    ASSERT_FALSE(PHASIC_ISA::FloatEnvironment::LeftRange()) << x;
    ASSERT_EQ(found, static_cast<float>(x)) << x;
    PHASIC_ISA::FloatEnvironment::ClearRange();
  }
  EXPECT_TRUE(std::isnan(Rounded<float>(std::nan(""))));
}

TEST(MatrixWeightsTest, InfiniteMomentsDoNotDependOnTheUnreadDiagonal) {
  Model model;
  model.num_phases = 1;
  model.has_matrix = true;
  model.initial = {1.0};
  model.weights = {0.0};
  model.exits = {0.0};
  const Found found = Compute(model);
  EXPECT_EQ(found.mean[0], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(found.mean_of_exits[0]));
  EXPECT_EQ(found.mean_of_weights[0], 0.0);
}

TEST(MatrixWeightsTest, RowsThatBreakARuleAreNan) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto mean = [](std::vector<double> weights, std::vector<double> exits,
                       bool is_discrete) {
    Model model;
    model.num_phases = 2;
    model.has_matrix = true;
    model.is_discrete = is_discrete;
    model.initial = {0.5, 0.5};
    model.weights = std::move(weights);
    model.exits = std::move(exits);
    const Found found = Compute(model);
    EXPECT_EQ(found.error, "");
    return found.mean[0];
  };
  const double e = kEpsilon;
  // A row sum within 4 p epsilon of zero is zero, and then phase 0 is left for
  // phase 1 alone.
  EXPECT_NEAR(mean({-1.0, 1.0 + 4.0 * e, 0.0, -1.0}, {}, false), 1.5, 1e-14);
  EXPECT_TRUE(std::isnan(mean({-1.0, 1.0 + 16.0 * e, 0.0, -1.0}, {}, false)));
  EXPECT_TRUE(std::isnan(mean({0.5, -1.0, 0.0, -1.0}, {}, false)));
  EXPECT_TRUE(std::isnan(mean({-1.0, 0.0, 0.0, std::nan("")}, {}, false)));
  EXPECT_TRUE(std::isnan(mean({-kInfinity, 0.0, 0.0, -1.0}, {}, false)));
  EXPECT_TRUE(std::isnan(mean({-1.0, 0.0, 0.0, -1.0}, {1.0, -1.0}, false)));
  // Beside given exits the diagonal is not read.
  EXPECT_EQ(mean({std::nan(""), 0.0, 0.0, 7.0}, {1.0, 1.0}, false), 1.0);
  EXPECT_EQ(mean({0.5, 0.0, 0.0, 0.5}, {}, true), 2.0);
  EXPECT_EQ(mean({0.5, 0.0, 0.0, 0.5}, {0.5, 0.5}, true), 2.0);
  EXPECT_TRUE(std::isnan(mean({0.5, 0.0, 0.0, 0.5}, {0.5, 0.25}, true)));
  EXPECT_TRUE(std::isnan(mean({0.5, 0.0, 0.0, 0.5}, {0.5, 0.75}, true)));
  EXPECT_TRUE(std::isnan(mean({0.5, 0.75, 0.0, 0.5}, {}, true)));
  EXPECT_TRUE(std::isnan(mean({-0.5, 0.25, 0.0, 0.5}, {}, true)));
}

TEST(MatrixWeightsTest, RefusesWhatDoesNotFit) {
  const auto expect_error = [](const Model& model, const std::string& text) {
    const Found found = Compute(model);
    EXPECT_NE(found.error.find(text), std::string::npos) << found.error;
  };
  Model model = RandomMatrix(3, true, true, 1);
  model.exits.pop_back();
  expect_error(model, "exits");
  model = RandomMatrix(3, true, true, 1);
  model.stay = {0.5, 0.5, 0.5};
  expect_error(model, "stay");
  model = WithEdges(RandomMatrix(3, true, true, 1));
  model.exits = {0.5, 0.5, 0.5};
  expect_error(model, "exits");
  model.exits.clear();
  EXPECT_EQ(Compute(model).error, "");
}

}  // namespace
}  // namespace phasic
