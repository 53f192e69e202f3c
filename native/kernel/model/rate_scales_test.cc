// Tests derivatives of models with very slow or very fast phases. If all rates
// are multiplied by 2^k and all times are divided by 2^k, each result is
// multiplied by a known power of two.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/api/shapes.h"
#include "native/kernel/model/test_rate_scales.h"

namespace phasic {
namespace {

// Checks that the numbers in `scaled` are 2^exponent times those in `unit`. An
// error may be at most 1e-11 of the number or, if terms may cancel, of the
// largest number.
void ExpectScaled(const Numbers& scaled, const Numbers& unit, int exponent,
                  bool may_cancel, const std::string& label) {
  double largest = 0.0;
  for (const double x : unit) {
    ASSERT_TRUE(std::isfinite(x)) << label;
    largest = std::max(largest, std::fabs(x));
  }
  for (size_t i = 0; i < unit.size(); ++i) {
    const double expected = std::ldexp(unit[i], exponent);
    if (!std::isfinite(expected) || std::fabs(expected) < 1e-300) continue;
    const double size = may_cancel ? largest : std::fabs(unit[i]);
    ASSERT_NEAR(std::ldexp(scaled[i], -exponent), unit[i], 1e-11 * size)
        << label << ", entry " << i << ", " << exponent;
  }
}

// Compares the derivatives of the given models with those of scaled models:
// rates are multiplied by 2^k, and times divided by it.
void ExpectHomogeneous(const Models& unit, Kind kind, bool has_orders) {
  for (const int k : {-970, -900, -700, -450, 450, 700, 900, 985}) {
    const Models scaled = Scaled(unit, k);
    Calls expected(unit, kind);
    Calls actual(scaled, kind);
    const int f = kind == Kind::kDensity ? k : 0;
    const std::string label =
        "kind " + std::to_string(static_cast<int>(kind)) + ", form " +
        std::to_string(static_cast<int>(unit.form)) + ", " +
        std::to_string(unit.phases) + " phases, 2^" + std::to_string(k) + ", ";
    for (int32_t order = 1; order <= (has_orders ? 2 : 1); ++order) {
      const std::string number = std::to_string(order);
      ExpectScaled(actual.Forward(order), expected.Forward(order), f, true,
                   label + "J" + number);
      const int shifts[] = {f, f - k, f - k, f, f + k};
      const std::vector<Numbers> bars = actual.Adjoint(order);
      const std::vector<Numbers> unit_bars = expected.Adjoint(order);
      for (int32_t i = 0; i < kNumOperands; ++i) {
        const bool may_cancel = order > 1 || i != kInitialProbs;
        ExpectScaled(bars[i], unit_bars[i], shifts[i], may_cancel,
                     label + "V" + number + " " + std::to_string(i));
      }
    }
    const int shifts[] = {f, f - k, f, f, f};
    const std::vector<Numbers> statistics = actual.Statistics();
    const std::vector<Numbers> unit_statistics = expected.Statistics();
    for (int32_t i = 0; i < kNumStatistics; ++i) {
      ExpectScaled(statistics[i], unit_statistics[i], shifts[i], false,
                   label + "statistic " + std::to_string(i));
    }
  }
}

class RateScalesTest : public testing::TestWithParam<Form> {};

TEST_P(RateScalesTest, FewTimes) {
  for (const int64_t p : {1, 2, 4, 12}) {
    for (const double spread : {1.0, 20.0}) {
      for (const int64_t times : {1, 2}) {
        const Models models = Draw(GetParam(), p, 5, times, spread);
        for (int32_t kind = 0; kind < kNumKinds; ++kind) {
          ExpectHomogeneous(models, static_cast<Kind>(kind), true);
        }
      }
    }
  }
}

TEST_P(RateScalesTest, Intervals) {
  for (const int64_t p : {1, 3, 12}) {
    Models models = Draw(GetParam(), p, 3, 3, 1.0);
    models.kinds = {6, 7, 0};
    ExpectHomogeneous(models, Kind::kLogDensity, true);
  }
}

TEST_P(RateScalesTest, ManyTimes) {
  const Models models = Draw(GetParam(), 3, 2, 600, 1.0);
  for (int32_t kind = 0; kind < kNumKinds; ++kind) {
    ExpectHomogeneous(models, static_cast<Kind>(kind), false);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, RateScalesTest,
                         testing::Values(Form::kExitsGiven, Form::kExitsDerived,
                                         Form::kEdges, Form::kParameters));

// For an exponential distribution with rate r,
//   d log S(t) = -t dr - r dt  and  d log f(t) = (1 / r - t) dr - r dt.
// In this test S(t) is as small as exp(-600).
TEST(RateScalesOfOnePhaseTest, FarTails) {
  for (const int k : {-990, -700, 700, 980}) {
    const double rate = std::ldexp(1.5, k);
    for (const double x : {1e-3, 2.0, 260.0, 600.0}) {
      const double t = x / rate;
      Models m = Draw(Form::kExitsGiven, 1, 1, 1, 0.0);
      m.operands[kInitialProbs].data = {1.0};
      m.operands[kExitRates].data = {rate};
      m.operands[kProbZero].data = {0.0};
      m.operands[kTimes].data = {t};
      for (const Kind kind : {Kind::kLogDensity, Kind::kLogSurvival}) {
        const double by_rate = (kind == Kind::kLogDensity ? 1.0 : 0.0) - x;
        const std::vector<Numbers> bars = Calls(m, kind).Adjoint(1);
        EXPECT_NEAR(rate * bars[kExitRates][0], 0.5 * by_rate,
                    1e-12 * (1.0 + x));
        EXPECT_NEAR(bars[kTimes][0] / rate, -0.5, 1e-12 * (1.0 + x));
      }
    }
  }
}

}  // namespace
}  // namespace phasic
