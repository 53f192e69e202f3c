#include "native/kernel/api/phase_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace phasic {
namespace {

struct Array {
  std::vector<int64_t> dims;
  std::vector<double> data;
};

Array Filled(std::vector<int64_t> dims, double value = 0.0) {
  int64_t size = 1;
  for (const int64_t dim : dims) size *= dim;
  return {std::move(dims), std::vector<double>(size, value)};
}

Array Vector(std::vector<double> data) {
  const int64_t size = static_cast<int64_t>(data.size());
  return {{size}, std::move(data)};
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

Array RunForward(Kind kind, int32_t order, const std::vector<Array>& arrays,
                 int32_t mapped_dims = 0) {
  const Call call = {static_cast<int32_t>(kind), order, mapped_dims,
                     Precision::kFloat64};
  const std::vector<Input> inputs = AsInputs(arrays);
  std::vector<Shape> shapes;
  for (const Input& input : inputs) shapes.push_back(input.shape);
  std::vector<int64_t> dims(kMaxRank);
  int32_t rank = 0;
  const int32_t count = static_cast<int32_t>(inputs.size());
  const char* error =
      ForwardShape(call, shapes.data(), count, dims.data(), &rank);
  EXPECT_EQ(error, nullptr) << error;
  dims.resize(rank);
  Array result = Filled(dims);
  error = Forward(call, inputs.data(), count,
                  {result.data.data(), {result.dims.data(), rank}});
  EXPECT_EQ(error, nullptr) << error;
  return result;
}

std::vector<Array> RunAdjoint(Kind kind, int32_t order,
                              const std::vector<Array>& arrays,
                              int32_t mapped_dims = 0) {
  const Call call = {static_cast<int32_t>(kind), order, mapped_dims,
                     Precision::kFloat64};
  const std::vector<Input> inputs = AsInputs(arrays);
  std::vector<Shape> shapes;
  for (const Input& input : inputs) shapes.push_back(input.shape);
  const int32_t count = static_cast<int32_t>(inputs.size());
  std::vector<Array> results;
  std::vector<Output> outputs;
  for (int32_t i = 0; i < kNumOperands; ++i) {
    std::vector<int64_t> dims(kMaxRank);
    int32_t rank = 0;
    const char* error =
        AdjointShape(call, shapes.data(), count, i, dims.data(), &rank);
    EXPECT_EQ(error, nullptr) << error;
    dims.resize(rank);
    results.push_back(Filled(dims));
  }
  for (Array& result : results) {
    outputs.push_back(
        {result.data.data(),
         {result.dims.data(), static_cast<int32_t>(result.dims.size())}});
  }
  const char* error =
      Adjoint(call, inputs.data(), count, outputs.data(), kNumOperands);
  EXPECT_EQ(error, nullptr) << error;
  return results;
}

// Returns the operands of an Erlang distribution with p phases of rate one and
// derived exits.
std::vector<Array> Erlang(int64_t p, std::vector<double> times) {
  Array initial = Filled({p});
  initial.data[0] = 1.0;
  Array rates = Filled({p, p});
  for (int64_t i = 0; i < p; ++i) {
    rates.data[i * p + i] = -1.0;
    if (i + 1 < p) rates.data[i * p + i + 1] = 1.0;
  }
  return {initial, rates, Filled({0}), Filled({0}), Vector(std::move(times))};
}

TEST(PhaseTypeTest, ErlangLogDensityFromTailToTail) {
  const std::vector<double> times = {1e-20, 1e-3, 1.0, 9.0, 100.0, 740.0};
  const Array result = RunForward(Kind::kLogDensity, 0, Erlang(10, times));
  for (size_t i = 0; i < times.size(); ++i) {
    const double exact =
        9.0 * std::log(times[i]) - times[i] - std::lgamma(10.0);
    EXPECT_NEAR(result.data[i], exact, 1e-12) << times[i];
  }
}

TEST(PhaseTypeTest, ExponentialHasClosedForms) {
  const double rate = 2.5;
  const std::vector<double> times = {0.0, 1e-300, 0.3, 200.0};
  const std::vector<Array> model = {Vector({1.0}),
                                    {{1, 1}, {-rate}},
                                    Filled({0}),
                                    Filled({0}),
                                    Vector(times)};
  const Array log_density = RunForward(Kind::kLogDensity, 0, model);
  const Array log_survival = RunForward(Kind::kLogSurvival, 0, model);
  const Array cdf = RunForward(Kind::kCdf, 0, model);
  const std::vector<Array> with_one = [&] {
    std::vector<Array> inputs = model;
    inputs.push_back(Filled({4}, 1.0));
    return inputs;
  }();
  const std::vector<Array> bars = RunAdjoint(Kind::kLogDensity, 1, with_one);
  for (size_t i = 0; i < times.size(); ++i) {
    EXPECT_NEAR(log_density.data[i], std::log(rate) - rate * times[i], 1e-13);
    EXPECT_NEAR(log_survival.data[i], -rate * times[i], 1e-13);
    const double mass = -std::expm1(-rate * times[i]);
    EXPECT_NEAR(cdf.data[i], mass, 1e-14 * mass);
    EXPECT_NEAR(bars[kNumOperands - 1].data[i], -rate, 1e-13);
  }
}

TEST(PhaseTypeTest, FarTailOfAnExponential) {
  const double rate = 10.0;
  const std::vector<double> times = {0.1, 80.0, 150.0, 216.0};
  std::vector<Array> model = {Vector({1.0}),
                              {{1, 1}, {-rate}},
                              Filled({0}),
                              Filled({0}),
                              Vector(times)};
  const Array log_density = RunForward(Kind::kLogDensity, 0, model);
  model.push_back(Filled({4}, 1.0));
  const std::vector<Array> bars = RunAdjoint(Kind::kLogDensity, 1, model);
  for (size_t i = 0; i < times.size(); ++i) {
    const double exact = std::log(rate) - rate * times[i];
    EXPECT_NEAR(log_density.data[i], exact, 1e-12);
    EXPECT_NEAR(bars[4].data[i], -rate, 1e-11);
  }
  double sum = 0.0;
  for (const double time : times) sum += time - 1.0 / rate;
  EXPECT_NEAR(bars[1].data[0] / sum, 1.0, 1e-12);
}

// The second phase is never left, so that its diagonal entry is one in all
// powers of the matrix. The other entries underflow relative to it.
TEST(PhaseTypeTest, WhatIsTooSmallToSeeHasNoDerivatives) {
  const double time = 1e13;
  const std::vector<Array> arrays = {
      Vector({1.0, 0.0}), {{2, 2}, {-1.0, 0.0, 0.0, 0.0}},
      Vector({1.0, 0.0}), Vector({0.0}),
      Vector({time}),     Filled({1}, 1.0)};
  // Cotangents of densities need no phases that are neither reached nor lead to
  // absorption.
  std::vector<Array> bars = RunAdjoint(Kind::kLogDensity, 1, arrays);
  EXPECT_NEAR(bars[0].data[0], 1.0, 1e-15);
  EXPECT_EQ(bars[0].data[1], 0.0);
  EXPECT_NEAR(bars[2].data[0] / (1.0 - time), 1.0, 1e-15);
  // Unlike values, those of survival functions need all phases.
  for (const Kind kind : {Kind::kSurvival, Kind::kLogSurvival}) {
    bars = RunAdjoint(kind, 1, arrays);
    EXPECT_TRUE(std::isnan(bars[0].data[0])) << static_cast<int>(kind);
    EXPECT_TRUE(std::isnan(bars[2].data[0])) << static_cast<int>(kind);
  }
}

TEST(PhaseTypeTest, PhasesThatDoNotMatterDoNotHideValues) {
  const double time = 1e13;
  // Densities do not depend on phases that do not lead to absorption, and no
  // function on phases that are not entered.
  for (const double entered : {0.0, 0.5}) {
    std::vector<Array> arrays = {Vector({1.0 - entered, entered}),
                                 {{2, 2}, {-1.0, 0.0, 0.0, 0.0}},
                                 Vector({1.0, 0.0}),
                                 Vector({0.0}),
                                 Vector({time})};
    const double log_density = std::log1p(-entered) - time;
    EXPECT_EQ(RunForward(Kind::kDensity, 0, arrays).data[0], 0.0);
    EXPECT_DOUBLE_EQ(RunForward(Kind::kLogDensity, 0, arrays).data[0],
                     log_density);
    EXPECT_DOUBLE_EQ(RunForward(Kind::kLogSurvival, 0, arrays).data[0],
                     entered > 0.0 ? std::log(entered) : -time);
    // The derivative along the operands themselves.
    for (int32_t i = 0; i < kNumOperands; ++i) arrays.push_back(arrays[i]);
    EXPECT_DOUBLE_EQ(RunForward(Kind::kLogDensity, 1, arrays).data[0],
                     2.0 - 2.0 * time);
  }
}

TEST(PhaseTypeTest, OutsideTheSupport) {
  const double infinity = HUGE_VAL;
  const std::vector<Array> model = Erlang(3, {-1.0, infinity, 0.0});
  EXPECT_EQ(RunForward(Kind::kLogDensity, 0, model).data,
            (std::vector<double>{-infinity, -infinity, -infinity}));
  EXPECT_EQ(RunForward(Kind::kSurvival, 0, model).data,
            (std::vector<double>{1.0, 0.0, 1.0}));
  EXPECT_EQ(RunForward(Kind::kCdf, 0, model).data,
            (std::vector<double>{0.0, 1.0, 0.0}));
}

TEST(PhaseTypeTest, AtomIsTheValueAtZero) {
  std::vector<Array> model = Erlang(2, {0.0, 1.0});
  model[0] = Vector({0.5, 0.25});
  const Array density = RunForward(Kind::kDensity, 0, model);
  EXPECT_DOUBLE_EQ(density.data[0], 0.25);
  EXPECT_NEAR(density.data[1], (0.5 * 1.0 + 0.25) * std::exp(-1.0), 1e-15);
  model[3] = Vector({0.1});
  EXPECT_DOUBLE_EQ(RunForward(Kind::kDensity, 0, model).data[0], 0.1);
}

// Checks that J_k and V_k are transposes: <c, J_k(.., v)> = <V_k(..; c), v>.
TEST(PhaseTypeTest, ForwardAndAdjointAreTransposes) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> uniform(0.1, 1.0);
  std::normal_distribution<double> normal;
  for (const bool exits : {false, true}) {
    for (int32_t kind = 0; kind < kNumKinds; ++kind) {
      const int64_t p = 4;
      std::vector<Array> model = {
          Filled({p}, 0.2), Filled({p, p}), Filled({exits ? p : 0}),
          Filled({exits ? 1 : 0}, 0.2), Vector({0.2, 1.0, 4.0})};
      for (int64_t i = 0; i < p; ++i) {
        double sum = 0.0;
        for (int64_t j = 0; j < p; ++j) {
          if (i != j) sum += model[1].data[i * p + j] = uniform(generator);
        }
        model[1].data[i * p + i] = -(sum + 0.7);
        if (exits) model[2].data[i] = 0.7;
      }
      for (int32_t order = 1; order <= kMaxOrder; ++order) {
        std::vector<Array> forward = model;
        std::vector<Array> adjoint = model;
        std::vector<Array> last;
        for (int32_t k = 0; k < order; ++k) {
          for (int32_t i = 0; i < kNumOperands; ++i) {
            Array tangent = model[i];
            for (double& x : tangent.data) x = normal(generator);
            forward.push_back(tangent);
            if (k + 1 < order) adjoint.push_back(tangent);
            if (k + 1 == order) last.push_back(tangent);
          }
        }
        const Array cotangent = Vector({0.5, 1.5, 1.0});
        adjoint.push_back(cotangent);
        const Array value = RunForward(static_cast<Kind>(kind), order, forward);
        const std::vector<Array> bars =
            RunAdjoint(static_cast<Kind>(kind), order, adjoint);
        double left = 0.0;
        double right = 0.0;
        double scale = 0.0;
        for (int i = 0; i < 3; ++i) left += cotangent.data[i] * value.data[i];
        for (int32_t i = 0; i < kNumOperands; ++i) {
          for (size_t j = 0; j < bars[i].data.size(); ++j) {
            right += bars[i].data[j] * last[i].data[j];
            scale += std::fabs(bars[i].data[j] * last[i].data[j]);
          }
        }
        EXPECT_NEAR(left, right, 1e-11 * scale) << kind << " " << order;
      }
    }
  }
}

TEST(PhaseTypeTest, BatchesBroadcastAndReduce) {
  // The two models have the same alpha; times differ along the second axis.
  const int64_t p = 2;
  Array rates = {{2, 1, p, p}, {-1, 1, 0, -2, -3, 1, 1, -4}};
  std::vector<Array> batch = {{{1, 1, p}, {0.5, 0.5}},
                              rates,
                              Filled({1, 1, 0}),
                              Filled({1, 1, 0}),
                              {{1, 3, 2}, {0.1, 0.2, 0.5, 1.0, 2.0, 3.0}}};
  const Array value = RunForward(Kind::kLogDensity, 0, batch);
  ASSERT_EQ(value.dims, (std::vector<int64_t>{2, 3, 2}));
  std::vector<Array> with_cotangent = batch;
  with_cotangent.push_back(Filled({2, 3, 2}, 1.0));
  const std::vector<Array> bars =
      RunAdjoint(Kind::kLogDensity, 1, with_cotangent);
  std::vector<double> alpha_bar(p, 0.0);
  for (int64_t b = 0; b < 2; ++b) {
    std::vector<Array> one = {
        Vector({0.5, 0.5}),
        {{p, p},
         {rates.data.begin() + b * 4, rates.data.begin() + (b + 1) * 4}},
        Filled({0}),
        Filled({0}),
        Vector(batch[4].data)};
    const Array single = RunForward(Kind::kLogDensity, 0, one);
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(value.data[b * 6 + i], single.data[i]);
    }
    one.push_back(Filled({6}, 1.0));
    const std::vector<Array> single_bars =
        RunAdjoint(Kind::kLogDensity, 1, one);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(bars[1].data[b * 4 + i], single_bars[1].data[i]);
    }
    for (int64_t i = 0; i < p; ++i) alpha_bar[i] += single_bars[0].data[i];
  }
  for (int64_t i = 0; i < p; ++i) EXPECT_EQ(bars[0].data[i], alpha_bar[i]);
}

TEST(PhaseTypeTest, MappedDimensionsAreNotSummed) {
  std::vector<Array> model = Erlang(2, {1.0});
  for (Array& array : model) array.dims.insert(array.dims.begin(), 1);
  model[4] = {{2, 1}, {1.0, 2.0}};
  model.push_back(Filled({2, 1}, 1.0));
  const std::vector<Array> summed = RunAdjoint(Kind::kDensity, 1, model, 0);
  const std::vector<Array> mapped = RunAdjoint(Kind::kDensity, 1, model, 1);
  ASSERT_EQ(summed[0].dims, (std::vector<int64_t>{1, 2}));
  ASSERT_EQ(mapped[0].dims, (std::vector<int64_t>{2, 2}));
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(summed[0].data[i], mapped[0].data[i] + mapped[0].data[2 + i],
                1e-15);
  }
}

TEST(PhaseTypeTest, BadValuesGiveNaNAndTheirReason) {
  struct Case {
    std::string text;
    int operand;
    double value;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Case& bad :
       {Case{"initial_probs", 0, -0.5}, Case{"initial_probs", 0, 1.5},
        Case{"subgenerator", 1, nan}, Case{"subgenerator: a row", 1, 2.0},
        Case{"value", 4, nan}}) {
    std::vector<Array> model = Erlang(2, {1.0});
    model[bad.operand].data[0] = bad.value;
    EXPECT_TRUE(std::isnan(RunForward(Kind::kLogDensity, 0, model).data[0]));
    const std::vector<Input> inputs = AsInputs(model);
    int32_t code = 0;
    const int64_t one = 1;
    const Call call = {0, 0, 0, Precision::kFloat64};
    EXPECT_EQ(Status(call, inputs.data(), 5, {&code, {&one, 1}}), nullptr);
    EXPECT_EQ(std::string(StatusMessage(code)).find(bad.text), 0U)
        << StatusMessage(code);
  }
}

TEST(PhaseTypeTest, SubnormalRatesAreNotDropped) {
  for (const bool exits : {false, true}) {
    std::vector<Array> model = Erlang(2, {1.0});
    model[1].data = {-1000.0, 2e-308, 0.0, -1.0};
    if (exits) model[2] = Vector({1000.0, 1.0});
    const Array result = RunForward(Kind::kLogDensity, 0, model);
    // Paths by way of the second phase outweigh exp(-1000).
    const double truth = std::log(2.0 / 999.0) - 308.0 * std::log(10.0) - 1.0;
    EXPECT_NEAR(result.data[0], truth, 1e-12);
  }
}

// Tests that a subnormal number beside ones does not make a derived atom or
// exit negative: such a remainder is rounding, and there is no exit.
TEST(PhaseTypeTest, SubnormalRemaindersAreZero) {
  for (const bool is_start : {false, true}) {
    std::vector<Array> model = Erlang(3, {0.0});
    (is_start ? model[0].data[1] : model[1].data[2]) = 1e-310;
    EXPECT_EQ(RunForward(Kind::kDensity, 0, model).data[0], 0.0);
    EXPECT_EQ(RunForward(Kind::kLogDensity, 0, model).data[0], -HUGE_VAL);
  }
}

TEST(PhaseTypeTest, WorkIsBounded) {
  std::vector<Array> model = Erlang(3, {1.0, 1e12});
  for (double& rate : model[1].data) rate *= 1e12;
  const Array result = RunForward(Kind::kLogDensity, 0, model);
  // 1e12 steps are computed by scaling and squaring; 1e24 steps are too many.
  const double truth = 3.0 * std::log(1e12) - std::log(2.0) - 1e12;
  EXPECT_NEAR(result.data[0], truth, 1e-15 * 1e12);
  EXPECT_TRUE(std::isnan(result.data[1]));
}

TEST(PhaseTypeTest, StructureErrorsNameTheArgument) {
  std::vector<Array> model = Erlang(3, {1.0});
  model[1] = Filled({3, 2});
  const std::vector<Input> inputs = AsInputs(model);
  double value;
  const int64_t one = 1;
  const Call call = {0, 0, 0, Precision::kFloat64};
  const char* error = Forward(call, inputs.data(), 5, {&value, {&one, 1}});
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(std::string(error).find("subgenerator"), 0U) << error;
  const Call too_high = {0, 4, 0, Precision::kFloat64};
  error = Forward(too_high, inputs.data(), 5, {&value, {&one, 1}});
  ASSERT_NE(error, nullptr);
  EXPECT_NE(std::string(error).find("order"), std::string::npos);
  EXPECT_NE(Forward(call, inputs.data(), 4, {&value, {&one, 1}}), nullptr);
}

}  // namespace
}  // namespace phasic
