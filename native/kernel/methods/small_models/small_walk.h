// The walk over the steps of small models in SIMD lanes, which computes their
// terms and mixes them.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_WALK_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_WALK_H_

#include <cstdint>

#include "native/kernel/matrix/tiles.h"
#include "native/kernel/methods/small_models/small_decay.h"
#include "native/kernel/methods/small_models/small_mixer.h"
#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_scales.h"
#include "native/kernel/methods/small_models/small_terms.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/unrolled.h"

namespace phasic {
namespace PHASIC_ISA {

// The most steps of times that are not long, and of any.
constexpr int64_t kMostShortSteps = 1152;
template <int kPhases>
constexpr int64_t kMostSmallSteps = kPhases <= 2   ? 7168
                                    : kPhases <= 4 ? 5632
                                                   : 3328;

// The numbers that a walk stores for the way back.
template <int kPhases>
struct SmallKept {
  // A row for each step: the state and the weight.
  PerModel* rows = nullptr;
  // For each run of steps the powers of two by which the states were divided,
  // and those by which sums and weights were multiplied, after it.
  PerModel* states = nullptr;
  PerModel* sums = nullptr;

  bool Allocate(int64_t num_steps, Workspace* workspace) {
    rows = AllocateRoom<PerModel>(workspace, num_steps * (kPhases + 1));
    states = AllocateRoom<PerModel>(workspace, num_steps / kStepsPerTest);
    sums = AllocateRoom<PerModel>(workspace, num_steps / kStepsPerTest);
    return rows != nullptr && states != nullptr && sums != nullptr;
  }
};

template <int kPhases>
constexpr int64_t MostSteps(bool has_long) {
  return has_long ? kMostSmallSteps<kPhases> : kMostShortSteps;
}

// Mixes one time of each model while its terms are computed; returns the number
// of steps. If `kept` has rows, stores what the way back needs, and makes
// derivatives accurate, too.
//
// Whether a window has ended does not depend on other lanes, but the number of
// steps does: beyond its window a time's weights are all zero.
template <bool kHasOthers, bool kHasLong, int kPhases>
[[gnu::always_inline]] inline int64_t MixAsMade(
    SmallTerms<kPhases>* terms, SmallMixer* to,
    const SmallKept<kPhases>& kept) {
  SmallMixer mixer = *to;  // sums that stay in registers
  const bool has_bars = kept.rows != nullptr;
  int64_t k = 0;
  while (mixer.IsOpen() && k < MostSteps<kPhases>(kHasLong)) {
    for (int64_t j = 0; j < kStepsPerTest; ++j, ++k) {
      if (has_bars) {
        PerModel* row = kept.rows + k * (kPhases + 1);
        Unrolled<kPhases>([&](auto i) { row[i] = terms->state()[i]; });
        row[kPhases] = mixer.weights();
      }
      mixer.Add<kHasOthers>(k, terms->template Next<kHasOthers>());
    }
    const PerModel mass = terms->Mass();
    mixer.Close<kHasLong>(k, mass, has_bars);
    if constexpr (kHasLong) {
      const ModelMask mask = mixer.AreScaled(mass);
      const PowerAbove power = terms->Rescale(mass, mask);
      const PerModel factor = mixer.Rescale(k, mask, power);
      if (has_bars) {
        kept.states[k / kStepsPerTest - 1] = power.power;
        kept.sums[k / kStepsPerTest - 1] = factor;
      }
    }
  }
  *to = mixer;
  return k;
}

// Does so for the functions and sizes that the times have. The decay is that of
// the models if any time needs it.
template <int kPhases>
int64_t MixAsMade(const SmallModels<kPhases>& models, const SmallDecay& decay,
                  SmallMixer* mixer, const SmallKept<kPhases>& kept) {
  SmallTerms<kPhases> terms(models);
  const bool has_bars = kept.rows != nullptr;
  if (has_bars || mixer->has_long()) {
    mixer->StartScales(decay, kLargestDecayedX<kPhases>, has_bars);
  }
  if (mixer->has_long()) {
    return MixAsMade<true, true>(&terms, mixer, kept);
  }
  return mixer->has_others() ? MixAsMade<true, false>(&terms, mixer, kept)
                             : MixAsMade<false, false>(&terms, mixer, kept);
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_WALK_H_
