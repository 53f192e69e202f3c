// Tests squared powers of unbounded range against closed forms.

#include "native/kernel/methods/squaring/scaled_powers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "native/kernel/methods/squaring/squared_powers.h"
#include "native/kernel/model/model.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/simd/float_environment.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

// A chain of stages that are left at the given rates, in units of 2^-10.
class Stages {
 public:
  explicit Stages(const std::vector<double>& rates)
      : size_(static_cast<int64_t>(rates.size())),
        initial_(rates.size(), 0.0),
        rates_(rates.size() * rates.size(), 0.0),
        exits_(rates.size(), 0.0) {
    initial_[0] = 1.0;
    for (size_t i = 0; i + 1 < rates.size(); ++i) {
      rates_[i * rates.size() + i + 1] = rates[i];
    }
    exits_.back() = rates.back();
    SweepInput in = {};
    in.num_phases = size_;
    in.epsilon = 0x1p-52;
    in.has_exit_rates = true;
    in.initial_probs.value = initial_.data();
    in.subgenerator.value = rates_.data();
    in.exit_rates.value = exits_.data();
    in.prob_zero.value = &zero_;
    ModelBuilder<double> builder(in, &workspace_, &model_);
    EXPECT_EQ(builder.Build(), kOk);
  }

  int64_t size() const { return size_; }
  const Model<double>& model() const { return model_; }
  Workspace* workspace() { return &workspace_; }

 private:
  const int64_t size_;
  const double zero_ = 0.0;
  std::vector<double> initial_;
  std::vector<double> rates_;
  std::vector<double> exits_;
  Workspace workspace_{size_t{1} << 30};
  Model<double> model_;
};

// Returns the logarithms of the product of power j, over 2^j / 64 jumps of a
// rate q, and the unit vector of the last phase.
std::vector<double> LogsOfLastColumn(Stages* stages, int64_t j) {
  const FloatEnvironment environment(Denormals::kFlush);
  SquaredPowers<double> squared_powers(stages->model(), Phases::kAll,
                                       stages->workspace());
  EXPECT_EQ(squared_powers.Reach(1), kOk);
  ScaledPowers powers(squared_powers, stages->workspace());
  EXPECT_TRUE(powers.Reach(j + 1));
  ScaledVector y;
  EXPECT_TRUE(y.Allocate(squared_powers.stride(), stages->workspace()));
  y.Set(stages->size() - 1, 1.0, 0);
  EXPECT_TRUE(powers.Apply(j, &y));
  std::vector<double> logs;
  for (int64_t i = 0; i < stages->size(); ++i) {
    logs.push_back(std::log(y.mantissas[i]) +
                   static_cast<double>(y.exponents[i]) * kLn2);
  }
  return logs;
}

// Between equal stages the numbers of jumps have a Poisson distribution. At
// late times the probabilities of few and many jumps differ by 1e500.
TEST(ScaledPowersTest, ManyEqualStages) {
  Stages stages(std::vector<double>(100, 0.75));
  for (const int64_t j : {13, 16, 20, 24, 30}) {
    const double x = std::ldexp(0.75, static_cast<int>(j) - 6);
    const std::vector<double> logs = LogsOfLastColumn(&stages, j);
    for (int64_t i = 0; i < 100; ++i) {
      const auto jumps = static_cast<double>(99 - i);
      const double expected =
          jumps * std::log(x) - x - std::lgamma(jumps + 1.0);
      EXPECT_NEAR(logs[i], expected, 4e-15 * (x + 1e3)) << j << " " << i;
    }
  }
}

// Chains that start after the slow stage survive for a far shorter time than
// those that start before it.
TEST(ScaledPowersTest, SlowStageInside) {
  const double a = 0.625;
  const double b = 0.125;
  const double c = 0.75;
  Stages stages({a, b, c});
  for (const int64_t j : {13, 16, 20, 24, 30}) {
    const double x = std::ldexp(1.0, static_cast<int>(j) - 6);
    const std::vector<double> logs = LogsOfLastColumn(&stages, j);
    const double late = std::exp((b - a) * x);
    EXPECT_NEAR(logs[2], -c * x, 1e-15 * x);
    EXPECT_NEAR(logs[1], std::log(b / (c - b)) - b * x, 1e-15 * (x + 1.0));
    EXPECT_NEAR(logs[0],
                std::log(a * b / ((a - b) * (c - b))) - b * x +
                    std::log1p(-late * (c - b) / (c - a)),
                1e-15 * (x + 1.0));
  }
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
