// The terms of small models, one model per lane, which are stored and used for
// all times of each model.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_KEPT_TERMS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_KEPT_TERMS_H_

#include <cstdint>

#include "native/kernel/matrix/tiles.h"
#include "native/kernel/methods/small_models/small_decay.h"
#include "native/kernel/methods/small_models/small_mixer.h"
#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_scales.h"
#include "native/kernel/methods/small_models/small_terms.h"
#include "native/kernel/methods/small_models/small_walk.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// Computes the terms on demand and stores them.
template <int kPhases>
class KeptTerms {
 public:
  explicit KeptTerms(const SmallModels<kPhases>& models)
      : models_(models), terms_(models) {}

  bool Allocate(Workspace* workspace) {
    rows_ = AllocateRoom<Row>(workspace, kMostSmallSteps<kPhases>);
    ends_ =
        AllocateRoom<End>(workspace, kMostSmallSteps<kPhases> / kStepsPerTest);
    return rows_ != nullptr && ends_ != nullptr;
  }

  // Returns the decay of a model, without the estimates for derivatives.
  SmallDecay DecayOf(int model) {
    if (!has_decay_) decay_ = Decay(models_);
    has_decay_ = true;
    SmallDecay decay;
    decay.log2 = PerModel(decay_.log2[model]);
    decay.early = PerModel(decay_.early[model]);
    if (decay_.is_short[model]) decay.is_short = ~NoModels();
    return decay;
  }

  // Mixes up to eight times of one model with Poisson weights; every number has
  // the same bits as in MixAsMade.
  void Mix(int model, const SmallDecay& decay, SmallMixer* to) {
    if (to->has_long()) {
      to->StartScales(decay, kLargestDecayedX<kPhases>, false);
      Mix<true, true>(model, to);
    } else if (to->has_others()) {
      Mix<true, false>(model, to);
    } else {
      Mix<false, false>(model, to);
    }
  }

 private:
  using PerLane = double[kModels];
  struct Row {
    PerLane absorbed;
    PerLane mass;
    PerLane plain;
    PerLane cumulative;
  };
  // The mass after each run of steps, and the power of two by which the state
  // was divided then.
  struct End {
    PerLane mass;
    PerLane power;
  };

  template <bool kHasOthers, bool kHasLong>
  void Mix(int model, SmallMixer* to) {
    SmallMixer mixer = *to;
    int64_t k = 0;
    while (mixer.IsOpen() && k < MostSteps<kPhases>(kHasLong)) {
      if (k == num_made_) Extend();
      for (int64_t j = 0; j < kStepsPerTest; ++j, ++k) {
        SmallTerm term;
        term.absorbed = PerModel(rows_[k].absorbed[model]);
        if constexpr (kHasOthers) {
          term.mass = PerModel(rows_[k].mass[model]);
          term.plain = PerModel(rows_[k].plain[model]);
          term.cumulative = PerModel(rows_[k].cumulative[model]);
        }
        mixer.Add<kHasOthers>(k, term);
      }
      const End& end = ends_[k / kStepsPerTest - 1];
      const PerModel mass(end.mass[model]);
      mixer.Close<kHasLong>(k, mass, false);
      if constexpr (kHasLong) {
        mixer.Rescale(k, mixer.AreScaled(mass), end.power[model]);
      } else if (end.power[model] != 1.0) {
        mixer.ScaleWeights(end.power[model]);
      }
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
      term.plain.Store(row.plain);
      term.cumulative.Store(row.cumulative);
    }
    const PerModel mass = terms.Mass();
    End& end = ends_[num_made_ / kStepsPerTest - 1];
    mass.Store(end.mass);
    terms.Rescale(mass, PerModel(0x1p-1022) <= mass).power.Store(end.power);
    terms_ = terms;
  }

  const SmallModels<kPhases>& models_;
  SmallTerms<kPhases> terms_;
  Row* rows_ = nullptr;
  End* ends_ = nullptr;
  int64_t num_made_ = 0;
  SmallDecay decay_;
  bool has_decay_ = false;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_KEPT_TERMS_H_
