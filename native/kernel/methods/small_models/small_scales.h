// Scales of times with q t so large that exp(-q t), or the states when it
// matters, leave the range of doubles, and bounds on what underflows.
//
// The weights of such a time begin with one in place of exp(-x). At the end of
// each run of steps the state is divided by a power of two near its mass, and
// the weights are multiplied by it; sums that have become large are divided by
// another one. All sums then have the unit 2^e exp(-x).
//
// Let beta be a bound of decay: the mass that is left after n steps is at most
// beta^(n - h) of what was there, whatever the state. It shows that what is
// lost to underflow in a state, below 2^-1022 of its mass, does not matter at
// the end, though all mass decays by more than that; and where the terms become
// negligible.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_SCALES_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_SCALES_H_

#include <cstdint>

#include "native/kernel/matrix/lane_operator.h"
#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr double kPerLn2 = 0x1.71547652b82fep+0;
// The largest beta x. Steps are rounded without compensation, and beyond it
// squaring costs less, for a model by itself by far less.
template <int kPhases>
constexpr double kLargestDecayedX = kPhases <= 2   ? 4096.0
                                    : kPhases <= 4 ? 3072.0
                                                   : 1536.0;
// h, the number of steps that beta is found from.
constexpr int kDecaySteps = 32;
constexpr int kLeastLog2Decay = -8;

// The largest sum of a long time.
constexpr double kLargestSmallSum = 0x1p700;

struct SmallDecay {
  PerModel log2{0.0};               // of beta
  ModelMask is_short = NoModels();  // no path has more than kMostJumps jumps
};
constexpr int kMostJumps = 8;

// Returns the decay of each model: the largest mass that is left after h steps
// from any phase is beta^h.
template <int kPhases>
[[gnu::noinline]] SmallDecay Decay(const SmallModels<kPhases>& models) {
  SmallDecay decay;
  PerModel left[kPhases];
  for (PerModel& mass : left) mass = PerModel(1.0);
  const auto largest = [&] {
    PerModel most(0.0);
    for (int64_t i = 0; i < models.size; ++i) most = Larger(most, left[i]);
    return most;
  };
  for (int k = 0; k < kDecaySteps; ++k) {
    PerModel next[kPhases];
    for (int i = 0; i < kPhases; ++i) {
      next[i] = PerModel(0.0);
      for (int j = 0; j < kPhases; ++j) {
        next[i].AddProduct(models.steps[i][j], left[j]);
      }
    }
    for (int i = 0; i < kPhases; ++i) left[i] = next[i];
    if (k + 1 == kMostJumps) decay.is_short = largest() <= PerModel(0.0);
  }
  // Otherwise masses may have underflowed.
  for (const auto& row : models.steps) {
    for (const PerModel& step : row) {
      decay.is_short = decay.is_short & Either(step <= PerModel(0.0),
                                               PerModel(0x1p-100) <= step);
    }
  }
  const PerModel most =
      Larger(largest(), PerModel(PowerOfTwo(kDecaySteps * kLeastLog2Decay)));
  // Rounded up by far more than rounding errors.
  const PerModel log2 =
      MultiplyAdd(LogOf(Select(most <= PerModel(1.0), most, PerModel(1.0)), 0),
                  PerModel(kPerLn2 / kDecaySteps), PerModel(1e-9));
  decay.log2 = Select(log2 <= PerModel(0.0), log2, PerModel(0.0));
  return decay;
}

// Returns a power of two of at least 2^exponent, which is limited to the range
// of normal numbers.
inline PerModel TwoTo(const PerModel& exponent) {
  using Vector = PerModel::Vector;
  using Bits = PerModel::Bits;
  constexpr double kToInteger = 0x1.8p52;  // adding it rounds to an integer
  const PerModel least = Larger(exponent, PerModel(-1000.0));
  const PerModel limited =
      Select(least <= PerModel(1000.0), least, PerModel(1000.0));
  PerModel result;
  for (int l = 0; l < PerModel::kParts; ++l) {
    const Vector shifted = (limited.parts[l] + 0.5) + kToInteger;
    result.parts[l] =
        reinterpret_cast<Vector>(reinterpret_cast<Bits>(Vector{} + 1.0) +
                                 (reinterpret_cast<Bits>(shifted) << 52));
  }
  return result;
}

class SmallScales {
 public:
  // Until Start is called, for times that need no scales.
  SmallScales() = default;

  void Start(const SmallTimes& times, const SmallDecay& decay) {
    is_long_ = times.is_long;
    ends_ = is_long_ & decay.is_short;
    log2_decay_ = Select(is_long_ & ~ends_, decay.log2, PerModel(0.0));
    const PerModel beta =
        (1.0 + 1e-9) * ExpOfMinus(PerModel(-kLn2) * log2_decay_);
    decayed_x_ = Select(is_long_, beta * times.x, times.x);
    decayed_x_ = Select(ends_, PerModel(0.0), decayed_x_);
    early_ = PerModel(0.0) - static_cast<double>(kDecaySteps) * log2_decay_;
    delay_ = Select(
        is_long_,
        MultiplyAdd(PerModel(-kStepsPerTest), log2_decay_, PerModel(1.0)),
        PerModel(0.0));
  }

  const ModelMask& is_long() const { return is_long_; }
  // Lanes without terms once all mass is absorbed, in which beta is zero.
  const ModelMask& ends() const { return ends_; }
  // beta x, where the terms w_k beta^k are largest.
  const PerModel& decayed_x() const { return decayed_x_; }
  // The exponent e of the sums' unit.
  const PerModel& unit() const { return unit_; }

  // Returns a bound on the mass after step k + n, divided by beta^n times the
  // mass after step k.
  PerModel Growth() const { return TwoTo(early_); }
  // Returns a bound on sum_i v_i P^(k - i) 1 over earlier steps i, in the scale
  // of step k, divided by k.
  PerModel EarlierGrowth(double k) const {
    return TwoTo(state_ + k * log2_decay_ + delay_ + 2.0 * early_);
  }

  // Multiplies the state's scale by 2^exponent before step k, in the lanes
  // where `has_mass` is set.
  void ScaleStates(double k, const ModelMask& has_mass,
                   const PerModel& exponent) {
    state_ = Select(has_mass, state_ + exponent, state_);
    const PerModel decay = k * log2_decay_;
    delay_ = Select(
        has_mass,
        Larger(delay_, (PerModel(1.0) - state_ - decay) -
                           static_cast<double>(kStepsPerTest) * log2_decay_),
        delay_);
    slow_ = Select(has_mass, Larger(slow_, state_ + decay), slow_);
  }
  void ScaleSums(const PerModel& exponent) { unit_ = unit_ + exponent; }

  // Returns a bound on the exponent of what underflows in a value.
  PerModel LossOfValue() const {
    return ((delay_ + early_) + (kPerLn2 * decayed_x_ - unit_)) +
           PerModel(kLost);
  }
  // Returns a bound on what underflows in a derivative: in states, and in the
  // adjoints.
  PerModel LossOfDerivatives() const {
    const PerModel of_states = LossOfValue() + early_;
    const PerModel of_adjoints = (delay_ + early_) + (slow_ + PerModel(kLost));
    return TwoTo(Larger(of_states, of_adjoints) +
                 PerModel(1.0 + 2.0 * kLog2OfMostSteps));
  }

 private:
  static constexpr double kLog2OfMostSteps = 13.0;
  // What is lost in all steps by up to 2^8 flushed operations in each.
  static constexpr double kLost = -1022.0 + 8.0 + kLog2OfMostSteps;

  ModelMask is_long_ = NoModels();
  ModelMask ends_ = NoModels();
  PerModel log2_decay_{0.0};
  PerModel decayed_x_{0.0};
  PerModel early_{0.0};  // -h log2(beta)
  PerModel unit_{0.0};
  PerModel state_{0.0};  // the exponent of the states' scale, s_k
  // Exponents that bound the mass of all steps so far, which is at most
  // 2^-s_k: at most 2^delay beta^k, and 2^s_k is at most 2^slow beta^-k.
  PerModel delay_{0.0};
  PerModel slow_{0.0};
};

// The value F' of a time, a number of at most one times its unit. Both units
// are one for times that are not long.
struct SmallValue {
  PerModel number;
  PerModel unit{1.0};
  PerModel log_unit{0.0};
  PerModel sums_unit{1.0};  // 2^e exp(-x)
  // Lanes whose units are in the range of doubles.
  ModelMask are_plain = ~NoModels();

  SmallValue(const SmallTimes& times, const SmallScales& scales,
             const PerModel& value)
      : number(value) {
    if (!Any(scales.is_long())) return;
    const PowerAbove size(Select(
        scales.is_long() & IsWithin(value, kLeastOrdinary, kLargestSmallSum),
        value, PerModel(1.0)));
    number = size.inverse * value;
    const PerModel exponent = scales.unit() + size.log2;
    log_unit = Select(scales.is_long(),
                      (kLn2High * exponent - times.x) + kLn2Low * exponent,
                      PerModel(0.0));
    are_plain = IsWithin(log_unit, -300.0, 1.0);
    unit =
        ExpOfMinus(Select(are_plain, PerModel(0.0) - log_unit, PerModel(0.0)));
    sums_unit = size.inverse * unit;
  }
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_SCALES_H_
