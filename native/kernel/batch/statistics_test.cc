// Tests Statistics for C++ callers: shapes, batches and invalid calls.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/runtime/parallel.h"

namespace phasic {
namespace {

using Dims = std::vector<int64_t>;

struct Array {
  Dims dims;
  std::vector<double> data;
};

// Returns the operands of two models with two phases in series.
std::vector<Array> TwoModels() {
  return {{{1, 2}, {1.0, 0.0}},
          {{2, 2, 2}, {0.0, 1.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0}},
          {{2, 2}, {0.0, 1.0, 0.0, 3.0}},
          {{1, 0}, {}},
          {{1, 3}, {0.5, 1.0, 2.0}},
          {{2, 3}, {1.0, 1.0, 1.0, 2.0, 0.0, 1.0}}};
}

std::vector<Input> AsInputs(const std::vector<Array>& arrays) {
  std::vector<Input> inputs;
  for (const Array& array : arrays) {
    inputs.push_back(
        {array.data.data(),
         {array.dims.data(), static_cast<int32_t>(array.dims.size())}});
  }
  return inputs;
}

// Computes all statistics; returns the error message, or "" on success.
std::string RunStatistics(const Call& call, const std::vector<Array>& arrays,
                          std::vector<Array>* results) {
  const std::vector<Input> inputs = AsInputs(arrays);
  const auto count = static_cast<int32_t>(inputs.size());
  std::vector<Shape> shapes;
  for (const Input& input : inputs) shapes.push_back(input.shape);
  results->clear();
  for (int32_t i = 0; i < kNumStatistics; ++i) {
    Dims dims(kMaxRank);
    int32_t rank = 0;
    const char* error =
        StatisticsShape(call, shapes.data(), count, i, dims.data(), &rank);
    if (error != nullptr) return error;
    dims.resize(static_cast<size_t>(rank));
    size_t size = 1;
    for (const int64_t dim : dims) size *= static_cast<size_t>(dim);
    results->push_back({dims, std::vector<double>(size, -1.0)});
  }
  std::vector<Output> outputs;
  for (Array& result : *results) {
    outputs.push_back(
        {result.data.data(),
         {result.dims.data(), static_cast<int32_t>(result.dims.size())}});
  }
  const char* error =
      Statistics(call, inputs.data(), count, outputs.data(), kNumStatistics);
  return error == nullptr ? "" : error;
}

constexpr Call kLogDensityCall = {static_cast<int32_t>(Kind::kLogDensity), 1, 0,
                                  Precision::kFloat64};

TEST(StatisticsTest, RowsAreModels) {
  std::vector<Array> results;
  ASSERT_EQ(RunStatistics(kLogDensityCall, TwoModels(), &results), "");
  const Dims expected[] = {{2, 2}, {2, 2}, {2, 2, 2}, {2, 2}, {2, 1}};
  for (int i = 0; i < kNumStatistics; ++i) {
    EXPECT_EQ(results[i].dims, expected[i]) << i;
  }
  // The two stages have equal rates. So each takes half of the time in
  // expectation.
  const double totals[] = {3.5, 3.0};
  const double weights[] = {3.0, 3.0};
  for (int m = 0; m < 2; ++m) {
    EXPECT_NEAR(results[0].data[2 * m], weights[m], 1e-12);
    EXPECT_NEAR(results[1].data[2 * m], totals[m] / 2, 1e-12);
    EXPECT_NEAR(results[1].data[2 * m + 1], totals[m] / 2, 1e-12);
    EXPECT_NEAR(results[2].data[4 * m + 1], weights[m], 1e-12);
    EXPECT_EQ(results[2].data[4 * m + 2], 0.0);
    EXPECT_NEAR(results[3].data[2 * m + 1], weights[m], 1e-12);
    EXPECT_EQ(results[4].data[m], 0.0);
  }
}

TEST(StatisticsTest, RowsOfTimesAreNotSummed) {
  std::vector<Array> arrays = TwoModels();
  arrays[1] = {{1, 2, 2}, {0.0, 1.0, 0.0, 0.0}};
  arrays[2] = {{1, 2}, {0.0, 1.0}};
  arrays[4] = {{2, 3}, {0.5, 1.0, 2.0, 1.0, 1.0, 1.0}};
  std::vector<Array> results;
  ASSERT_EQ(RunStatistics(kLogDensityCall, arrays, &results), "");
  EXPECT_NEAR(results[1].data[0], 3.5 / 2, 1e-12);
  EXPECT_NEAR(results[1].data[2], 3.0 / 2, 1e-12);
}

TEST(StatisticsTest, NothingToComputeIsNothingWritten) {
  std::vector<Array> arrays = TwoModels();
  arrays[1] = {{0, 2, 2}, {}};
  arrays[2] = {{1, 2}, {0.0, 1.0}};
  arrays[5] = {{0, 3}, {}};
  std::vector<Array> results;
  EXPECT_EQ(RunStatistics(kLogDensityCall, arrays, &results), "");
}

TEST(StatisticsTest, WrongCallsAreRefused) {
  std::vector<Array> results;
  Call call = kLogDensityCall;
  call.order = 2;
  EXPECT_NE(RunStatistics(call, TwoModels(), &results), "");
  std::vector<Array> arrays = TwoModels();
  arrays.pop_back();
  EXPECT_NE(RunStatistics(kLogDensityCall, arrays, &results), "");
  arrays = TwoModels();
  arrays[5] = {{1, 3}, {1.0, 1.0, 1.0}};
  EXPECT_NE(RunStatistics(kLogDensityCall, arrays, &results), "");

  arrays = TwoModels();
  const std::vector<Input> inputs = AsInputs(arrays);
  double memory[8] = {};
  const int64_t dims[] = {2, 2, 2};
  const Output wrong[] = {{memory, {dims, 2}},
                          {memory, {dims, 2}},
                          {memory, {dims, 2}},
                          {memory, {dims, 2}},
                          {memory, {dims, 2}}};
  EXPECT_STREQ(Statistics(kLogDensityCall, inputs.data(), 6, wrong, 5),
               "outputs: array 2 must have the shape of its statistic");
  EXPECT_NE(Statistics(kLogDensityCall, inputs.data(), 6, wrong, 4), nullptr);
  Shape shapes[6];
  for (int i = 0; i < 6; ++i) shapes[i] = inputs[i].shape;
  int64_t room[kMaxRank];
  int32_t rank = 0;
  EXPECT_NE(StatisticsShape(kLogDensityCall, shapes, 6, 5, room, &rank),
            nullptr);
}

TEST(StatisticsTest, BadValuesAreNaN) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const size_t operand : {0, 1, 2, 4, 5}) {
    for (const double value : {std::nan(""), kInfinity, -kInfinity, 1e308}) {
      for (int32_t kind = 0; kind < kNumKinds; ++kind) {
        std::vector<Array> arrays = TwoModels();
        // If exits are given, the diagonal is not read, so that the test
        // changes another entry.
        arrays[operand].data[operand == 1 ? 1 : 0] = value;
        Call call = kLogDensityCall;
        call.kind = kind;
        std::vector<Array> results;
        ASSERT_EQ(RunStatistics(call, arrays, &results), "");
        bool any = false;
        for (const Array& result : results) {
          for (const double x : result.data) {
            EXPECT_FALSE(std::isinf(x)) << operand << " " << value;
            any = any || std::isnan(x);
          }
        }
        if (std::isnan(value)) {
          EXPECT_TRUE(any) << operand << " " << kind;
        }
      }
    }
  }
}

// Tests parameters whose cotangents are out of range: cotangents of huge
// parameters underflow, and those of tiny ones overflow. The statistics, which
// are products of parameters and cotangents, are in range.
TEST(StatisticsTest, HugeAndTinyProbabilitiesBySquaring) {
  constexpr double kHuge = 0x1p500;
  // The rate of absorption from the second phase, 1e12, makes q t so large that
  // squared powers are used. Absorption takes long nevertheless, as the first
  // phase leads to the second at rate 1.
  std::vector<Array> arrays = {
      {{2}, {1.0, kHuge}}, {{2, 2}, {0.0, 1.0, 1.0, 0.0}},
      {{2}, {0.0, 1e12}},  {{1}, {0.0}},
      {{1}, {0.125}},      {{1}, {0.75}}};
  std::vector<Array> results;
  ASSERT_EQ(RunStatistics(kLogDensityCall, arrays, &results), "");
  EXPECT_NEAR(results[0].data[1], 0.75, 1e-13);
  EXPECT_NEAR(results[0].data[0] * (kHuge / 1e12), 0.75, 1e-10);
  EXPECT_NEAR(results[3].data[1], 0.75, 1e-13);
  arrays[0].data = {0.0, std::numeric_limits<double>::min()};
  ASSERT_EQ(RunStatistics(kLogDensityCall, arrays, &results), "");
  EXPECT_NEAR(results[0].data[1], 0.75, 1e-13);
}

TEST(StatisticsTest, HugeAndTinyProbabilities) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kHuge = 0x1p500;
  constexpr double kTiny = std::numeric_limits<double>::min();
  Call call = kLogDensityCall;
  call.kind = static_cast<int32_t>(Kind::kLogCdf);
  const auto run = [&](double alpha, double atom, double time) {
    const std::vector<Array> arrays = {
        {{1}, {alpha}}, {{1, 1}, {0.0}},           {{1}, {1.0}},
        {{1}, {atom}},  {{3}, {time, time, time}}, {{3}, {2.0, 3.0, 4.0}}};
    std::vector<Array> results;
    EXPECT_EQ(RunStatistics(call, arrays, &results), "");
    return std::vector<double>{results[0].data[0], results[4].data[0]};
  };
  for (const double alpha : {kHuge, kTiny}) {
    const std::vector<double> result = run(alpha, 0.0, 1.0);
    EXPECT_NEAR(result[0], 9.0, 1e-12) << alpha;
    EXPECT_EQ(result[1], 0.0) << alpha;
  }
  EXPECT_EQ(run(1.0, kTiny, 0.0), (std::vector<double>{0.0, 9.0}));
  EXPECT_EQ(run(0.0, kTiny, 2.0), (std::vector<double>{0.0, 9.0}));
  // At an infinite time absorption is certain, whatever the sum of the
  // probabilities.
  EXPECT_EQ(run(0.25, 0.5, kInfinity), (std::vector<double>{2.25, 4.5}));
}

// Tests many stages that are reached rarely and late. The products of
// probabilities are below the range of doubles, and are multiplied by times
// near the upper end of this range.
TEST(StatisticsTest, RareStagesOfSlowChains) {
  constexpr int kNumStages = 40;
  const double time = std::ldexp(1.0, 980);
  const double hops = std::ldexp(1.0, -30);  // expected number in that time
  std::vector<double> start(kNumStages);
  start[0] = 1.0;
  std::vector<double> jumps(kNumStages * kNumStages);
  for (int i = 0; i + 1 < kNumStages; ++i) {
    jumps[i * kNumStages + i + 1] = hops / time;
  }
  const std::vector<double> exits(kNumStages, 1.0 / time);
  const std::vector<Array> arrays = {
      {{kNumStages}, start}, {{kNumStages, kNumStages}, jumps},
      {{kNumStages}, exits}, {{1}, {0.0}},
      {{1}, {time}},         {{1}, {1.0}}};
  std::vector<Array> results;
  ASSERT_EQ(RunStatistics(kLogDensityCall, arrays, &results), "");
  // Absorption is independent of the hops between stages, which are a Poisson
  // process. So the expected time in stage k is `time` times the integral over
  // u from 0 to 1 of (hops u)^k / k!.
  double log2_truth = std::log2(time);
  for (int k = 0; k < kNumStages; ++k) {
    EXPECT_NEAR(std::log2(results[1].data[k]), log2_truth, 1e-6) << k;
    log2_truth += std::log2(hops) - std::log2(k + 2);
  }
}

TEST(StatisticsTest, EdgesAnywhere) {
  const std::vector<Array> arrays = {{{2}, {1.0, 0.0}}, {{3}, {1.0, 2.0, 3.0}},
                                     {{0}, {}},         {{0}, {}},
                                     {{1}, {1.0}},      {{1}, {1.0}}};
  const int64_t index_dims[] = {2, 3};
  const int64_t none[] = {0};
  const int64_t no_columns[] = {3, 0};
  for (const int32_t target : {2, 1, 0, 3, -1, 1 << 30}) {
    const int32_t indices[] = {0, 1, 0, 1, 2, target};
    const Edges edges = {{indices, {index_dims, 2}},
                         {nullptr, {none, 1}},
                         {nullptr, {no_columns, 2}}};
    Call call = kLogDensityCall;
    call.edges = &edges;
    std::vector<Array> results;
    ASSERT_EQ(RunStatistics(call, arrays, &results), "");
    ASSERT_EQ(results[2].dims, Dims{3});
    const bool fits = target >= 0 && target <= 2;
    for (const double x : results[2].data) EXPECT_EQ(std::isnan(x), !fits);
    if (target == 0) {
      EXPECT_EQ(results[2].data[2], 0.0);
    }
  }
}

}  // namespace
}  // namespace phasic
