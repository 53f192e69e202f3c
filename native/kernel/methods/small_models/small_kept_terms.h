// The terms of small models, one model per lane, which are stored and used for
// all times of each model.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_KEPT_TERMS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_KEPT_TERMS_H_

#include <cstdint>

#include "native/kernel/matrix/tiles.h"
#include "native/kernel/methods/small_models/small_mixer.h"
#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_terms.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// Computes the terms on demand and stores them.
template <int kPhases>
class KeptTerms {
 public:
  explicit KeptTerms(const SmallModels<kPhases>& models) : terms_(models) {}

  bool Allocate(Workspace* workspace) {
    rows_ = AllocateRoom<Row>(workspace, kMostSteps);
    masses_ = AllocateRoom<PerLane>(workspace, kMostSteps / kStepsPerTest);
    return rows_ != nullptr && masses_ != nullptr;
  }

  // Mixes up to eight times of one model with Poisson weights; every number has
  // the same bits as in MixAsMade.
  void Mix(int model, SmallMixer* to) {
    if (to->has_others()) {
      Mix<true>(model, to);
    } else {
      Mix<false>(model, to);
    }
  }

 private:
  static constexpr int64_t kMostSteps = SmallTimes::MostStepsOf(kLargestSmallX);

  using PerLane = double[kModels];
  struct Row {
    PerLane absorbed;
    PerLane mass;
    PerLane cumulative;
  };

  template <bool kHasOthers>
  void Mix(int model, SmallMixer* to) {
    SmallMixer mixer = *to;
    int64_t k = 0;
    while (mixer.IsOpen() && k < kMostSteps) {
      if (k == num_made_) Extend();
      mixer.Begin(k);
      for (int64_t j = 0; j < kStepsPerTest; ++j, ++k) {
        SmallTerm term;
        term.absorbed = PerModel(rows_[k].absorbed[model]);
        if constexpr (kHasOthers) {
          term.mass = PerModel(rows_[k].mass[model]);
          term.cumulative = PerModel(rows_[k].cumulative[model]);
        }
        mixer.Add<kHasOthers>(k, term);
      }
      mixer.Close(k, PerModel(masses_[k / kStepsPerTest - 1][model]), false);
    }
    *to = mixer;
  }

  [[gnu::noinline]] void Extend() {
    SmallTerms<kPhases> terms = terms_;
    for (int64_t j = 0; j < kStepsPerTest; ++j) {
      const SmallTerm term = terms.template Next<true>();
      Row& row = rows_[num_made_++];
      term.absorbed.Store(row.absorbed);
      term.mass.Store(row.mass);
      term.cumulative.Store(row.cumulative);
    }
    terms.Mass().Store(masses_[num_made_ / kStepsPerTest - 1]);
    terms_ = terms;
  }

  SmallTerms<kPhases> terms_;
  Row* rows_ = nullptr;
  PerLane* masses_ = nullptr;  // after each run of steps
  int64_t num_made_ = 0;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_KEPT_TERMS_H_
