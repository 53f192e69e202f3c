// Tests repeated calls with the same model. If a model's values are costly, the
// kernel keeps intermediate results of the model for the next call. Also tests
// times that are evaluated together.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/runtime/memory_guard.h"

namespace phasic {
namespace {

using Doubles = std::vector<double>;

// Under sanitizers, the least number of phases of a model that is kept without
// being told that it comes again (kLeastKeptPhases): a fourth of the work.
constexpr int64_t kPhases = kGuardsMemory ? 128 : 200;
constexpr int64_t kEntries = kPhases * kPhases;
constexpr double kInside = 1.0;  // the rate from a phase to the next one

// A ring of phases with the same exit rate. The time to absorption is
// exponential or, in discrete time, geometric, with an atom at zero.
struct Ring {
  explicit Ring(double exit, double rest = 0.0, double inside = kInside)
      : exit_rate(exit), atom(rest), matrix(kEntries, 0.0) {
    alpha.assign(kPhases, (1.0 - rest) / static_cast<double>(kPhases));
    exits.assign(kPhases, exit);
    for (int64_t i = 0; i < kPhases; ++i) {
      matrix[i * kPhases + (i + 1) % kPhases] = inside;
    }
  }

  // Returns the log density at times 0, 2, ... and the log survival function at
  // times 1, 3, ...
  Doubles Values(const Doubles& times) const {
    const int64_t n = static_cast<int64_t>(times.size());
    const int64_t dims[][3] = {{1, kPhases}, {1, kPhases, kPhases}, {1, 1}};
    const int64_t row[] = {1, n};
    std::vector<int32_t> of_times;
    for (int64_t i = 0; i < n; ++i) of_times.push_back(i % 2 == 0 ? 0 : 2);
    const Input inputs[] = {{alpha.data(), {dims[0], 2}},
                            {matrix.data(), {dims[1], 3}},
                            {exits.data(), {dims[0], 2}},
                            {&atom, {dims[2], 2}},
                            {times.data(), {row, 2}}};
    const Input kinds = {of_times.data(), {row, 2}};
    Call call = {0, 0, 0, Precision::kFloat64, nullptr, &kinds};
    call.discrete = is_discrete;
    Doubles values(times.size());
    EXPECT_EQ(Forward(call, inputs, 5, {values.data(), {row, 2}}), nullptr);
    return values;
  }
  double LogDensity(double time) const { return Values({time})[0]; }

  double exit_rate;
  double atom;
  bool is_discrete = false;
  Doubles alpha;
  Doubles matrix;
  Doubles exits;
};

bool AreSame(const Doubles& a, const Doubles& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST(KeptModelTest, ClosedFormInEachCall) {
  const Ring ring(1e-6, 0.25);
  for (const double time : {1e6, 3e6, 1.0, 2e6, 1e7, 5e5}) {
    const double exact = std::log(0.75 * 1e-6) - 1e-6 * time;
    EXPECT_NEAR(ring.LogDensity(time), exact, 1e-12 * std::fabs(exact)) << time;
  }
}

// Each of these models differs from the one before it in one or two operands.
TEST(KeptModelTest, AnotherModelIsNotTakenForIt) {
  Ring ring(1e-6, 0.25);
  const auto check = [](const Ring& of, double exit, double mass) {
    const double exact = std::log(mass * exit) - exit * 1e6;
    EXPECT_NEAR(of.LogDensity(1e6), exact, 1e-12 * std::fabs(exact));
  };
  check(ring, 1e-6, 0.75);
  for (double& exit : ring.exits) exit = 2e-6;
  check(ring, 2e-6, 0.75);
  for (double& start : ring.alpha) start *= 0.5;
  ring.atom = 0.625;
  check(ring, 2e-6, 0.375);
  // With a lower rate from the first phase to the second, more paths exit from
  // the first phase.
  ring.exits[0] = 1e-3;
  const double before = ring.LogDensity(1e6);
  ring.matrix[1] = 0.5;
  const double after = ring.LogDensity(1e6);
  EXPECT_LT(after, before - 1.0);
  check(Ring(3e-6), 3e-6, 1.0);
  EXPECT_EQ(ring.LogDensity(1e6), after);
}

TEST(KeptModelTest, StepsAreNotTakenForTime) {
  Ring ring(0x1p-20, 0.0, 1.0 - 0x1p-20);
  const double exit = 0x1p-20;
  for (int repeat = 0; repeat < 2; ++repeat) {
    ring.is_discrete = false;
    double exact = std::log(exit) - exit * 1e6;
    EXPECT_NEAR(ring.LogDensity(1e6), exact, 1e-12 * std::fabs(exact));
    ring.is_discrete = true;
    exact = std::log(exit) + 999999.0 * std::log1p(-exit);
    EXPECT_NEAR(ring.LogDensity(1e6), exact, 1e-12 * std::fabs(exact));
  }
}

TEST(KeptModelTest, BitsDoNotDependOnEarlierCalls) {
  const Ring ring(1e-6);
  const Ring other(3e-6);
  Doubles times;
  for (int i = 0; i < 12; ++i) times.push_back(2e5 * (i + 1));
  const Doubles all = ring.Values(times);
  other.LogDensity(1e6);
  for (size_t i = times.size(); i-- > 0;) {
    // At two equal times, the first value is the log density, and the second is
    // the log survival function.
    const Doubles pair = ring.Values({times[i], times[i]});
    EXPECT_EQ(pair[i % 2], all[i]) << times[i];
    if (i % 4 == 0) other.LogDensity(2e6);
  }
}

// A model whose values take few milliseconds and come from steps, not from
// squared powers, at times in another order than before.
TEST(KeptModelTest, StepsGoOnFromEarlierCalls) {
  const Ring ring(1e-2);
  const Ring other(3e-2);
  Doubles times;
  for (int i = 0; i < 24; ++i) times.push_back(100.0 * ((i * 7) % 24 + 1));
  for (const bool flushes : {false, true}) {
    for (const double time : times) {
      const double exact = std::log(1e-2) - 1e-2 * time;
      const double alone = ring.LogDensity(time);
      EXPECT_NEAR(alone, exact, 1e-12 * std::fabs(exact)) << time;
      if (flushes) other.LogDensity(time);
      EXPECT_EQ(ring.Values({time, time})[0], alone) << time;
      EXPECT_EQ(ring.Values(times)[0], ring.LogDensity(times[0])) << time;
    }
  }
}

// Returns the log densities of two stages of the given rate.
Doubles TwoStages(double rate, const Doubles& times, bool repeats) {
  const double alpha[] = {1.0, 0.0};
  const double matrix[] = {-rate, rate, 0.0, -rate};
  const int64_t n = static_cast<int64_t>(times.size());
  const int64_t dims[] = {1, 2, 2};
  const int64_t row[] = {1, n};
  const int64_t none[] = {1, 0};
  const Input inputs[] = {{alpha, {dims, 2}},
                          {matrix, {dims, 3}},
                          {matrix, {none, 2}},
                          {matrix, {none, 2}},
                          {times.data(), {row, 2}}};
  Call call = {0, 0, 0, Precision::kFloat64};
  call.repeats = repeats;
  Doubles values(times.size());
  EXPECT_EQ(Forward(call, inputs, 5, {values.data(), {row, 2}}), nullptr);
  return values;
}

TEST(KeptModelTest, CheapModelsThatRepeat) {
  Doubles many;
  for (int i = 0; i < 600; ++i) many.push_back(0.01 * (i + 1));
  for (const bool alternates : {false, true}) {
    for (const double time : {1.0, 40.0, 0.5, 7.0, 300.0, 1.0}) {
      const double exact = std::log(9.0 * time) - 3.0 * time;
      const Doubles found = TwoStages(3.0, {time}, true);
      EXPECT_NEAR(found[0], exact, 1e-12 * std::fabs(exact)) << time;
      EXPECT_TRUE(AreSame(found, TwoStages(3.0, {time}, false))) << time;
      if (alternates) TwoStages(2.0, {time}, true);
      EXPECT_TRUE(
          AreSame(TwoStages(3.0, many, true), TwoStages(3.0, many, false)));
    }
  }
}

TEST(KeptModelTest, ThreadsHaveTheirOwnResults) {
  constexpr int kThreads = 4;
  const Doubles times = {4e5, 4e5, 2e6, 2e6};
  std::vector<Ring> rings;
  std::vector<Doubles> alone;
  for (int i = 0; i < kThreads; ++i) {
    rings.emplace_back(1e-6 * (1 + i / 2));
    alone.push_back(rings[i].Values(times));
  }
  std::vector<int> num_same(kThreads, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 4; ++repeat) {
        num_same[i] += AreSame(rings[i].Values(times), alone[i]) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(num_same[i], 4) << i;
}

// Tests times that are evaluated together, some of which underflow.
TEST(SquaringPathsTest, TimesTogetherHaveTheBitsOfTimesAlone) {
  Ring ring(0.0);
  for (int64_t i = 0; i < kPhases; ++i) {
    // Entries of 1e-300 and rates from 1e-3 to 1.
    ring.matrix[i * kPhases + (i + 7) % kPhases] = 1e-300;
    ring.matrix[i * kPhases + (i + 1) % kPhases] =
        std::pow(10.0, -3.0 * static_cast<double>(i % 11) / 10.0);
  }
  ring.exits[kPhases - 1] = 1e-9;
  Doubles times;
  for (int i = 0; i < 48; ++i) times.push_back(std::pow(10.0, 2 + 0.2 * i));
  const Doubles together = ring.Values(times);
  int num_finite = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    const Doubles pair = ring.Values({times[i], times[i]});
    const Doubles same = {together[i]};
    EXPECT_TRUE(AreSame(same, {pair[i % 2]})) << times[i];
    num_finite += std::isfinite(together[i]) ? 1 : 0;
  }
  EXPECT_GT(num_finite, 24);
}

}  // namespace
}  // namespace phasic
