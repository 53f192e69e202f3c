// How fast the mass of small models decays, whatever their state is.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_DECAY_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_DECAY_H_

#include <cstdint>

#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr double kPerLn2 = 0x1.71547652b82fep+0;
// h, the number of steps that beta is found from: the first one where mass
// decays fast.
constexpr int kFewDecaySteps = 8;
constexpr int kDecaySteps = 32;
constexpr double kFastLog2Decay = -4.0;
constexpr double kLeastLog2Decay = -8.0;

// The least x at which derivatives use bounds of decay.
constexpr double kLeastDecayedX = 32.0;

constexpr int kMostJumps = kFewDecaySteps;

struct SmallDecay {
  PerModel log2{0.0};               // of beta
  PerModel early{0.0};              // -h log2
  ModelMask is_short = NoModels();  // no path has more than kMostJumps jumps
  // Estimates of how small the derivatives in starts are: log2 of the ratio of
  // the least to the largest mass that is left, for each step; and the largest
  // probability of leaving a phase.
  PerModel log2_spread{0.0};
  PerModel leaving{0.0};

  // Returns beta, rounded up.
  PerModel Beta() const {
    return (1.0 + 1e-9) * ExpOfMinus(PerModel(-kLn2) * log2);
  }
  // Returns the lanes in which, whatever the phase at time zero is, more than
  // half of its mass is absorbed before x = q t. What is left is at most
  // sum_k w_k beta^(k - h) = beta^-h exp((beta - 1) x).
  ModelMask AreMostlyAbsorbed(const PerModel& x) const {
    return (kPerLn2 * x) * (Beta() - PerModel(1.0)) + early <= PerModel(-1.0);
  }
};

// Returns log2(x) / steps for masses of at most one, and at least
// kLeastLog2Decay.
inline PerModel Log2PerStep(const PerModel& x, int steps) {
  const PerModel most = Larger(
      x, PerModel(PowerOfTwo(steps * static_cast<int>(kLeastLog2Decay))));
  return PerModel(kPerLn2 / steps) *
         LogOf(Select(most <= PerModel(1.0), most, PerModel(1.0)), 0);
}

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
  PerModel of_few;
  for (int k = 0; k < kDecaySteps; ++k) {
    PerModel next[kPhases];
    for (int i = 0; i < kPhases; ++i) {
      next[i] = PerModel(0.0);
      for (int j = 0; j < kPhases; ++j) {
        next[i].AddProduct(models.steps[i][j], left[j]);
      }
    }
    for (int i = 0; i < kPhases; ++i) left[i] = next[i];
    if (k + 1 == kFewDecaySteps) of_few = largest();
  }
  decay.is_short = of_few <= PerModel(0.0);
  // Otherwise masses may have underflowed.
  for (const auto& row : models.steps) {
    for (const PerModel& step : row) {
      decay.is_short = decay.is_short & Either(step <= PerModel(0.0),
                                               PerModel(0x1p-100) <= step);
    }
  }
  const PerModel most = largest();
  const PerModel log2_of_few = Log2PerStep(of_few, kFewDecaySteps);
  const ModelMask is_fast = log2_of_few <= PerModel(kFastLog2Decay);
  // Rounded up by far more than rounding errors.
  const PerModel log2 =
      Select(is_fast, log2_of_few, Log2PerStep(most, kDecaySteps)) +
      PerModel(1e-9);
  decay.log2 = Select(log2 <= PerModel(0.0), log2, PerModel(0.0));
  decay.early = PerModel(0.0) - Select(is_fast, PerModel(kFewDecaySteps),
                                       PerModel(kDecaySteps)) *
                                    decay.log2;
  PerModel least(1.0);
  for (int64_t i = 0; i < models.size; ++i) {
    least = Select(left[i] < least, left[i], least);
    decay.leaving = Larger(decay.leaving, PerModel(1.0) - models.steps[i][i]);
  }
  const PerModel tiny(kLeastOrdinary);
  decay.log2_spread = Log2PerStep(
      Quotient(Larger(least, tiny), Larger(most, tiny)), kDecaySteps);
  return decay;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_DECAY_H_
