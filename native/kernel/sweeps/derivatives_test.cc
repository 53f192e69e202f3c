// Tests first derivatives at times around the first time at which scaling and
// squaring is used for them. For values, it is used only from a later time on.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "native/kernel/methods/many_times/node_sums.h"
#include "native/kernel/methods/many_times/node_values.h"
#include "native/kernel/methods/squaring/squaring_adjoint.h"
#include "native/kernel/methods/squaring/squaring_points.h"
#include "native/kernel/methods/squaring/squaring_starts.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/sweeps/adjoint.h"
#include "native/kernel/sweeps/forward.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

// A model with a dense subgenerator and a direction of its rates and exits. The
// largest rate of leaving a phase is one.
struct TestModel {
  explicit TestModel(int64_t p)
      : size(p),
        initial(p, 0.0),
        rates(p * p, 0.0),
        exits(p, 0.0),
        rates_direction(p * p, 0.0),
        exits_direction(p, 0.0) {
    initial[0] = 1.0;
  }
  double& Rate(int64_t i, int64_t j) { return rates[i * size + j]; }

  int64_t size;
  std::vector<double> initial;
  std::vector<double> rates;
  std::vector<double> exits;
  std::vector<double> rates_direction;
  std::vector<double> exits_direction;
};

TestModel Erlang(int64_t p) {
  TestModel model(p);
  for (int64_t i = 0; i + 1 < p; ++i) model.Rate(i, i + 1) = 1.0;
  model.exits[p - 1] = 1.0;
  model.rates_direction = model.rates;
  model.exits_direction = model.exits;
  return model;
}

TestModel Hypoexponential(int64_t p) {
  TestModel model = Erlang(p);
  for (int64_t i = 0; i + 1 < p; ++i) {
    model.Rate(i, i + 1) = static_cast<double>(i + 1) / static_cast<double>(p);
  }
  model.rates_direction = model.rates;
  return model;
}

TestModel Dense(int64_t p) {
  TestModel model(p);
  for (int64_t i = 0; i < p; ++i) {
    for (int64_t j = 0; j < p; ++j) {
      const auto n = static_cast<double>(1 + (3 * i + 5 * j) % 7);
      if (i != j) model.Rate(i, j) = n / (8.0 * static_cast<double>(p));
      model.rates_direction[i * p + j] = (i + j) % 3 == 0 ? -0.01 : 0.02;
    }
    model.exits[i] = 1e-3 * static_cast<double>(1 + i % 4);
    model.exits_direction[i] = i % 2 == 0 ? 0.001 : 0.002;
  }
  return model;
}

struct Result {
  std::vector<double> tangents;  // of the log density at each time
  std::vector<double> rates;     // cotangents of the sum of log densities
  std::vector<double> exits;
  std::vector<double> times;
};

Result Derive(const TestModel& model, const std::vector<double>& times) {
  const auto p = static_cast<size_t>(model.size);
  const size_t n = times.size();
  const std::vector<double> zeros(std::max(n, p), 0.0);
  const std::vector<double> ones(n, 1.0);
  SweepInput in = {};
  in.num_phases = model.size;
  in.num_times = static_cast<int64_t>(n);
  in.kind = Kind::kLogDensity;
  in.epsilon = 0x1p-52;
  in.has_exit_rates = true;
  in.initial_probs = {model.initial.data(), {zeros.data()}};
  in.subgenerator = {model.rates.data(), {model.rates_direction.data()}};
  in.exit_rates = {model.exits.data(), {model.exits_direction.data()}};
  in.prob_zero = {zeros.data(), {zeros.data()}};
  in.times = {times.data(), {zeros.data()}};
  in.cotangent = ones.data();
  Workspace workspace{size_t{1} << 30};
  Result result;
  result.tangents.resize(n);
  SweepOutput out = {};
  out.values = result.tangents.data();
  ForwardSweep<Dual<double>>(in, out, &workspace);
  workspace.Reset();
  result.rates.resize(p * p);
  result.exits.resize(p);
  result.times.resize(n);
  std::vector<double> initial(p);
  out = {};
  out.initial_probs = initial.data();
  out.subgenerator = result.rates.data();
  out.exit_rates = result.exits.data();
  out.times = result.times.data();
  AdjointSweep<double>(in, out, &workspace);
  return result;
}

std::vector<double> Times(double last, int count) {
  std::vector<double> times;
  for (int i = 1; i <= count; ++i) times.push_back(last * i / count);
  return times;
}

// The density of p stages in series does not depend on their order, so that its
// derivatives with respect to all rates of stages are equal. If all rates are
// r, the density is r^p t^(p-1) exp(-r t) / (p-1)!. So at r = 1 the derivative
// of the log density with respect to each rate is (p - t) / p, and with respect
// to t it is (p - 1) / t - 1.
TEST(DerivativesTest, Erlang) {
  for (const int64_t p : {12, 41, 100}) {
    const TestModel model = Erlang(p);
    const auto stages = static_cast<double>(p);
    // Values of many stages are unknown from q t = 2^17 on: the probabilities
    // of going from the first stages to the last ones are too small in the
    // squared powers.
    const int last = p < 64 ? 17 : 16;
    for (int e = 8; e <= last; ++e) {
      for (const int count : {1, 40}) {
        SCOPED_TRACE(std::to_string(p) + " stages, " + std::to_string(count) +
                     " times, q t = 2^" + std::to_string(e));
        const std::vector<double> times = Times(std::ldexp(1.0, e), count);
        const Result result = Derive(model, times);
        double total = 0.0;
        for (size_t i = 0; i < times.size(); ++i) {
          const double exact = stages - times[i];
          EXPECT_NEAR(result.tangents[i], exact, 1e-11 * (stages + times[i]));
          EXPECT_NEAR(result.times[i], (stages - 1.0) / times[i] - 1.0, 1e-11);
          total += stages + times[i];
        }
        double sum = 0.0;
        for (const double t : times) sum += stages - t;
        for (int64_t i = 0; i < p; ++i) {
          const double rate =
              i + 1 < p ? result.rates[i * p + i + 1] : result.exits[i];
          ASSERT_NEAR(rate, sum / stages, 1e-11 * total / stages) << i;
        }
      }
    }
  }
}

// Checks that cotangents and tangents give the same derivative. They are
// computed by different methods, and the times from which squaring is used for
// them differ.
void ExpectSameDerivatives(const TestModel& model, int first, int last) {
  for (int e = first; e <= last; ++e) {
    for (const int count : {1, 5}) {
      SCOPED_TRACE(std::to_string(model.size) + " phases, " +
                   std::to_string(count) + " times, q t = 2^" +
                   std::to_string(e));
      const Result result = Derive(model, Times(std::ldexp(1.0, e), count));
      double tangent = 0.0;
      for (const double x : result.tangents) tangent += x;
      double sum = 0.0;
      double size = 0.0;
      const auto add = [&](double cotangent, double direction) {
        if (direction == 0.0) return;
        sum += cotangent * direction;
        size += std::fabs(cotangent * direction);
      };
      for (size_t i = 0; i < result.rates.size(); ++i) {
        add(result.rates[i], model.rates_direction[i]);
      }
      for (size_t i = 0; i < result.exits.size(); ++i) {
        add(result.exits[i], model.exits_direction[i]);
      }
      EXPECT_NEAR(sum, tangent, 1e-11 * size);
    }
  }
}

TEST(DerivativesTest, TangentsAreThoseOfCotangents) {
  for (const int64_t p : {12, 20, 41}) {
    ExpectSameDerivatives(Hypoexponential(p), 8, 17);
    ExpectSameDerivatives(Dense(p), 8, 17);
  }
  ExpectSameDerivatives(Hypoexponential(100), 10, 15);
  ExpectSameDerivatives(Dense(100), 10, 15);
}

// At times beyond all limits, derivatives must be NaN, and the call must return
// without long work.
TEST(DerivativesTest, EndsAtLateTimes) {
  for (const double time : {0x1p60, 1e30, 1e300}) {
    const Result result = Derive(Dense(20), {time});
    EXPECT_TRUE(std::isnan(result.tangents[0]));
    EXPECT_TRUE(std::isnan(result.rates[1]));
  }
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
