// Compares the values and derivatives at many times of one model, for all kinds
// of functions at once, with closed forms.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "native/kernel/methods/many_times/node_sums.h"
#include "native/kernel/methods/many_times/node_values.h"
#include "native/kernel/methods/squaring/squaring_adjoint.h"
#include "native/kernel/methods/squaring/squaring_points.h"
#include "native/kernel/methods/squaring/squaring_starts.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/sweeps/adjoint.h"
#include "native/kernel/sweeps/forward.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

constexpr double kAtom = 0.25;
constexpr double kRate = 3.0;

// Tests an exponentially distributed time that is zero with probability kAtom.
class ManyTimesTest : public testing::Test {
 protected:
  explicit ManyTimesTest(int64_t count = 2000) : times_(count), kinds_(count) {
    for (int64_t i = 0; i < count; ++i) {
      // The times are unordered, and some occur twice with different kinds.
      times_[i] = 1e-3 + 20.0 * std::fmod(0.618 * static_cast<double>(i), 1.0);
      if (i % 5 == 4) times_[i] = times_[i - 1];
      kinds_[i] = static_cast<int32_t>(2 * (i % 3));  // logarithms
    }
    in_.num_phases = 1;
    in_.num_times = count;
    in_.kinds = kinds_.data();
    in_.has_exit_rates = true;
    in_.has_prob_zero = true;
    in_.epsilon = 0x1p-52;
    in_.initial_probs.value = &initial_;
    in_.subgenerator.value = &diagonal_;
    in_.exit_rates.value = &kRate;
    in_.prob_zero.value = &kAtom;
    in_.times.value = times_.data();
  }

  static double Truth(int32_t kind, double t) {
    const double rest = (1.0 - kAtom) * std::exp(-kRate * t);
    switch (static_cast<Kind>(kind)) {
      case Kind::kLogDensity:
        return std::log((1.0 - kAtom) * kRate) - kRate * t;
      case Kind::kDensity:
        return kRate * rest;
      case Kind::kLogSurvival:
        return std::log(1.0 - kAtom) - kRate * t;
      case Kind::kSurvival:
        return rest;
      case Kind::kLogCdf:
        return std::log1p(-rest);
      default:
        return 1.0 - rest;
    }
  }

  // Returns the derivative of the value in the rate.
  static double RateDerivative(int32_t kind, double t) {
    const double rest = (1.0 - kAtom) * std::exp(-kRate * t);
    switch (static_cast<Kind>(kind)) {
      case Kind::kLogDensity:
        return 1.0 / kRate - t;
      case Kind::kDensity:
        return rest * (1.0 - kRate * t);
      case Kind::kLogSurvival:
        return -t;
      case Kind::kSurvival:
        return -t * rest;
      case Kind::kLogCdf:
        return t * rest / (1.0 - rest);
      default:
        return t * rest;
    }
  }

  // Returns the derivative of the value in the time. The function depends on
  // the product of rate and time; a density also has the rate as a factor.
  static double TimeDerivative(int32_t kind, double t) {
    const double rest = (1.0 - kAtom) * std::exp(-kRate * t);
    switch (static_cast<Kind>(kind)) {
      case Kind::kLogDensity:
      case Kind::kLogSurvival:
        return -kRate;
      case Kind::kDensity:
        return -kRate * kRate * rest;
      case Kind::kSurvival:
        return -kRate * rest;
      case Kind::kLogCdf:
        return kRate * rest / (1.0 - rest);
      default:
        return kRate * rest;
    }
  }

  std::vector<double> Values() {
    std::vector<double> values(times_.size());
    SweepOutput out = {};
    out.values = values.data();
    ForwardSweep<double>(in_, out, &workspace_);
    workspace_.Reset();
    return values;
  }

  const double initial_ = 1.0 - kAtom;
  const double diagonal_ = -kRate;
  std::vector<double> times_;
  std::vector<int32_t> kinds_;
  SweepInput in_ = {};
  Workspace workspace_{size_t{1} << 28};
};

TEST_F(ManyTimesTest, ValuesOfAllKinds) {
  const std::vector<double> values = Values();
  for (size_t i = 0; i < times_.size(); ++i) {
    const double truth = Truth(kinds_[i], times_[i]);
    EXPECT_NEAR(values[i], truth, 1e-13 * std::max(1.0, std::fabs(truth)))
        << "kind " << kinds_[i] << " at " << times_[i];
  }
}

TEST_F(ManyTimesTest, AKindForEachTimeOrOneForAll) {
  const std::vector<double> values = Values();
  for (int32_t kind = 0; kind < kNumKinds; kind += 2) {
    in_.kinds = nullptr;
    in_.kind = static_cast<Kind>(kind);
    const std::vector<double> alone = Values();
    for (size_t i = kind / 2; i < times_.size(); i += 3) {
      EXPECT_NEAR(values[i], alone[i],
                  1e-14 * std::max(1.0, std::fabs(alone[i])));
    }
  }
}

TEST(SlowRatesTest, ValuesOfAllKinds) {
  for (const double rate : {1e-200, 1e-285, 1e-295, 1e-300}) {
    std::vector<double> times;
    for (int i = 1; i <= 600; ++i) times.push_back(i / 30.0 / rate);
    const double one = 1.0;
    const double diagonal = -rate;
    SweepInput in = {};
    in.num_phases = 1;
    in.num_times = static_cast<int64_t>(times.size());
    in.epsilon = 0x1p-52;
    in.has_exit_rates = true;
    in.initial_probs.value = &one;
    in.subgenerator.value = &diagonal;
    in.exit_rates.value = &rate;
    in.times.value = times.data();
    std::vector<double> values(times.size());
    SweepOutput out = {};
    out.values = values.data();
    Workspace workspace{size_t{1} << 24};
    const auto check = [&](Kind kind, auto truth) {
      in.kind = kind;
      ForwardSweep<double>(in, out, &workspace);
      for (size_t i = 0; i < times.size(); ++i) {
        const double exact = truth(rate * times[i]);
        EXPECT_NEAR(values[i], exact, 1e-12 * std::fabs(exact))
            << rate << " " << static_cast<int>(kind) << " " << times[i];
      }
    };
    check(Kind::kSurvival, [](double x) { return std::exp(-x); });
    check(Kind::kLogSurvival, [](double x) { return -x; });
    check(Kind::kCdf, [](double x) { return -std::expm1(-x); });
    check(Kind::kLogDensity, [&](double x) { return std::log(rate) - x; });
  }
}

TEST_F(ManyTimesTest, GradientsOfAllKinds) {
  std::vector<double> cotangents(times_.size());
  double truth = 0.0;
  double size = 0.0;
  for (size_t i = 0; i < times_.size(); ++i) {
    cotangents[i] = i % 11 == 0 ? 0.0 : std::sin(static_cast<double>(i));
    const double term = cotangents[i] * RateDerivative(kinds_[i], times_[i]);
    truth += term;
    size += std::fabs(term);
  }
  in_.cotangent = cotangents.data();
  std::vector<double> bars(times_.size());
  double initial = 0.0;
  double exits = 0.0;
  double atom = 0.0;
  double rates = 0.0;
  SweepOutput out = {};
  out.times = bars.data();
  out.initial_probs = &initial;
  out.subgenerator = &rates;
  out.exit_rates = &exits;
  out.prob_zero = &atom;
  AdjointSweep<double>(in_, out, &workspace_);
  EXPECT_NEAR(exits, truth, 1e-12 * size);
  double atom_truth = 0.0;
  for (size_t i = 0; i < times_.size(); ++i) {
    if (kinds_[i] < static_cast<int32_t>(Kind::kLogCdf)) continue;
    const bool log = kinds_[i] == static_cast<int32_t>(Kind::kLogCdf);
    const double cdf = Truth(static_cast<int32_t>(Kind::kCdf), times_[i]);
    atom_truth += cotangents[i] / (log ? cdf : 1.0);
  }
  EXPECT_NEAR(atom, atom_truth, 1e-11);
  for (size_t i = 0; i < times_.size(); ++i) {
    // The function depends on the product of rate and time; the derivative in
    // the other factor is at most 1 / t.
    const double share = kinds_[i] < 2 ? 1.0 / kRate : 0.0;
    const double factor = kinds_[i] == 1 ? Truth(1, times_[i]) * share : share;
    const double expected = cotangents[i] *
                            (RateDerivative(kinds_[i], times_[i]) - factor) *
                            kRate / times_[i];
    EXPECT_NEAR(bars[i], expected, 1e-12 * (std::fabs(expected) + kRate));
  }
  // Now only the cotangents of times are requested.
  std::vector<double> same(times_.size());
  out = {};
  out.times = same.data();
  AdjointSweep<double>(in_, out, &workspace_);
  EXPECT_EQ(same, bars);
  out = {};
  double exits_alone = 0.0;
  out.exit_rates = &exits_alone;
  AdjointSweep<double>(in_, out, &workspace_);
  EXPECT_EQ(exits_alone, exits);
}

// Tests tangents in one direction: along the rate and the times, along one of
// them, and along none.
TEST_F(ManyTimesTest, TangentsOfAllKinds) {
  std::vector<double> moves(times_.size());
  for (size_t i = 0; i < moves.size(); ++i) {
    moves[i] = std::cos(static_cast<double>(i));
  }
  for (const double along_rate : {0.0, -0.75}) {
    for (const double along_times : {0.0, 1.0}) {
      SCOPED_TRACE(testing::Message() << along_rate << " " << along_times);
      const double no_change = 0.0;
      const double diagonal = -along_rate;
      std::vector<double> changes(times_.size());
      for (size_t i = 0; i < moves.size(); ++i) {
        changes[i] = along_times * moves[i];
      }
      in_.initial_probs.tangents[0] = &no_change;
      in_.subgenerator.tangents[0] = &diagonal;
      in_.exit_rates.tangents[0] = &along_rate;
      in_.prob_zero.tangents[0] = &no_change;
      in_.times.tangents[0] = changes.data();
      std::vector<double> tangents(times_.size());
      SweepOutput out = {};
      out.values = tangents.data();
      ForwardSweep<Dual<double>>(in_, out, &workspace_);
      workspace_.Reset();
      for (size_t i = 0; i < times_.size(); ++i) {
        const double t = times_[i];
        const double along = along_rate * RateDerivative(kinds_[i], t) +
                             changes[i] * TimeDerivative(kinds_[i], t);
        const double size =
            std::fabs(along_rate * RateDerivative(kinds_[i], t)) +
            std::fabs(changes[i] * TimeDerivative(kinds_[i], t));
        // A density's derivative in the rate is a difference, so that its error
        // is relative to the terms.
        const double more = kinds_[i] < 2 ? std::fabs(along_rate) / kRate : 0.0;
        EXPECT_NEAR(tangents[i], along, 1e-13 * (size + more))
            << "kind " << kinds_[i] << " at " << t;
      }
    }
  }
}

// Tests models of phases in series with unit rates, at many times.
class TangentsOfStagesTest : public testing::Test {
 protected:
  explicit TangentsOfStagesTest(int64_t phases = 2, int64_t count = 600)
      : initial_(phases),
        initial_change_(phases),
        rates_(phases * phases),
        rate_changes_(phases * phases),
        exits_(phases),
        exit_changes_(phases),
        times_(count),
        moves_(count),
        tangents_(count) {
    initial_.front() = exits_.back() = 1.0;
    for (int64_t i = 0; i < phases; ++i) {
      rates_[i * phases + i] = -1.0;
      if (i + 1 < phases) rates_[i * phases + i + 1] = 1.0;
    }
    in_.num_phases = phases;
    in_.num_times = count;
    in_.has_exit_rates = true;
    in_.has_prob_zero = true;
    in_.epsilon = 0x1p-52;
    in_.initial_probs = {initial_.data(), {initial_change_.data()}};
    in_.subgenerator = {rates_.data(), {rate_changes_.data()}};
    in_.exit_rates = {exits_.data(), {exit_changes_.data()}};
    in_.prob_zero = {&atom_, {&atom_change_}};
    in_.times = {times_.data(), {moves_.data()}};
  }

  // Computes the directional derivatives of log f at times from `first` to 2 *
  // first, in groups.
  const std::vector<double>& LogDensity(double first) {
    const auto n = static_cast<double>(times_.size());
    for (size_t i = 0; i < times_.size(); ++i) {
      times_[i] = first * (1.0 + static_cast<double>(i) / n);
    }
    in_.kind = Kind::kLogDensity;
    SweepOutput out = {};
    out.values = tangents_.data();
    ForwardSweep<Dual<double>>(in_, out, &workspace_);
    workspace_.Reset();
    return tangents_;
  }

  std::vector<double> initial_;
  std::vector<double> initial_change_;
  std::vector<double> rates_;
  std::vector<double> rate_changes_;
  std::vector<double> exits_;
  std::vector<double> exit_changes_;
  double atom_ = 0.0;
  double atom_change_ = 0.0;
  std::vector<double> times_;
  std::vector<double> moves_;
  std::vector<double> tangents_;
  SweepInput in_ = {};
  Workspace workspace_{size_t{1} << 28};
};

// Returns the directional derivative of log f if only the rate a of the first
// transition changes, and with it the first phase's total rate: log f = log(a)
// + log t - t at a = 1.
// Computes the cotangents of the rates of log densities at times near x, summed
// over `calls` calls for as many times each. The last phase is hardly reached.
std::vector<double> RateCotangents(double x, int calls) {
  constexpr int64_t kPhases = 16;
  constexpr int64_t kLast = kPhases - 1;
  constexpr int64_t kTimes = 600;
  std::vector<double> start(kPhases, 0.0);
  std::vector<double> exits(kPhases);
  std::vector<double> rates(kPhases * kPhases, 0.0);
  start[0] = 1.0;
  for (int64_t i = 0; i < kPhases; ++i) {
    exits[i] = 1e-3 * static_cast<double>(1 + i % 4);
    for (int64_t j = 0; j < kLast; ++j) {
      if (i == j) continue;
      rates[i * kPhases + j] =
          static_cast<double>(1 + (3 * i + 5 * j) % 7) / 128;
    }
  }
  rates[kLast] = 1e-150;
  const double none = 0.0;
  const int64_t count = kTimes / calls;
  std::vector<double> times(count);
  const std::vector<double> ones(count, 1.0);
  std::vector<double> sums(rates.size(), 0.0);
  std::vector<double> bars(rates.size());
  Workspace workspace{size_t{1} << 30};
  for (int64_t call = 0; call < calls; ++call) {
    for (int64_t i = 0; i < count; ++i) {
      const auto n = static_cast<double>(call * count + i);
      times[i] = x + 3.9 * n / static_cast<double>(kTimes);
    }
    SweepInput in = {};
    in.num_phases = kPhases;
    in.num_times = count;
    in.row_length = count;
    in.kind = Kind::kLogDensity;
    in.epsilon = 0x1p-52;
    in.has_exit_rates = true;
    in.has_prob_zero = true;
    in.initial_probs.value = start.data();
    in.subgenerator.value = rates.data();
    in.exit_rates.value = exits.data();
    in.prob_zero.value = &none;
    in.times.value = times.data();
    in.cotangent = ones.data();
    SweepOutput out = {};
    out.subgenerator = bars.data();
    workspace.Reset();
    AdjointSweep<double>(in, out, &workspace);
    for (size_t e = 0; e < bars.size(); ++e) sums[e] += bars[e];
  }
  return sums;
}

// Tests times that are summed by steps as they are many, and would be squared
// alone, with the widest margin, which the last phase needs.
TEST(ManySquaredTimesTest, AsInTwoCalls) {
  for (const double x : {1500.0, 8000.0}) {
    SCOPED_TRACE(x);
    const std::vector<double> found = RateCotangents(x, 1);
    const std::vector<double> expected = RateCotangents(x, 2);
    double largest = 0.0;
    for (const double bar : expected) {
      largest = std::max(largest, std::fabs(bar));
    }
    EXPECT_GT(largest, 1.0);
    for (size_t e = 0; e < found.size(); ++e) {
      if (e % 17 == 0) continue;  // the diagonal is not read
      EXPECT_NEAR(found[e], expected[e],
                  1e-9 * std::fabs(expected[e]) + 1e-12 * largest)
          << e;
    }
    // Steps into the last phase and from there are small, but not lost.
    EXPECT_NE(found[15], 0.0);
    EXPECT_NEAR(found[15 * 16 + 1], expected[15 * 16 + 1],
                1e-6 * std::fabs(expected[15 * 16 + 1]));
    EXPECT_NE(expected[15 * 16 + 1], 0.0);
  }
}

double ChangeOfFirstRate(double t) {
  // This is d/da log((exp(-t) - exp(-a t)) a / (a - 1)) at a = 1.
  return 1.0 - 0.5 * t;
}

TEST_F(TangentsOfStagesTest, NaNIsNotZero) {
  rate_changes_[1] = std::nan("");
  for (const double x : LogDensity(0.5)) EXPECT_TRUE(std::isnan(x));
}

TEST_F(TangentsOfStagesTest, TheDiagonalIsNotRead) {
  rate_changes_[0] = std::nan("");
  rate_changes_[1] = 1.0;
  const std::vector<double>& found = LogDensity(0.5);
  for (size_t i = 0; i < times_.size(); ++i) {
    EXPECT_NEAR(found[i], ChangeOfFirstRate(times_[i]), 1e-13);
  }
}

class TangentsOfFourTest : public TangentsOfStagesTest {
 protected:
  TangentsOfFourTest() : TangentsOfStagesTest(4) {}
};

// Tests small times, where f is proportional to each of three rates.
TEST_F(TangentsOfFourTest, TinyTangentsAtEarlyTimes) {
  for (int i = 0; i < 3; ++i) rate_changes_[5 * i + 1] = 1e-200;
  for (const double x : LogDensity(1e-40)) EXPECT_NEAR(x, 3e-200, 1e-212);
}

TEST_F(TangentsOfStagesTest, HugeTangentsOfTimes) {
  std::fill(moves_.begin(), moves_.end(), 1e200);
  const std::vector<double>& found = LogDensity(0.5);
  for (size_t i = 0; i < times_.size(); ++i) {
    const double truth = 1e200 * (1.0 / times_[i] - 1.0);
    EXPECT_NEAR(found[i], truth, 1e-13 * 1e200);
  }
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
