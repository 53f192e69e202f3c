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

#include "native/kernel/methods/small_models/small_decay.h"
#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// The largest beta x. Steps are rounded without compensation, and beyond it
// squaring costs less, for a model by itself by far less.
template <int kPhases>
constexpr double kLargestDecayedX = kPhases <= 2   ? 4096.0
                                    : kPhases <= 4 ? 3072.0
                                                   : 2048.0;

// The largest sum of a long time.
constexpr double kLargestSmallSum = 0x1p700;

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

  // With `has_bars` the bounds of decay are also used for times that are not
  // long.
  void Start(const SmallTimes& times, const SmallDecay& decay, bool has_bars) {
    is_long_ = times.is_long;
    // Absorbed mass does not decay.
    const ModelMask decays =
        (has_bars ? PerModel(kLeastDecayedX) <= times.x : is_long_) &
        ~times.is_cdf;
    ends_ = decays & decay.is_short;
    const ModelMask has_beta = decays & ~ends_;
    log2_decay_ = Select(has_beta, decay.log2, PerModel(0.0));
    decayed_x_ = Select(has_beta, decay.Beta() * times.x, times.x);
    decayed_x_ = Select(ends_, PerModel(0.0), decayed_x_);
    early_ = Select(has_beta, decay.early, PerModel(0.0));
    // The mass of a state that is not scaled is at most 2 beta^(k - h).
    delay_ = Select(decays, PerModel(1.0) + early_, PerModel(0.0));
    delay_ = Select(
        is_long_,
        MultiplyAdd(PerModel(-kStepsPerTest), log2_decay_, PerModel(1.0)),
        delay_);
    if (!has_bars) return;
    spread_ =
        TwoTo(Select(has_beta, decay.log2_spread * decayed_x_, PerModel(0.0)));
    const PerModel leaving =
        Select(is_long_, decay.leaving - PerModel(1.0), decay.leaving);
    log2_stay_ = Select(has_beta, PerModel(-kPerLn2) * (leaving * times.x),
                        PerModel(kPerLn2));
    stay_ = TwoTo(log2_stay_);
  }

  const ModelMask& is_long() const { return is_long_; }
  // Lanes without terms once all mass is absorbed, in which beta is zero.
  const ModelMask& ends() const { return ends_; }
  // beta x, where the terms w_k beta^k are largest.
  const PerModel& decayed_x() const { return decayed_x_; }
  // Returns an estimate of the smallest derivative in a start, given the value:
  // at least the probability that the phase is never left.
  PerModel LeastStart(const PerModel& value) const {
    return Larger(spread_ * value, stay_);
  }
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
  void ScaleSums(const PerModel& exponent) {
    unit_ = unit_ + exponent;
    stay_ = TwoTo(log2_stay_ - unit_);
  }

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
  // The loss in all steps by up to 2^8 flushed operations in each.
  static constexpr double kLost = -1022.0 + 8.0 + kLog2OfMostSteps;

  ModelMask is_long_ = NoModels();
  ModelMask ends_ = NoModels();
  PerModel log2_decay_{0.0};
  PerModel decayed_x_{0.0};
  PerModel early_{0.0};  // -h log2(beta)
  PerModel spread_{1.0};
  PerModel log2_stay_{0.0};
  PerModel unit_{0.0};
  PerModel stay_{1.0};   // 2^(log2_stay - unit)
  PerModel state_{0.0};  // the exponent of the states' scale, s_k
  // Exponents that bound the mass of all steps so far, which is at most
  // 2^-s_k: at most 2^delay beta^k, and 2^s_k is at most 2^slow beta^-k.
  PerModel delay_{0.0};
  PerModel slow_{0.0};
};

// The value F' of a time, a number times its unit. The number is at most one
// and that of the sums times `inverse_size`. The unit is one for times that are
// not long.
struct SmallValue {
  PerModel number;
  PerModel inverse_size{1.0};
  PerModel log_unit{0.0};
  // The root of the unit, as the unit itself may be out of the range of doubles
  // where results are not.
  PerModel root{1.0};

  SmallValue(const SmallTimes& times, const SmallScales& scales,
             const PerModel& value)
      : number(value) {
    if (!Any(scales.is_long())) return;
    const PowerAbove size(Select(
        scales.is_long() & IsWithin(value, kLeastOrdinary, kLargestSmallSum),
        value, PerModel(1.0)));
    inverse_size = size.inverse;
    number = inverse_size * value;
    const PerModel exponent = scales.unit() + size.log2;
    log_unit = Select(scales.is_long(),
                      (kLn2High * exponent - times.x) + kLn2Low * exponent,
                      PerModel(0.0));
    const ModelMask has_root = IsWithin(log_unit, -1400.0, 2.0);
    root = Select(has_root,
                  ExpOfMinus(Select(has_root, -0.5 * log_unit, PerModel(0.0))),
                  PerModel(0.0));
  }
  // Returns a number, of which that of the value is one, times the unit.
  PerModel InUnits(const PerModel& x) const { return (x * root) * root; }
  PerModel Plain() const { return InUnits(number); }
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_SCALES_H_
