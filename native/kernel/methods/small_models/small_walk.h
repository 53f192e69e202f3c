// The walk over the steps of small models in SIMD lanes, which computes their
// terms and mixes them.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_WALK_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_WALK_H_

#include <cstdint>

#include "native/kernel/methods/small_models/small_mixer.h"
#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_terms.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/unrolled.h"

namespace phasic {
namespace PHASIC_ISA {

// Mixes one time of each model while its terms are computed; returns the number
// of steps, at most `most_steps`. If `kept` is not nullptr, stores a row for
// each step, the state and the weight, and makes derivatives accurate, too.
//
// Whether a window has ended does not depend on other lanes, but the number of
// steps does: beyond its window a time's weights are all zero.
template <bool kHasOthers, int kPhases>
[[gnu::always_inline]] inline int64_t MixAsMade(SmallTerms<kPhases>* terms,
                                                int64_t most_steps,
                                                SmallMixer* to,
                                                PerModel* kept) {
  SmallMixer mixer = *to;  // sums that stay in registers
  int64_t k = 0;
  while (mixer.IsOpen() && k < most_steps) {
    mixer.Begin(k);
    for (int64_t j = 0; j < kStepsPerTest; ++j, ++k) {
      if (kept != nullptr) {
        PerModel* row = kept + k * (kPhases + 1);
        Unrolled<kPhases>([&](auto i) { row[i] = terms->state()[i]; });
        row[kPhases] = mixer.weights();
      }
      mixer.Add<kHasOthers>(k, terms->template Next<kHasOthers>());
    }
    mixer.Close(k, terms->Mass(), kept != nullptr);
  }
  *to = mixer;
  return k;
}

// Does so for the functions that the times have.
template <int kPhases>
int64_t MixAsMade(const SmallModels<kPhases>& models, int64_t most_steps,
                  SmallMixer* mixer, PerModel* kept) {
  SmallTerms<kPhases> terms(models);
  return mixer->has_others()
             ? MixAsMade<true>(&terms, most_steps, mixer, kept)
             : MixAsMade<false>(&terms, most_steps, mixer, kept);
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_WALK_H_
