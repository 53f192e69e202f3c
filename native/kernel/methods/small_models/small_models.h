// Models of few phases, evaluated at eight times at once: each number is a
// register with one SIMD lane per time. A lane's result depends only on its own
// model and time. A single model also fills a lane, so that results do not
// depend on other models, to the last bit. A lane with numbers near overflow or
// underflow is flagged, and the usual sweeps evaluate its model.
//
// All numbers are relative to q: the exits are s/q, and F' is F/q for a
// density.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_MODELS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_MODELS_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/model/rates.h"
#include "native/kernel/numbers/compensated_sum.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"

namespace phasic {
namespace PHASIC_ISA {

// The smallest power of two that is at least x, its base-2 logarithm and its
// inverse.
struct PowerAbove {
  PerModel power;
  PerModel log2;
  PerModel inverse;

  explicit PowerAbove(const PerModel& x) {
    using Vector = PerModel::Vector;
    using Bits = PerModel::Bits;
    constexpr int64_t kMantissa = (int64_t{1} << 52) - 1;
    constexpr int64_t kTwoTo52 = int64_t{0x433} << 52;
    for (int l = 0; l < PerModel::kParts; ++l) {
      const Bits bits =
          (reinterpret_cast<Bits>(x.parts[l]) + kMantissa) & ~kMantissa;
      power.parts[l] = reinterpret_cast<Vector>(bits);
      inverse.parts[l] = reinterpret_cast<Vector>((int64_t{2046} << 52) - bits);
      log2.parts[l] =
          reinterpret_cast<Vector>((bits >> 52) | kTwoTo52) - (0x1p52 + 1023.0);
    }
  }
};

// Reads entries of the arrays of eight models into lanes. Either all models
// have a matrix, or all have the same edges.
class SmallInputs {
 public:
  SmallInputs(const SmallLane* lanes, int count) : first_(*lanes[0].in) {
    for (int l = 0; l < kModels; ++l) {
      const SweepInput& in = *lanes[l < count ? l : 0].in;
      inputs_[l] = &in;
      initial_[l] = in.initial_probs.value;
      subgenerator_[l] = in.subgenerator.value;
      exits_[l] = in.exit_rates.value;
      prob_zero_[l] = in.prob_zero.value;
    }
  }

  // Returns the sweep input whose sizes and structure all models share.
  const SweepInput& shared() const { return first_; }

  PerModel Initial(int64_t i) const { return Gathered(initial_, i); }
  PerModel Subgenerator(int64_t i) const { return Gathered(subgenerator_, i); }
  PerModel ExitRate(int64_t i) const { return Gathered(exits_, i); }
  PerModel ProbZero() const { return Gathered(prob_zero_, 0); }
  PerModel EdgeRateOf(int64_t e) const {
    const EdgeView& edges = first_.edges;
    if (edges.constants == nullptr && edges.coefficients == nullptr) {
      return Subgenerator(e);
    }
    return SideBySide([&](int l) {
      const double rate = EdgeRate<double>(*inputs_[l], e);
      // A rate that underflows to zero is replaced by a subnormal number, for
      // which the lane is flagged.
      return rate == 0.0 && IsFlushed(*inputs_[l], e) ? 0x1p-1074 : rate;
    });
  }

 private:
  static PerModel Gathered(const double* const* models, int64_t i) {
    return SideBySide([&](int l) { return models[l][i]; });
  }

  const SweepInput& first_;
  const SweepInput* inputs_[kModels];
  const double* initial_[kModels];
  const double* subgenerator_[kModels];
  const double* exits_[kModels];
  const double* prob_zero_[kModels];
};

// A sum in each lane. Result returns the rounded sum and Low its rounding
// error, as in CompensatedSum.
struct CompensatedLanes {
  PerModel high{0.0};
  PerModel low{0.0};
  void Add(const PerModel& term) { AddCompensated(term, &high, &low); }
  PerModel Result() const { return high + low; }
  PerModel Low() const { return low - (Result() - high); }
};

// The uniformized models of eight lanes. Phases beyond the models' number of
// phases are never entered.
template <int kPhases>
struct SmallModels {
  int64_t size;
  PerModel initial[kPhases];
  PerModel steps[kPhases][kPhases];  // P by rows
  PerModel exits[kPhases];
  PerModel max_exit{0.0};
  PerModel prob_zero;
  PerModel total;  // prob_zero and the sum of alpha
  PowerAbove q{PerModel(1.0)};
  ModelMask is_ordinary = PerModel(0.0) < PerModel(1.0);

  // Reads and scales the models. Denormals must not be flushed meanwhile, to
  // distinguish them from zeros.
  explicit SmallModels(const SmallInputs& inputs)
      : size(inputs.shared().num_phases) {
    for (int i = 0; i < kPhases; ++i) {
      initial[i] = exits[i] = PerModel(0.0);
      for (PerModel& step : steps[i]) step = PerModel(0.0);
    }
    ReadStarts(inputs);
    CompensatedLanes leaving[kPhases];
    if (!inputs.shared().has_edges()) {
      ReadSubgenerator(inputs, leaving);
    } else if (!ReadEdges(inputs, leaving)) {
      is_ordinary = NoModels();
    }
    Scale(leaving);
  }

 private:
  void Require(const ModelMask& mask) { is_ordinary = is_ordinary & mask; }

  // Returns the tolerance for sums of data in the caller's precision whose
  // terms are at most one.
  static double Tolerance(const SweepInput& in) {
    return 4.0 * static_cast<double>(in.num_phases) * in.epsilon;
  }

  // Returns `rest`, a difference from one, with negative rounding errors
  // replaced by zero; flags lanes where it is more negative than that.
  PerModel Rest(const PerModel& rest, const PerModel& tolerance) {
    Require(PerModel(0.0) - tolerance <= rest);
    return Select(rest <= tolerance, PerModel(0.0), rest);
  }

  void ReadStarts(const SmallInputs& inputs) {
    const SweepInput& in = inputs.shared();
    CompensatedLanes rest;
    rest.Add(PerModel(1.0));
    PerModel sum(0.0);
    for (int64_t i = 0; i < size; ++i) {
      initial[i] = inputs.Initial(i);
      Require(IsPlain(initial[i]));
      rest.Add(PerModel(0.0) - initial[i]);
      sum = sum + initial[i];
    }
    Require(sum <= PerModel(2.0));
    if (in.has_prob_zero) {
      prob_zero = inputs.ProbZero();
      Require(IsPlain(prob_zero) & (prob_zero <= PerModel(1.0)));
    } else {
      prob_zero = Rest(rest.Result(), PerModel(Tolerance(in)));
    }
    total = prob_zero + sum;
  }

  void ReadSubgenerator(const SmallInputs& inputs, CompensatedLanes* leaving) {
    const SweepInput& in = inputs.shared();
    for (int64_t i = 0; i < size; ++i) {
      CompensatedLanes row;
      PerModel largest(0.0);
      for (int64_t j = 0; j < size; ++j) {
        if (in.has_exit_rates && i == j) continue;  // not read
        const PerModel rate = inputs.Subgenerator(i * size + j);
        row.Add(rate);
        largest = Larger(largest, Size(rate));
        if (i != j) {
          steps[i][j] = rate;
          continue;
        }
        leaving[i].high = PerModel(0.0) - rate;
        Require(IsPlain(leaving[i].high));
      }
      if (in.has_exit_rates) {
        exits[i] = inputs.ExitRate(i);
        row.Add(exits[i]);
        leaving[i] = row;
      } else {
        exits[i] = Rest(PerModel(0.0) - row.Result(), Tolerance(in) * largest);
      }
    }
  }

  // Reads the rates of the edges; returns false if an edge has an invalid
  // source or target.
  bool ReadEdges(const SmallInputs& inputs, CompensatedLanes* leaving) {
    const EdgeView& edges = inputs.shared().edges;
    for (int64_t e = 0; e < edges.count; ++e) {
      const int64_t i = edges.sources[e];
      const int64_t j = edges.targets[e];
      if (i < 0 || i >= size || j < 0 || j > size) return false;
      const PerModel rate = inputs.EdgeRateOf(e);
      Require(IsPlain(rate) & (rate < PerModel(HUGE_VAL)));
      if (i == j) continue;
      leaving[i].Add(rate);
      PerModel& sum = j == size ? exits[i] : steps[i][j];
      sum = sum + rate;
    }
    for (int64_t i = 0; inputs.shared().has_weights() && i < size; ++i) {
      exits[i] = inputs.ExitRate(i);
      Require(exits[i] <= PerModel(kLargestSmallScale));
    }
    return true;
  }

  // Chooses q, a power of two of at least the largest rate, and divides all
  // rates by it.
  void Scale(const CompensatedLanes* leaving) {
    PerModel largest(0.0);
    for (int64_t i = 0; i < size; ++i) {
      // This comparison is false for NaN, too.
      Require(leaving[i].Result() <= PerModel(kLargestSmallScale));
      largest = Larger(largest, leaving[i].Result());
    }
    Require(PerModel(kLeastSmallScale) <= largest);
    q = PowerAbove(Select(is_ordinary, largest, PerModel(1.0)));
    for (int i = 0; i < kPhases; ++i) {
      exits[i] = q.inverse * exits[i];
      Require(IsPlain(exits[i]));
      max_exit = Larger(max_exit, exits[i]);
      Require(max_exit <= PerModel(kLargestExit));
      for (int j = 0; j < kPhases; ++j) {
        if (i == j) continue;
        steps[i][j] = q.inverse * steps[i][j];
        Require(IsPlain(steps[i][j]));
      }
      if (i >= size) continue;
      steps[i][i] = (PerModel(1.0) - q.inverse * leaving[i].Result()) -
                    q.inverse * leaving[i].Low();
    }
  }
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_MODELS_H_
