#include "native/quantiles/quantiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "native/quantiles/targets.h"

namespace phasic {
namespace {

// A batch of models, or one, with their probabilities.
template <class F>
struct Problem {
  int64_t num_phases;
  std::vector<F> initial;  // [p]
  std::vector<F> matrix;   // [batch, p, p], or [batch, d] with edges
  std::vector<F> exits;    // [p] or none
  std::vector<F> atom;     // [1] or none
  std::vector<F> values;   // [rows, n]
  Form form = Form::kCdf;
  bool is_discrete = false;
  int64_t batch = 1;
  int64_t rows = 1;
  std::vector<int32_t> edges = {};  // sources, then targets
};

template <class F>
struct Found {
  std::string error;
  std::vector<F> quantiles, times;
  std::vector<int32_t> kinds;
};

template <class F>
Found<F> Solve(const Problem<F>& problem) {
  const int64_t p = problem.num_phases;
  const auto m = static_cast<int64_t>(problem.edges.size() / 2);
  const auto count = static_cast<int64_t>(problem.values.size()) / problem.rows;
  const int64_t rows = std::max(problem.batch, problem.rows);
  const int64_t initial_dims[] = {1, p};
  const int64_t matrix_dims[] = {problem.batch, p, p};
  const int64_t rate_dims[] = {problem.batch, m};
  const int64_t exit_dims[] = {1, static_cast<int64_t>(problem.exits.size())};
  const int64_t atom_dims[] = {1, static_cast<int64_t>(problem.atom.size())};
  const int64_t value_dims[] = {problem.rows, count};
  const Input inputs[] = {
      {problem.initial.data(), {initial_dims, 2}},
      {problem.matrix.data(),
       m > 0 ? Shape{rate_dims, 2} : Shape{matrix_dims, 3}},
      {problem.exits.data(), {exit_dims, 2}},
      {problem.atom.data(), {atom_dims, 2}},
      {problem.values.data(), {value_dims, 2}},
  };
  const int64_t index_dims[] = {1, 2, m};
  const int64_t constant_dims[] = {1, 0};
  const int64_t coefficient_dims[] = {1, m, 0};
  const Edges edges = {{problem.edges.data(), {index_dims, 3}},
                       {nullptr, {constant_dims, 2}},
                       {nullptr, {coefficient_dims, 3}}};
  Call call = {};
  call.kind = static_cast<int32_t>(problem.form);
  call.precision = sizeof(F) == 4 ? Precision::kFloat32 : Precision::kFloat64;
  call.edges = m > 0 ? &edges : nullptr;
  call.discrete = problem.is_discrete;
  const int64_t dims[] = {rows, count};
  Found<F> found;
  found.quantiles.resize(static_cast<size_t>(rows * count));
  found.times.resize(found.quantiles.size());
  found.kinds.resize(found.quantiles.size());
  const Output outputs[] = {{found.quantiles.data(), {dims, 2}},
                            {found.times.data(), {dims, 2}},
                            {found.kinds.data(), {dims, 2}}};
  const char* error =
      Quantiles(call, inputs, kNumOperands, outputs, kNumQuantileOutputs);
  if (error != nullptr) found.error = error;
  return found;
}

Problem<double> Exponential(double rate) {
  return {1, {1.0}, {-rate}, {}, {}, {}};
}

TEST(QuantilesTest, ExponentialHasAllDigitsInBothTails) {
  for (const double rate : {1e-200, 0.5, 3.0, 1e200}) {
    Problem<double> problem = Exponential(rate);
    problem.values = {1e-300, 1e-16, 0.25, 0.5, 0.75, 1.0 - 0x1p-53};
    const Found<double> found = Solve(problem);
    ASSERT_EQ(found.error, "");
    for (size_t i = 0; i < problem.values.size(); ++i) {
      const double truth = -std::log1p(-problem.values[i]) / rate;
      if (truth == 0.0) {  // It underflows.
        EXPECT_EQ(found.quantiles[i], 0.0);
        continue;
      }
      EXPECT_NEAR(found.quantiles[i] / truth, 1.0, 1e-14) << rate << " " << i;
    }
  }
}

TEST(QuantilesTest, FormsOfProbabilitiesAgree) {
  Problem<double> problem = Exponential(2.0);
  const double probabilities[] = {1e-12, 0.3, 0.6, 0.999};
  for (const double u : probabilities) {
    const double truth = -0.5 * std::log1p(-u);
    const auto quantile = [&](Form form, double x) {
      problem.form = form;
      problem.values = {x};
      return Solve(problem).quantiles[0] / truth;
    };
    const double log_left = std::log1p(-u);
    EXPECT_NEAR(quantile(Form::kCdf, u), 1.0, 1e-14);
    EXPECT_NEAR(quantile(Form::kLogCdf, std::log(u)), 1.0, 2e-12);
    EXPECT_NEAR(quantile(Form::kLogSurvival, log_left), 1.0, 1e-14);
    const double folded = u > 0.5 ? -log_left : std::log(u);
    EXPECT_NEAR(quantile(Form::kFolded, folded), 1.0, 2e-12);
  }
  problem.form = Form::kLogSurvival;
  problem.values = {-1e5, -kInfinity, 0.0, 0.5};
  const Found<double> found = Solve(problem);
  EXPECT_NEAR(found.quantiles[0], 5e4, 1e-9);
  EXPECT_EQ(found.quantiles[1], kInfinity);
  EXPECT_EQ(found.quantiles[2], 0.0);
  EXPECT_TRUE(std::isnan(found.quantiles[3]));
}

// Returns the distribution function of Erlang's distribution of three phases.
double ErlangCdf(double x) {
  return -std::expm1(-x) - std::exp(-x) * (x + 0.5 * x * x);
}

TEST(QuantilesTest, ManyQuantilesStartFromGrids) {
  Problem<double> problem = {
      3, {1.0, 0.0, 0.0}, {-2, 2, 0, 0, -2, 2, 0, 0, -2}, {}, {}, {}};
  for (const int count :
       {20, 3000, 5000}) {  // no grid, a coarse and a fine one
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(0.01, 1.0);
    problem.values.clear();
    for (int i = 0; i < count; ++i) problem.values.push_back(uniform(random));
    problem.values[7] = 0.0;
    problem.values[8] = 1.0;
    problem.values[9] = 2.0;
    const Found<double> found = Solve(problem);
    ASSERT_EQ(found.error, "");
    EXPECT_EQ(found.quantiles[7], 0.0);
    EXPECT_EQ(found.quantiles[8], kInfinity);
    EXPECT_TRUE(std::isnan(found.quantiles[9]));
    for (size_t i = 10; i < problem.values.size(); ++i) {
      EXPECT_NEAR(ErlangCdf(2.0 * found.quantiles[i]), problem.values[i],
                  2e-15);
    }
  }
}

// Quantiles for probabilities from 1e-300 to 1 - 1e-16 in one call.
TEST(QuantilesTest, ManyQuantilesFarOutAndOfManyScales) {
  for (const double rate : {1e-200, 1.0, 1e200}) {
    Problem<double> problem = Exponential(rate);
    for (int i = 0; i < 6000; ++i) {
      problem.values.push_back(std::exp(-690.0 * i / 6000.0));
    }
    problem.values[1] = 1.0 - 0x1p-53;
    const Found<double> found = Solve(problem);
    ASSERT_EQ(found.error, "");
    for (size_t i = 1; i < problem.values.size(); ++i) {
      const double truth = -std::log1p(-problem.values[i]) / rate;
      if (truth < std::numeric_limits<double>::min()) continue;
      EXPECT_NEAR(found.quantiles[i] / truth, 1.0, 1e-14) << rate << " " << i;
    }
  }
  // Half of the mass has a scale of 1e-9, the other half of one.
  Problem<double> mixed = {2, {0.5, 0.5}, {-1e9, 0, 0, -1.0}, {}, {}, {}};
  for (int i = 1; i < 6000; ++i) mixed.values.push_back(i / 6000.0);
  const Found<double> found = Solve(mixed);
  ASSERT_EQ(found.error, "");
  for (size_t i = 0; i < mixed.values.size(); ++i) {
    const double t = found.quantiles[i];
    const double cdf = -0.5 * (std::expm1(-1e9 * t) + std::expm1(-t));
    EXPECT_NEAR(cdf / mixed.values[i], 1.0, 1e-13) << i;
  }
}

TEST(QuantilesTest, AtomsAndTrapsBoundTheDistribution) {
  // From the first phase half of the paths are absorbed, and half end in a
  // trap.
  Problem<double> problem = {2, {0.8, 0.0}, {-2, 1, 0, 0}, {1, 0}, {0.2}, {}};
  problem.values = {0.1, 0.2, 0.3, 0.5, 0.55, 0.6, 0.7};
  const Found<double> found = Solve(problem);
  ASSERT_EQ(found.error, "");
  EXPECT_EQ(found.quantiles[0], 0.0);
  EXPECT_EQ(found.quantiles[1], 0.0);
  for (size_t i = 2; i < 5; ++i) {
    const double share = (problem.values[i] - 0.2) / 0.4;
    EXPECT_NEAR(found.quantiles[i], -0.5 * std::log1p(-share), 1e-14);
  }
  EXPECT_EQ(found.quantiles[5], kInfinity);
  EXPECT_EQ(found.quantiles[6], kInfinity);
  // Derivatives are zero inside the atom, and do not exist at its end and where
  // the quantile is infinite; the mean time to absorption or the trap is 0.4.
  EXPECT_EQ(found.times[0], 1.0);
  EXPECT_DOUBLE_EQ(found.times[1], 0.4);
  EXPECT_EQ(found.times[2], found.quantiles[2]);
  EXPECT_EQ(found.times[4], found.quantiles[4]);
  EXPECT_DOUBLE_EQ(found.times[6], 0.4);
  constexpr auto kNothing = static_cast<int32_t>(Kind::kNothing);
  constexpr auto kLower = static_cast<int32_t>(Kind::kLogCdf);
  constexpr auto kUpper = static_cast<int32_t>(Kind::kLogSurvival);
  const std::vector<int32_t> kinds = {kNothing, kLower, kLower, kLower,
                                      kUpper,   kUpper, kUpper};
  EXPECT_EQ(found.kinds, kinds);
}

TEST(QuantilesTest, MeansBeyondReachDoNotMatter) {
  // A mean of 1e70 or more is no start for quantiles near one.
  for (const double rate : {1e-60, 1e-70, 1e-150, 1e-300}) {
    Problem<double> problem = {2, {0.7, 0.3}, {-1, 0, 0, -rate}, {}, {}, {}};
    problem.values = {0.1, 0.5, 0.6};
    const Found<double> found = Solve(problem);
    for (size_t i = 0; i < 3; ++i) {
      const double truth = -std::log1p(-problem.values[i] / 0.7);
      EXPECT_NEAR(found.quantiles[i] / truth, 1.0, 1e-14) << rate << " " << i;
    }
  }
  // Phases that are not entered have a mean time above the largest double.
  constexpr int64_t kSlow = 8;
  constexpr int64_t p = kSlow + 1;
  Problem<double> problem = {p, {}, {}, {}, {}, {0.1, 0.5, 0.9}};
  problem.initial.assign(p, 0.0);
  problem.initial[0] = 1.0;
  problem.matrix.assign(p * p, 0.0);
  problem.matrix[0] = -1.0;
  for (int64_t i = 1; i < p; ++i) {
    problem.matrix[static_cast<size_t>(i * p + i)] = -3e-308;
    if (i + 1 < p) problem.matrix[static_cast<size_t>(i * p + i + 1)] = 3e-308;
  }
  const Found<double> found = Solve(problem);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(found.quantiles[i] / -std::log1p(-problem.values[i]), 1.0,
                1e-14);
  }
}

TEST(QuantilesTest, ManyQuantilesBesideTrapsAndAtoms) {
  Problem<double> problem = {2, {0.8, 0.0}, {-2, 1, 0, 0}, {1, 0}, {0.2}, {}};
  constexpr int kCount = 70000;  // more than a part
  for (int i = 0; i < kCount; ++i) problem.values.push_back(1.0 * i / kCount);
  problem.values[5] = -1.0;
  const Found<double> found = Solve(problem);
  ASSERT_EQ(found.error, "");
  EXPECT_TRUE(std::isnan(found.quantiles[5]));
  for (size_t i = 6; i < kCount; ++i) {
    const double share = (problem.values[i] - 0.2) / 0.4;
    if (problem.values[i] <= 0.2) {
      ASSERT_EQ(found.quantiles[i], 0.0) << i;
    } else if (problem.values[i] >= 0.6) {
      ASSERT_EQ(found.quantiles[i], kInfinity) << i;
    } else {
      // The error of the share is a few ulps of one.
      ASSERT_NEAR(-std::expm1(-2.0 * found.quantiles[i]), share, 1e-14) << i;
    }
  }
}

TEST(QuantilesTest, DerivativesOfNaNAreNotZero) {
  Problem<double> problem = {1, {0.1}, {-1}, {}, {0.9}, {0.3, 2.0, kNaN}};
  const Found<double> found = Solve(problem);
  constexpr auto kNothing = static_cast<int32_t>(Kind::kNothing);
  EXPECT_EQ(found.kinds[0], kNothing);
  EXPECT_TRUE(std::isnan(found.times[1]));
  EXPECT_TRUE(std::isnan(found.times[2]));
  problem.matrix = {1};  // an invalid rate
  const Found<double> invalid = Solve(problem);
  for (size_t i = 0; i < problem.values.size(); ++i) {
    EXPECT_TRUE(std::isnan(invalid.times[i]));
    EXPECT_NE(invalid.kinds[i], kNothing);
  }
}

TEST(QuantilesTest, EdgesGiveTheQuantilesOfTheirMatrix) {
  Problem<double> dense = {2,        {0.6, 0.4}, {-3, 1, 2, -2.5},
                           {2, 0.5}, {},         {0.01, 0.5, 0.9}};
  Problem<double> sparse = dense;
  sparse.matrix = {1, 2, 2, 0.5};
  sparse.exits = {};
  sparse.edges = {0, 1, 0, 1, 1, 0, 2, 2};
  const Found<double> found = Solve(sparse);
  ASSERT_EQ(found.error, "");
  const Found<double> truth = Solve(dense);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(found.quantiles[i], truth.quantiles[i], 1e-14);
  }
  sparse.edges[2] = 7;
  EXPECT_TRUE(std::isnan(Solve(sparse).quantiles[0]));
  // The second phase is a trap that has no edges at all.
  sparse.edges = {0, 0, 2, 1};
  sparse.matrix = {3.0, 1.0};
  sparse.values = {0.3, 0.45};
  const Found<double> trapped = Solve(sparse);
  EXPECT_NEAR(trapped.quantiles[0], -0.25 * std::log1p(-0.3 / 0.45), 1e-14);
  EXPECT_EQ(trapped.quantiles[1], kInfinity);
}

TEST(QuantilesTest, RowsOfABatchAreThoseOfTheirModels) {
  Problem<double> problem = {1, {1.0}, {}, {}, {}, {}};
  problem.batch = 300;
  problem.rows = 300;
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(0.01, 1.0);
  for (int64_t n = 0; n < problem.batch; ++n) {
    problem.matrix.push_back(-std::exp(10.0 * uniform(random)));
    for (int i = 0; i < 2; ++i) problem.values.push_back(uniform(random));
  }
  problem.matrix[5] = 1.0;
  const Found<double> found = Solve(problem);
  ASSERT_EQ(found.error, "");
  for (size_t i = 0; i < problem.values.size(); ++i) {
    if (i / 2 == 5) {
      EXPECT_TRUE(std::isnan(found.quantiles[i]));
      continue;
    }
    const double truth = std::log1p(-problem.values[i]) / problem.matrix[i / 2];
    EXPECT_NEAR(found.quantiles[i] / truth, 1.0, 1e-14);
    // A model has the same bits alone.
    if (i % 2 == 0) continue;
    Problem<double> alone = {1, {1.0}, {problem.matrix[i / 2]}, {}, {}, {}};
    alone.values = {problem.values[i - 1], problem.values[i]};
    EXPECT_EQ(Solve(alone).quantiles[1], found.quantiles[i]);
  }
  // One model with many rows.
  Problem<double> shared = Exponential(3.0);
  shared.rows = 4;
  shared.values = {0.1, 0.2, 0.3, 0.4};
  const Found<double> rows = Solve(shared);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(rows.quantiles[i], -std::log1p(-shared.values[i]) / 3.0, 1e-15);
  }
}

TEST(QuantilesTest, CountsAreTheLeastThatReachTheirTarget) {
  const double stay = 5.0 / 6.0;
  Problem<double> problem = {1, {1.0}, {stay}, {}, {}, {}};
  problem.is_discrete = true;
  for (int i = 1; i < 200; ++i) problem.values.push_back(0.005 * i);
  const Found<double> found = Solve(problem);
  ASSERT_EQ(found.error, "");
  for (size_t i = 0; i < problem.values.size(); ++i) {
    const double k = found.quantiles[i];
    const double u = problem.values[i];
    EXPECT_EQ(k, std::floor(k));
    EXPECT_GE(-std::expm1(k * std::log(stay)), u - 1e-15);
    EXPECT_LT(-std::expm1((k - 1.0) * std::log(stay)), u);
  }
  problem.form = Form::kLogSurvival;
  problem.values = {-100.0 * std::log(10.0), -kInfinity};
  const Found<double> tail = Solve(problem);
  EXPECT_EQ(tail.quantiles[0], 1263.0);
  EXPECT_EQ(tail.quantiles[1], kInfinity);
}

TEST(QuantilesTest, SinglePrecisionIsRoundedOnce) {
  Problem<float> problem = {1, {1.0F}, {-3.0F}, {}, {}, {0.2F, 0.5F, 0.9F}};
  const Found<float> found = Solve(problem);
  ASSERT_EQ(found.error, "");
  for (size_t i = 0; i < 3; ++i) {
    const double truth =
        -std::log1p(-static_cast<double>(problem.values[i])) / 3.0;
    EXPECT_NEAR(static_cast<double>(found.quantiles[i]) / truth, 1.0, 1e-6);
  }
}

TEST(QuantilesTest, BadCallsAreErrors) {
  Problem<double> problem = Exponential(1.0);
  problem.values = {0.5};
  problem.form = static_cast<Form>(9);
  EXPECT_EQ(Solve(problem).error, "kind: 9 is not a form of probabilities");
  problem.form = Form::kCdf;
  problem.matrix = {-1.0, 0.0};
  problem.batch = 2;
  problem.rows = 3;
  problem.values = {0.1, 0.2, 0.3};
  EXPECT_NE(Solve(problem).error, "");
}

TEST(QuantilesTest, WrongNumbersOfArraysAreErrors) {
  const int64_t one[] = {1}, matrix[] = {1, 1}, three[] = {3};
  const Shape shapes[] = {
      {one, 1}, {matrix, 2}, {one, 1}, {one, 1}, {three, 1}};
  int64_t dims[kMaxRank];
  int32_t rank = 0;
  Call call = {};
  call.precision = Precision::kFloat64;
  for (int32_t index = 0; index < kNumQuantileOutputs; ++index) {
    ASSERT_EQ(QuantilesShape(call, shapes, kNumOperands, index, dims, &rank),
              nullptr);
    EXPECT_EQ(rank, 1);
    EXPECT_EQ(dims[0], 3);
  }
  for (const int32_t index : {-1, kNumQuantileOutputs}) {
    EXPECT_NE(QuantilesShape(call, shapes, kNumOperands, index, dims, &rank),
              nullptr);
  }
  EXPECT_NE(QuantilesShape(call, shapes, kNumOperands - 1, 0, dims, &rank),
            nullptr);
  const double numbers[] = {1.0, 0.0, 1.0, 0.0};
  const double values[] = {0.1, 0.2, 0.3};
  Input inputs[kNumOperands];
  for (int i = 0; i < 4; ++i) inputs[i] = {numbers + i, shapes[i]};
  inputs[4] = {values, shapes[4]};
  double found[3], times[3];
  int32_t kinds[3];
  Output outputs[] = {
      {found, shapes[4]}, {times, shapes[4]}, {kinds, shapes[4]}};
  EXPECT_NE(Quantiles(call, inputs, kNumOperands, outputs, 2), nullptr);
  outputs[1].shape = shapes[0];
  EXPECT_NE(Quantiles(call, inputs, kNumOperands, outputs, 3), nullptr);
  outputs[1].shape = shapes[4];
  EXPECT_EQ(Quantiles(call, inputs, kNumOperands, outputs, 3), nullptr);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(found[i] / -std::log1p(-values[i]), 1.0, 1e-14);
  }
}

}  // namespace
}  // namespace phasic
