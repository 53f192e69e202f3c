// Tests small models at times with q t of hundreds to tens of thousands, whose
// densities and survival functions are far below the range of doubles, and
// whose distribution functions are near zero or one, against closed forms.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/runtime/thread_pool.h"

namespace phasic {
namespace {

// A chain of two stages, of which the second one has its own start.
struct TwoStages {
  double first;  // rates
  double second;
  double start = 0.75;  // in the first stage; the rest is in the second one

  // Returns log(f(t)) of the kind, and its derivatives in the two rates and the
  // two starts, for second < first:
  //   start first second (exp(-second t) - exp(-first t)) / (first - second)
  //   + (1 - start) second exp(-second t), each relative to exp(-second t).
  std::vector<long double> Truth(bool is_survival, double time) const {
    const long double a = first;
    const long double b = second;
    const long double t = time;
    const long double gap = a - b;
    const long double fast = expl(-gap * t);
    const long double path = -expm1l(-gap * t) / gap;  // of the first stage
    const long double in_a = t * fast / gap - path / gap;
    const long double in_b = -t * fast / gap + path / gap - t * path;
    const long double s = start;
    if (is_survival) {
      // start exp(-first t) + start first path + (1 - start).
      const long double value = s * fast + s * a * path + (1.0L - s);
      return {logl(value) - b * t, s * (-t * fast + path + a * in_a) / value,
              (s * a * in_b - (1.0L - s) * t) / value,
              (fast + a * path) / value, 1.0L / value};
    }
    const long double value = b * (s * a * path + (1.0L - s));
    return {logl(value) - b * t, b * s * (path + a * in_a) / value,
            1.0L / b + b * (s * a * in_b - (1.0L - s) * t) / value,
            b * a * path / value, b / value};
  }

  long double Survival(double time) const {
    const long double a = first;
    const long double b = second;
    const long double slow = expl(-b * time);
    return start * (a * slow - b * expl(-a * time)) / (a - b) +
           (1.0L - start) * slow;
  }
  // Returns log(F(t)) and its derivatives, as Truth does.
  std::vector<long double> TruthOfCdf(double time) const {
    const long double a = first;
    const long double b = second;
    const long double t = time;
    const long double gap = a - b;
    const long double slow = expl(-b * t);
    const long double fast = expl(-a * t);
    const long double of_second = -expm1l(-b * t);
    const long double of_both = (a * of_second + b * expm1l(-a * t)) / gap;
    const long double s = start;
    const long double value = s * of_both + (1.0L - s) * of_second;
    const long double path = (slow - fast) / gap;
    return {value > 0.5L ? log1pl(-Survival(time)) : logl(value),
            s * b * (path - t * fast) / gap / value,
            (s * a * (t * slow - path) / gap + (1.0L - s) * t * slow) / value,
            of_both / value, of_second / value};
  }
};

// Returns the value of kind `kind` and its derivatives as above.
std::vector<double> Evaluate(const TwoStages& model, double time, int kind) {
  const double starts[] = {model.start, 1.0 - model.start};
  const double rates[] = {-model.first, model.first, 0.0, -model.second};
  const double exits[] = {0.0, model.second};
  const double atom = 0.0;
  const double one = 1.0;
  const int64_t dims[][2] = {{2, 0}, {2, 2}, {2, 0}, {1, 0}, {1, 0}};
  const Input inputs[] = {{starts, {dims[0], 1}}, {rates, {dims[1], 2}},
                          {exits, {dims[2], 1}},  {&atom, {dims[3], 1}},
                          {&time, {dims[4], 1}},  {&one, {dims[4], 1}}};
  Call call = {kind, 0, 0, Precision::kFloat64};
  double value = 0.0;
  EXPECT_EQ(Forward(call, inputs, 5, {&value, {dims[4], 1}}, OwnThreads()),
            nullptr);
  double bars[5][4];
  Output outputs[5];
  for (int i = 0; i < 5; ++i) outputs[i] = {bars[i], inputs[i].shape};
  call.order = 1;
  EXPECT_EQ(Adjoint(call, inputs, 6, outputs, 5, OwnThreads()), nullptr);
  // Along each rate, and both starts.
  std::vector<double> results = {value};
  for (int n = 0; n < 4; ++n) {
    const double d_starts[] = {n == 2 ? 1.0 : 0.0, n == 3 ? 1.0 : 0.0};
    const double d_rates[] = {0.0, n == 0 ? 1.0 : 0.0, 0.0, 0.0};
    const double d_exits[] = {0.0, n == 1 ? 1.0 : 0.0};
    const double none = 0.0;
    std::vector<Input> all(inputs, inputs + 5);
    const double* const tangents[] = {d_starts, d_rates, d_exits, &none, &none};
    for (int i = 0; i < 5; ++i) all.push_back({tangents[i], inputs[i].shape});
    double along = 0.0;
    EXPECT_EQ(
        Forward(call, all.data(), 10, {&along, {dims[4], 1}}, OwnThreads()),
        nullptr);
    const double bar[] = {bars[1][1], bars[2][1], bars[0][0], bars[0][1]};
    EXPECT_NEAR(along, bar[n], 1e-12 * std::max(std::fabs(bar[n]), time))
        << "derivative " << n;
    results.push_back(bar[n]);
  }
  return results;
}

TEST(SmallTimes, OfTwoStages) {
  const TwoStages models[] = {{1.0, 0.5},           {1.0, 0.999}, {0.7, 0.3},
                              {1.0, 1e-3},          {1.0, 1e-12}, {0.9, 0.65},
                              {1.0, 0.0625, 1e-100}};
  for (const TwoStages& model : models) {
    for (const double time : {100.0, 257.0, 300.0, 511.0, 777.0, 1024.0, 2000.0,
                              3333.0, 4096.0, 4200.0, 7000.0, 20000.0}) {
      for (const bool is_survival : {false, true}) {
        SCOPED_TRACE(std::to_string(model.first) + ", " +
                     std::to_string(model.second) + " at " +
                     std::to_string(time));
        const std::vector<long double> truth = model.Truth(is_survival, time);
        const std::vector<double> actual =
            Evaluate(model, time,
                     static_cast<int>(is_survival ? Kind::kLogSurvival
                                                  : Kind::kLogDensity));
        const double log = static_cast<double>(truth[0]);
        EXPECT_NEAR(actual[0], log, 3e-13 * std::max(1.0, std::fabs(log)));
        for (int n = 1; n < 5; ++n) {
          const double expected = static_cast<double>(truth[n]);
          // Paths with and without a jump cancel in the derivative in its rate.
          const double terms = n <= 2 ? time + 1.0 / model.second : 0.0;
          EXPECT_NEAR(actual[n], expected,
                      1e-12 * std::max(std::fabs(expected), terms))
              << "derivative " << n;
        }
      }
    }
  }
}

TEST(SmallTimes, OfDistributionFunctions) {
  const TwoStages models[] = {
      {1.0, 0.5},  {1.0, 0.999},       {0.7, 0.3},       {1.0, 1e-3},
      {1.0, 2e-3}, {1.0, 1e-12},       {0.9, 0.65},      {1.0, 1e-90},
      {1.0, 1e-2}, {1.0, 0.0625, 0.5}, {1.0, 1e-4, 1e-9}};
  for (const TwoStages& model : models) {
    for (const double time : {100.0, 257.0, 300.0, 511.0, 777.0, 1024.0, 2000.0,
                              3333.0, 4096.0, 4200.0, 7000.0, 20000.0}) {
      SCOPED_TRACE(std::to_string(model.first) + ", " +
                   std::to_string(model.second) + " at " +
                   std::to_string(time));
      const std::vector<long double> truth = model.TruthOfCdf(time);
      const std::vector<double> actual =
          Evaluate(model, time, static_cast<int>(Kind::kLogCdf));
      const double log = static_cast<double>(truth[0]);
      EXPECT_NEAR(actual[0], log, 3e-13);
      EXPECT_LE(actual[0], 0.0);
      const double plain =
          Evaluate(model, time, static_cast<int>(Kind::kCdf))[0];
      EXPECT_NEAR(plain, std::exp(log), 3e-13 * plain);
      EXPECT_LE(plain, 1.0);
      for (int n = 1; n < 5; ++n) {
        const double expected = static_cast<double>(truth[n]);
        const double terms = n <= 2 ? time + 1.0 / model.second : 0.0;
        EXPECT_NEAR(actual[n], expected,
                    1e-12 * std::max(std::fabs(expected), terms) + 1e-300)
            << "derivative " << n;
      }
    }
  }
}

// Plain probabilities beyond exp(-700) and their derivatives underflow; those
// before do not.
TEST(SmallTimes, OfPlainSurvivalFunctions) {
  const TwoStages model = {1.0, 0.5};
  for (const double time : {400.0, 700.0, 1000.0, 1300.0, 1380.0, 1600.0}) {
    const std::vector<long double> truth = model.Truth(true, time);
    const auto value = static_cast<double>(expl(truth[0]));
    const std::vector<double> actual =
        Evaluate(model, time, static_cast<int>(Kind::kSurvival));
    EXPECT_NEAR(actual[0], value, 1e-12 * value) << time;
    for (int n = 1; n < 5; ++n) {
      const auto expected = static_cast<double>(expl(truth[0]) * truth[n]);
      const double terms = n <= 2 ? value * (time + 2.0) : 0.0;
      EXPECT_NEAR(actual[n], expected,
                  1e-12 * std::max(std::fabs(expected), terms))
          << time << ", derivative " << n;
    }
  }
}

// An exponential time, and one with another stage of the same rate before it.
// With a rate that is a power of two all jumps are at the first steps.
void ExpectExponential(double rate, double x) {
  SCOPED_TRACE(std::to_string(rate) + ", " + std::to_string(x));
  const TwoStages model = {rate, rate, 0.0};
  const double time = x / rate;
  const std::vector<double> density =
      Evaluate(model, time, static_cast<int>(Kind::kLogDensity));
  EXPECT_NEAR(density[0], std::log(rate) - rate * time, 1e-15 * x);
  EXPECT_NEAR(density[2], 1.0 / rate - time, 1e-12 * time);
  EXPECT_NEAR(density[3], rate * time, 1e-12 * rate * time);
  EXPECT_NEAR(density[4], 1.0, 1e-12);
}

TEST(SmallTimes, OfAnExponentialTime) {
  for (const double rate : {1.0, 0.25, 0.75, 3.0}) {
    for (const double x : {250.0, 300.0, 1000.0, 3000.0, 5000.0}) {
      ExpectExponential(rate, x);
    }
  }
  for (const double x : {1e4, 1e5, 1e6}) ExpectExponential(2.0, x);
}

// The derivative in the start of a phase that absorbs faster than the value
// decays is far smaller than the value.
TEST(SmallTimes, OfStartsThatMatterLittle) {
  const TwoStages model = {0.5, 1.0, 1.0};
  for (const double time : {30.0, 128.0, 250.0, 300.0, 511.0, 800.0, 1200.0}) {
    const double less = std::exp(-0.5 * time);
    const std::vector<double> results =
        Evaluate(model, time, static_cast<int>(Kind::kLogDensity));
    const double truth = less / (1.0 - less);
    EXPECT_NEAR(results[4], truth, 1e-12 * truth) << time;
  }
}

// Where exits are weights of phases, a large one makes a phase matter from
// which its own is hardly reached: a chain of seven jumps at rate r, whose last
// phase is left at rate one and has the weight w. From its first phase the last
// one is reached at time t with probability
//   r^7 integral of u^6 / 6! exp(-r u) exp(-(t - u)), 0 <= u <= t.
TEST(SmallTimes, OfLargeWeights) {
  constexpr int64_t kPhases = 8;
  const double rate = 0.5;
  const double time = 0x1p-8;
  const double weight = 0x1p50;
  std::vector<double> starts(kPhases, 0.0);
  std::vector<double> weights(kPhases, 0.0);
  starts.back() = 1.0 / weight;
  weights.back() = weight;
  std::vector<double> rates(kPhases, rate);
  rates.back() = 1.0;
  std::vector<int32_t> indices;
  for (int32_t i = 0; i < kPhases; ++i) indices.push_back(i);
  for (int32_t i = 1; i <= kPhases; ++i) indices.push_back(i);
  const double atom = 0.0;
  const double one = 1.0;
  const int64_t dims[][2] = {{kPhases, 0}, {1, 0}, {2, kPhases}, {kPhases, 0}};
  const Input inputs[] = {
      {starts.data(), {dims[0], 1}},  {rates.data(), {dims[0], 1}},
      {weights.data(), {dims[0], 1}}, {&atom, {dims[1], 1}},
      {&time, {dims[1], 1}},          {&one, {dims[1], 1}}};
  const Edges edges = {{indices.data(), {dims[2], 2}},
                       {nullptr, {dims[1] + 1, 1}},
                       {nullptr, {dims[3], 2}}};
  double bars[5][kPhases];
  Output outputs[5];
  for (int i = 0; i < 5; ++i) outputs[i] = {bars[i], inputs[i].shape};
  Call call = {static_cast<int>(Kind::kLogDensity), 1, 0, Precision::kFloat64};
  call.edges = &edges;
  ASSERT_EQ(Adjoint(call, inputs, 6, outputs, 5, OwnThreads()), nullptr);
  double sum = 0.0;
  double term = std::pow(rate * time, 7) / 720.0;
  for (int k = 0; k < 8; ++k) {
    sum += term / (7.0 + k);
    term *= (1.0 - rate) * time / (k + 1.0);
  }
  // Relative to the value, exp(-t).
  const double truth = weight * sum;
  EXPECT_NEAR(bars[0][0], truth, 1e-12 * truth);
}

}  // namespace
}  // namespace phasic
