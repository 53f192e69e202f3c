// Compares derivatives in several directions at once with those in single
// directions, bit by bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "native/kernel/methods/many_directions/directions_sweep.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/sweeps/forward.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool SameBits(double a, double b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0 || (a != a && b != b);
}

// A random model with tangents in several directions.
class RandomModel {
 public:
  explicit RandomModel(uint32_t seed) : random_(seed) {
    const int64_t p = in_.num_phases = 1 + Integer(24);
    in_.discrete = Chance(0.1);
    in_.kind = static_cast<Kind>(Integer(kNumKinds));
    in_.has_prob_zero = Chance(0.5);
    in_.epsilon = 0x1p-52;
    // Some models have numbers of few bits, and some have a rate that is far
    // smaller or larger than the others.
    few_bits_ = Chance(0.3);
    spread_ = Chance(0.2) ? 0x1p-300 : 1.0;
    zeros_have_tangents_ = Chance(0.15);
    initial_ = Values(p, 0.5, 1.0 / static_cast<double>(p));
    initial_.value[0] = 0.5 / static_cast<double>(p);
    prob_zero_ = Values(1, 0.0, 0.25);
    if (Chance(0.5)) {
      MakeEdges(p);
    } else {
      MakeMatrix(p);
    }
    MakeTimes();
    Point(initial_, 0, &in_.initial_probs);
  }

  // Returns the sweep input with the tangents of direction l.
  SweepInput Direction(int l) const {
    SweepInput in = in_;
    Point(initial_, l, &in.initial_probs);
    Point(rates_, l, &in.subgenerator);
    Point(exits_, l, &in.exit_rates);
    Point(prob_zero_, l, &in.prob_zero);
    Point(times_, l, &in.times);
    return in;
  }

 private:
  struct Operand {
    std::vector<double> value;
    std::vector<double> tangents[kMaxDirections];
  };

  int64_t Integer(int64_t n) {
    return std::uniform_int_distribution<int64_t>(0, n - 1)(random_);
  }
  double Uniform() { return std::uniform_real_distribution<>()(random_); }
  bool Chance(double probability) { return Uniform() < probability; }

  // Returns random numbers up to `size`, some of which are zero, with tangents
  // of all sizes.
  Operand Values(int64_t count, double zeros, double size) {
    Operand result;
    for (int64_t i = 0; i < count; ++i) {
      const bool is_zero = Chance(zeros);
      const double x = few_bits_ ? static_cast<double>(1 + Integer(8)) / 8
                                 : 0.1 + 0.9 * Uniform();
      result.value.push_back(is_zero ? 0.0 : size * x);
      for (int l = 0; l < kMaxDirections; ++l) {
        const bool has_none =
            Chance(0.3) || (is_zero && !(zeros_have_tangents_ && Chance(0.1)));
        result.tangents[l].push_back(
            has_none ? 0.0 : TangentSize(l) * (Uniform() - 0.5));
      }
    }
    return result;
  }
  double TangentSize(int l) {
    switch (l) {
      case 2:
        return 1e-250;
      case 3:
        return 1e15;
      case 5:
        return Chance(0.001) ? kInfinity : 1.0;
      case 6:
        return 0.0;
      default:
        return 1.0;
    }
  }

  void MakeEdges(int64_t p) {
    std::vector<int32_t> targets;
    for (int64_t i = 0; i < p; ++i) {
      for (int64_t n = 1 + Integer(4); n > 0; --n) {
        sources_.push_back(static_cast<int32_t>(i));
        targets.push_back(static_cast<int32_t>(
            Chance(0.3) ? p : std::min(p, i + 1 + Integer(3))));
      }
      if (Chance(0.2)) {
        sources_.push_back(static_cast<int32_t>(i));
        targets.push_back(static_cast<int32_t>(Integer(p)));
      }
    }
    const auto m = static_cast<int64_t>(sources_.size());
    sources_.insert(sources_.end(), targets.begin(), targets.end());
    const int64_t d = Chance(0.5) ? 3 : 0;
    rates_ = Values(d > 0 ? d : m, 0.05, in_.discrete ? 0.1 : 4.0);
    if (d == 0) rates_.value[0] *= spread_;
    coefficients_ = Values(m * d, 0.4, in_.discrete ? 0.2 : 1.0);
    in_.edges = {m,
                 sources_.data(),
                 sources_.data() + m,
                 nullptr,
                 d > 0 ? coefficients_.value.data() : nullptr,
                 d};
  }

  void MakeMatrix(int64_t p) {
    rates_ = Values(p * p, Chance(0.5) ? 0.8 : 0.1,
                    in_.discrete ? 0.9 / static_cast<double>(p + 1) : 1.0);
    exits_ = Values(p, 0.5, in_.discrete ? 0.05 : 1.0);
    exits_.value[p - 1] = 0.05;
    in_.has_exit_rates = !in_.discrete && Chance(0.6);
    if (in_.discrete || in_.has_exit_rates) return;
    for (int64_t i = 0; i < p; ++i) {
      double& diagonal = rates_.value[i * p + i];
      diagonal = 0.0;
      for (int64_t j = 0; j < p; ++j) {
        if (i != j) diagonal -= rates_.value[i * p + j];
      }
      diagonal -= exits_.value[i];
    }
  }

  void MakeTimes() {
    in_.num_times = in_.row_length = 12;
    times_ = Values(in_.num_times, 0.1, Chance(0.3) ? 400.0 : 20.0);
    if (Chance(0.2)) times_.value[1] = 1e-9;
    if (Chance(0.2)) times_.value[2] = 3e7;  // by squaring
    if (Chance(0.1)) times_.value[3] = kInfinity;
    if (Chance(0.1)) times_.value[4] = -1.0;
    if (Chance(0.1)) times_.value[5] = kNaN;
    if (in_.discrete) {
      for (double& time : times_.value) time = std::floor(time);
    }
    if (!Chance(0.3)) return;
    for (int64_t i = 0; i < in_.num_times; ++i) {
      kinds_.push_back(static_cast<int32_t>(2 * Integer(3)));
    }
    kinds_[8] = static_cast<int32_t>(Kind::kLogInterval);
    kinds_[9] = static_cast<int32_t>(Kind::kNothing);
    times_.value[9] = times_.value[8] + 1.0;
    in_.kinds = kinds_.data();
  }

  static void Point(const Operand& operand, int l, OperandView* view) {
    view->value = operand.value.data();
    view->tangents[0] = operand.tangents[l].data();
  }

  std::mt19937 random_;
  bool few_bits_;
  double spread_;
  bool zeros_have_tangents_;
  SweepInput in_ = {};
  Operand initial_;
  Operand rates_;
  Operand exits_;
  Operand prob_zero_;
  Operand times_;
  Operand coefficients_;
  std::vector<int32_t> sources_;
  std::vector<int32_t> kinds_;
};

struct Results {
  explicit Results(int64_t count) : values(count), status(count) {}
  SweepOutput AsOutput() {
    SweepOutput output = {};
    output.values = values.data();
    output.status = status.data();
    return output;
  }
  std::vector<double> values;
  std::vector<int32_t> status;
};

class DirectionsTest : public testing::Test {
 protected:
  // Evaluates the given directions of the model at once and one by one, and
  // compares the results. Returns how many times were evaluated at once.
  int64_t Compare(const RandomModel& model, const std::vector<int>& which) {
    std::vector<SweepInput> inputs;
    std::vector<Results> results;
    std::vector<SweepOutput> outputs;
    for (const int l : which) {
      inputs.push_back(model.Direction(l));
      results.emplace_back(inputs[0].num_times);
    }
    for (Results& result : results) outputs.push_back(result.AsOutput());
    const auto count = static_cast<int>(which.size());
    SweepDirections(inputs.data(), outputs.data(), count, &workspace_);
    workspace_.Reset();
    for (int n = 0; n < count; ++n) {
      Results single(inputs[n].num_times);
      ForwardSweep<Dual<double>>(inputs[n], single.AsOutput(), &workspace_);
      workspace_.Reset();
      for (int64_t i = 0; i < inputs[n].num_times; ++i) {
        EXPECT_EQ(results[n].status[i], single.status[i])
            << "direction " << which[n] << ", time " << i;
        EXPECT_TRUE(SameBits(results[n].values[i], single.values[i]))
            << "direction " << which[n] << ", time " << i << ": "
            << results[n].values[i] << ", alone " << single.values[i];
      }
    }
    return NumTaken(inputs, &results);
  }

  // Returns the number of times that the sweep over all directions evaluates
  // itself.
  int64_t NumTaken(const std::vector<SweepInput>& inputs,
                   std::vector<Results>* results) {
    const FloatEnvironment environment(Denormals::kFlush);
    std::vector<SweepOutput> outputs;
    for (Results& result : *results) {
      outputs.push_back(result.AsOutput());
      StartTimes(inputs[0], outputs.back());
    }
    DirectionsRun(inputs.data(), outputs.data(),
                  static_cast<int>(inputs.size()), &workspace_)
        .Run();
    workspace_.Reset();
    int64_t taken = 0;
    for (const Results& result : *results) {
      taken += std::count(result.status.begin(), result.status.end(), kOk);
    }
    return taken;
  }

  Workspace workspace_{size_t{1} << 30};
};

TEST_F(DirectionsTest, HaveTheBitsOfEachByItself) {
  int64_t taken = 0;
  int64_t all = 0;
  for (uint32_t seed = 0; seed < 600 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomModel model(seed);
    std::vector<int> which;
    for (int l = 0; l < kDirections; ++l) {
      // Both the first four and the last four directions have tangents of all
      // sizes.
      which.push_back((l + static_cast<int>(seed % 2) * 4) % kMaxDirections);
    }
    which.resize(2 + seed % (kDirections - 1));
    taken += Compare(model, which);
    all += static_cast<int64_t>(which.size()) * model.Direction(0).num_times;
  }
  EXPECT_GT(taken, all / 4) << "too few were taken at once, of " << all;
}

// Tests tangents that are far larger than values, so that they determine the
// scale in a sweep of a single direction.
TEST_F(DirectionsTest, DoNotShareTheScaleOfOne) {
  const double initial[] = {1.0, 0.0};
  const double rates[] = {-3.0, 3.0, 0.0, -5.0};
  const double zeros[4] = {};
  const double times[] = {0.5, 1.0, 30.0};
  for (const double size : {1e-300, 1e-20, 1e18, 1e22, 1e200, 1e300}) {
    SCOPED_TRACE(size);
    const double tangents[2][4] = {{-1.0, 1.0, 0.0, 0.0},
                                   {-size, size, 0.0, 0.0}};
    SweepInput inputs[2] = {};
    std::vector<Results> together(2, Results(3));
    SweepOutput outputs[2];
    for (int l = 0; l < 2; ++l) {
      SweepInput& in = inputs[l];
      in.num_phases = 2;
      in.num_times = in.row_length = 3;
      in.kind = Kind::kLogCdf;
      in.epsilon = 0x1p-52;
      in.initial_probs = {initial, {zeros}};
      in.subgenerator = {rates, {tangents[l]}};
      in.exit_rates = in.prob_zero = {zeros, {zeros}};
      in.times = {times, {zeros}};
      outputs[l] = together[l].AsOutput();
    }
    SweepDirections(inputs, outputs, 2, &workspace_);
    workspace_.Reset();
    for (int l = 0; l < 2; ++l) {
      Results single(3);
      ForwardSweep<Dual<double>>(inputs[l], single.AsOutput(), &workspace_);
      workspace_.Reset();
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(together[l].status[i], kOk);
        EXPECT_TRUE(SameBits(together[l].values[i], single.values[i]));
        // These cases are skipped: the value is negligible, or some of its
        // terms are flushed to zero.
        if (times[i] > 2.0 || size < 1e-290) continue;
        EXPECT_NEAR(together[1].values[i] / together[0].values[i] / size, 1.0,
                    1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
