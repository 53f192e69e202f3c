// Tests derivatives in directions of any size: the derivative in direction 2^e
// v is exactly 2^e times the derivative in direction v, if that is a normal
// number.

#include "native/kernel/batch/direction_scales.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "native/kernel/api/phase_type.h"

namespace phasic {
namespace {

using Array = std::pair<std::vector<int64_t>, std::vector<double>>;
using Arrays = std::vector<Array>;

std::vector<Input> AsInputs(const Arrays& arrays) {
  std::vector<Input> inputs;
  for (const Array& x : arrays) {
    inputs.push_back({x.second.data(),
                      {x.first.data(), static_cast<int32_t>(x.first.size())}});
  }
  return inputs;
}

std::vector<double> Values(Kind kind, int32_t order, const Arrays& arrays) {
  const Call call = {static_cast<int32_t>(kind), order, 0, Precision::kFloat64};
  const std::vector<Input> inputs = AsInputs(arrays);
  std::vector<double> result(arrays[kTimes].second.size());
  const int64_t dims[] = {static_cast<int64_t>(result.size())};
  const char* error =
      Forward(call, inputs.data(), inputs.size(), {result.data(), {dims, 1}});
  EXPECT_EQ(error, nullptr) << error;
  return result;
}

// Returns all cotangents one after the other.
std::vector<double> Cotangents(Kind kind, int32_t order, const Arrays& arrays) {
  const Call call = {static_cast<int32_t>(kind), order, 0, Precision::kFloat64};
  const std::vector<Input> inputs = AsInputs(arrays);
  Arrays results(arrays.begin(), arrays.begin() + kNumOperands);
  std::vector<Output> outputs;
  for (Array& x : results) {
    outputs.push_back({x.second.data(),
                       {x.first.data(), static_cast<int32_t>(x.first.size())}});
  }
  const char* error =
      Adjoint(call, inputs.data(), static_cast<int32_t>(inputs.size()),
              outputs.data(), kNumOperands);
  EXPECT_EQ(error, nullptr) << error;
  std::vector<double> all;
  for (const Array& x : results) {
    all.insert(all.end(), x.second.begin(), x.second.end());
  }
  return all;
}

// Returns an Erlang distribution with p phases of this rate and given exits.
Arrays Erlang(int64_t p, double rate, std::vector<double> times) {
  Arrays model = {{{p}, std::vector<double>(p)},
                  {{p, p}, std::vector<double>(p * p)},
                  {{p}, std::vector<double>(p)},
                  {{1}, {0.0}},
                  {{static_cast<int64_t>(times.size())}, times}};
  model[kInitialProbs].second[0] = 1.0;
  for (int64_t i = 0; i + 1 < p; ++i) {
    model[kSubgenerator].second[i * p + i + 1] = rate;
  }
  model[kExitRates].second[p - 1] = rate;
  return model;
}

Arrays Zeros(const Arrays& model) {
  Arrays zeros = model;
  for (Array& x : zeros) x.second.assign(x.second.size(), 0.0);
  return zeros;
}

void Append(const Arrays& from, Arrays* to) {
  to->insert(to->end(), from.begin(), from.end());
}

Arrays Scaled(Arrays arrays, int exponent) {
  for (Array& x : arrays) {
    for (double& number : x.second) number = std::ldexp(number, exponent);
  }
  return arrays;
}

// Returns random tangents of those operands that are in the mask.
Arrays Direction(const Arrays& model, int32_t mask, std::mt19937* random) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  Arrays tangents = Zeros(model);
  for (int32_t i = 0; i < kNumOperands; ++i) {
    if ((mask >> i & 1) == 0) continue;
    for (double& x : tangents[i].second) x = uniform(*random);
  }
  return tangents;
}

// Checks that `scaled` is 2^exponent times `unit`, with errors of at most
// `tolerance` times the largest expected result.
void ExpectScaled(const std::vector<double>& scaled,
                  const std::vector<double>& unit, int exponent,
                  const std::string& label, double tolerance = 0.0) {
  double largest = 0.0;
  for (const double x : unit) {
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  }
  for (size_t i = 0; i < unit.size(); ++i) {
    const double expected = std::ldexp(unit[i], exponent);
    if (!std::isfinite(expected) || std::fabs(expected) < 1e-290) continue;
    EXPECT_NEAR(std::ldexp(scaled[i], -exponent), unit[i], tolerance * largest)
        << label << ", entry " << i;
  }
}

constexpr int kExponents[] = {-960, -700, -400, -100, 100, 400, 700};

class DirectionScalesTest : public testing::Test {
 protected:
  // Models with times from the far left tail to the far right tail. The times
  // of the last model are so late that squared powers are used.
  const std::vector<Arrays> models_ = {
      Erlang(1, 1.0, {1e-30, 0.5, 300.0}),
      Erlang(10, 1.0, {1e-13, 1e-3, 9.0, 200.0}),
      Erlang(20, 1e-6, {1e-2, 30.0, 4e7}),
      Erlang(40, 1.0, {1e-4, 20.0}),
      Erlang(4, 1.0, {600.0, 3e4}),
  };
  std::mt19937 random_{1};
};

TEST_F(DirectionScalesTest, FirstDerivatives) {
  for (const Arrays& model : models_) {
    for (int32_t kind = 0; kind < kNumKinds; ++kind) {
      for (const int32_t mask : {1, 2, 4, 8, 16, 31}) {
        const Arrays tangents = Direction(model, mask, &random_);
        Arrays unit = model;
        Append(tangents, &unit);
        const Kind of = static_cast<Kind>(kind);
        const std::vector<double> expected = Values(of, 1, unit);
        for (const int e : kExponents) {
          Arrays scaled = model;
          Append(Scaled(tangents, e), &scaled);
          ExpectScaled(Values(of, 1, scaled), expected, e,
                       std::to_string(kind) + ", mask " + std::to_string(mask) +
                           ", 2^" + std::to_string(e));
        }
      }
    }
  }
}

TEST_F(DirectionScalesTest, SecondDerivativesHaveAScaleForEachDirection) {
  for (const Arrays& model : models_) {
    const Arrays first = Direction(model, kAllOperands, &random_);
    const Arrays second = Direction(model, kAllOperands, &random_);
    Arrays unit = model;
    Append(first, &unit);
    Append(second, &unit);
    const std::vector<double> expected = Values(Kind::kLogDensity, 2, unit);
    for (const int e : kExponents) {
      for (const int other : {0, -e, -e / 2}) {
        Arrays scaled = model;
        Append(Scaled(first, e), &scaled);
        Append(Scaled(second, other), &scaled);
        ExpectScaled(Values(Kind::kLogDensity, 2, scaled), expected, e + other,
                     std::to_string(e) + ", " + std::to_string(other));
      }
    }
  }
}

TEST_F(DirectionScalesTest, ReverseMode) {
  for (const Arrays& model : models_) {
    const Arrays tangents = Direction(model, kAllOperands, &random_);
    Array bars = {model[kTimes].first,
                  std::vector<double>(model[kTimes].second.size(), 1.0)};
    for (const int32_t kind : {0, 1, 2, 4, 5}) {
      for (const int32_t order : {1, 2}) {
        const Kind of = static_cast<Kind>(kind);
        Arrays unit = model;
        if (order == 2) Append(tangents, &unit);
        unit.push_back(bars);
        // The kernel scales these cotangents, too, as 2^base is far from one.
        const int base = -300;
        unit.back() = Scaled({bars}, base)[0];
        const std::vector<double> expected = Cotangents(of, order, unit);
        for (const int e : {-960, -700, -400, -160, 400, 700}) {
          Arrays scaled = model;
          if (order == 2) Append(tangents, &scaled);
          scaled.push_back(Scaled({bars}, e)[0]);
          // With larger cotangents, fewer results count as ordinary underflow.
          // So more of them are computed in extended doubles, which round
          // differently.
          ExpectScaled(Cotangents(of, order, scaled), expected, e - base,
                       std::to_string(kind) + ", order " +
                           std::to_string(order) + ", 2^" + std::to_string(e),
                       e < 0 ? 0.0 : 1e-13);
        }
      }
    }
  }
}

// Uses log f = p log(rate) + (p - 1) log t - rate t - log (p - 1)!.
TEST_F(DirectionScalesTest, ErlangHasClosedForms) {
  const double rate = 2.0;
  const std::vector<double> times = {1e-7, 1e-3, 1.0, 20.0, 400.0};
  const Arrays model = Erlang(20, rate, times);
  for (const double size : {1e-300, 1e-200, 1e-100, 1e100, 1e200}) {
    Arrays of_rates = model;
    Append(Zeros(model), &of_rates);
    for (const int32_t i : {kSubgenerator, kExitRates}) {
      std::vector<double>& tangents = of_rates[kNumOperands + i].second;
      for (size_t k = 0; k < tangents.size(); ++k) {
        tangents[k] = size * (model[i].second[k] != 0.0 ? 1.0 : 0.0);
      }
    }
    Arrays of_times = model;
    Append(Zeros(model), &of_times);
    of_times[kNumOperands + kTimes].second.assign(times.size(), size);
    const std::vector<double> in_rates = Values(Kind::kLogDensity, 1, of_rates);
    const std::vector<double> in_times = Values(Kind::kLogDensity, 1, of_times);
    Arrays seeded = model;
    seeded.push_back(
        {model[kTimes].first, std::vector<double>(times.size(), size)});
    const std::vector<double> bars = Cotangents(Kind::kLogDensity, 1, seeded);
    for (size_t i = 0; i < times.size(); ++i) {
      const double t = times[i];
      const double by_rate = size * 20.0 / rate - size * t;
      const double by_time = size * 19.0 / t - size * rate;
      EXPECT_NEAR(in_rates[i] / by_rate, 1.0, 1e-11) << size << ", " << t;
      EXPECT_NEAR(in_times[i] / by_time, 1.0, 1e-11) << size << ", " << t;
      const double bar = bars[bars.size() - times.size() + i];
      EXPECT_NEAR(bar / by_time, 1.0, 1e-11) << size << ", " << t;
    }
  }
}

// Tests that a tiny tangent of one operand is not lost if another operand has a
// huge tangent that affects only another time.
TEST_F(DirectionScalesTest, SizesMayDifferAmongOperands) {
  Arrays arrays = Erlang(1, 1.5, {0.5, 3.0});
  const Arrays model = arrays;
  Append(Zeros(model), &arrays);
  arrays[kNumOperands + kExitRates].second[0] = 1e-100;
  arrays[kNumOperands + kTimes].second[0] = 1e150;
  const std::vector<double> result = Values(Kind::kLogDensity, 1, arrays);
  EXPECT_NEAR(result[0] / -1.5e150, 1.0, 1e-12);
  EXPECT_NEAR(result[1] / ((1.0 / 1.5 - 3.0) * 1e-100), 1.0, 1e-12);
}

// Tests that subnormal tangents are not lost, and that results are not finite
// if a tangent is not.
TEST_F(DirectionScalesTest, TheEndsOfTheRange) {
  Arrays arrays = Erlang(2, 1.0, {1e-5});
  const Arrays model = arrays;
  Append(Zeros(model), &arrays);
  double* tangent = arrays[kNumOperands + kTimes].second.data();
  for (const double x : {1e-310, 1e300}) {
    tangent[0] = x;
    const double slope = Values(Kind::kLogDensity, 1, arrays)[0];
    EXPECT_NEAR(slope / x, 1.0 / 1e-5 - 1.0, 1e-7);
  }
  for (const double x : {HUGE_VAL, std::numeric_limits<double>::quiet_NaN()}) {
    tangent[0] = x;
    EXPECT_FALSE(std::isfinite(Values(Kind::kLogDensity, 1, arrays)[0]));
  }
}

// Tests that subnormal numbers are not lost beside those of moderate or large
// size: f = r exp(-r t) of a phase that is left quickly makes them normal.
TEST_F(DirectionScalesTest, SubnormalBesideOthers) {
  const double rate = 1e83;
  const std::vector<double> times = {0.5e-83, 0.2e-83};
  const double tiny = 5e-310;
  const Arrays model = Erlang(1, rate, times);
  const auto density = [&](int i) { return rate * std::exp(-rate * times[i]); };
  for (const double large : {0.0, 1e-200, -6e10, 1e130}) {
    Arrays moved = model;
    Append(Zeros(model), &moved);
    moved[kNumOperands + kInitialProbs].second[0] = tiny;
    moved[kNumOperands + kTimes].second[1] = large;
    const std::vector<double> values = Values(Kind::kDensity, 1, moved);
    EXPECT_NEAR(values[0] / density(0) / tiny, 1.0, 1e-12) << large;
    Arrays seeded = model;
    seeded.push_back({model[kTimes].first, {tiny, large}});
    const std::vector<double> bars = Cotangents(Kind::kDensity, 1, seeded);
    const double* time_bars = bars.data() + bars.size() - 2;
    EXPECT_NEAR(time_bars[0] / density(0) / rate / tiny, -1.0, 1e-12) << large;
    EXPECT_NEAR(time_bars[1], -large * density(1) * rate,
                1e-12 * std::fabs(large) * density(1) * rate);
  }
}

// Tests models whose inverse rate, the unit of times, is infinite: derivatives
// are right, or NaN where they are out of range.
TEST_F(DirectionScalesTest, SubnormalRates) {
  const double rate = 1e-320;
  Arrays arrays = Erlang(1, rate, {1.0});
  Append(Zeros(Arrays(arrays)), &arrays);
  for (const double x : {1e30, 1e300}) {
    arrays[kNumOperands + kTimes].second[0] = x;
    const double slope = Values(Kind::kLogSurvival, 1, arrays)[0];
    if (slope == slope) EXPECT_NEAR(slope / (rate * x), -1.0, 1e-12) << x;
  }
}

TEST_F(DirectionScalesTest, ManyTimes) {
  std::vector<double> times;
  for (int i = 1; i <= 700; ++i) times.push_back(0.05 * i);
  const Arrays model = Erlang(3, 1.0, times);
  const Arrays tangents = Direction(model, kAllOperands, &random_);
  for (const int32_t kind : {0, 1, 2, 4}) {
    Arrays unit = model;
    Append(tangents, &unit);
    const std::vector<double> expected =
        Values(static_cast<Kind>(kind), 1, unit);
    for (const int e : {-700, -100}) {
      Arrays scaled = model;
      Append(Scaled(tangents, e), &scaled);
      ExpectScaled(Values(static_cast<Kind>(kind), 1, scaled), expected, e,
                   std::to_string(kind));
    }
  }
}

}  // namespace
}  // namespace phasic
