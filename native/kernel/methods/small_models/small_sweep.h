// Derivatives of small models with one time each, several at a time in SIMD
// lanes.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_SWEEP_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_SWEEP_H_

#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/methods/small_models/small_adjoint.h"
#include "native/kernel/methods/small_models/small_bars.h"
#include "native/kernel/methods/small_models/small_decay.h"
#include "native/kernel/methods/small_models/small_mixer.h"
#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_tangents.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/methods/small_models/small_walk.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

inline bool HasAnyOutput(const SweepOutput& out) {
  return out.initial_probs != nullptr || out.subgenerator != nullptr ||
         out.exit_rates != nullptr || out.prob_zero != nullptr ||
         out.times != nullptr;
}

// The adjoint sweep of models with one time each.
template <int kPhases>
class SmallSweep {
 public:
  // Reads the models. Denormals must not be flushed meanwhile.
  SmallSweep(const SmallLane* lanes, int count)
      : models_{SmallInputs(lanes, count)},
        times_(lanes, count, models_.q.power, models_.is_ordinary),
        mixer_(times_, Bounds(), kUsualMargin) {}

  // Allocates memory and prepares for long times. Returns false if memory does
  // not suffice.
  bool Prepare(Workspace* workspace) {
    if (Any(PerModel(kLeastDecayedX) <= times_.x)) decay_ = Decay(models_);
    if (times_.has_long()) {
      times_.TakeComplements(decay_.AreMostlyAbsorbed(times_.x));
    }
    return kept_.Allocate(MostSteps<kPhases>(times_.has_long()), workspace);
  }

  void Run(double margin) {
    mixer_ = SmallMixer(times_, Bounds(), margin);
    const int64_t num_steps = MixAsMade(models_, decay_, &mixer_, kept_);
    const SweepInput& in = *times_.lanes[0].in;
    SmallAdjoint<kPhases>(models_, times_, mixer_.Tail(), num_steps, kept_)
        .Run(in.has_exit_rates || in.has_edges(), &sums_);
  }

  SmallSeeds Seeds(const PerModel& cotangent) const {
    return SmallSeeds(times_, cotangent, mixer_, models_.q);
  }
  // Returns the lanes that have derivatives.
  ModelMask AreOrdinary(const SmallSeeds& seeds) const {
    return mixer_.AreValues() & seeds.AreOrdinary();
  }
  ModelMask HaveSmallMargins() const { return mixer_.HaveSmallMargins(); }
  const SmallTimes& times() const { return times_; }
  const PowerAbove& q() const { return models_.q; }
  const SmallSums<kPhases>& sums() const { return sums_; }

 private:
  SmallBounds Bounds() const {
    return {models_.max_exit, models_.total, models_.lack};
  }

  const SmallModels<kPhases> models_;
  SmallTimes times_;
  SmallDecay decay_;
  SmallMixer mixer_;
  SmallKept<kPhases> kept_;
  SmallSums<kPhases> sums_;
};

// Computes the cotangents of small models. At first `rest` has all requested
// outputs; those that were written are set to nullptr.
template <int kPhases>
void SweepSmall(const SweepInput* inputs, int count, Workspace* workspace,
                SweepOutput* rest) {
  SmallLane lanes[kModels];
  for (int l = 0; l < count; ++l) lanes[l] = {&inputs[l], OnlyTime(inputs[l])};
  SmallSweep<kPhases> sweep(lanes, count);
  const FloatEnvironment environment(Denormals::kFlush);
  if (!sweep.Prepare(workspace)) return;
  const PerModel cotangent = sweep.times().Cotangent();
  ModelMask are_ordinary = ~NoModels();
  for (const double margin : {kUsualMargin, kSmallMargin}) {
    sweep.Run(margin);
    const SmallSeeds seeds = sweep.Seeds(cotangent);
    are_ordinary = are_ordinary & sweep.AreOrdinary(seeds);
    const SmallBars<kPhases> bars(sweep.times(), seeds, sweep.q(),
                                  sweep.sums());
    const ModelMask are_last = sweep.HaveSmallMargins();
    bool has_rest = false;
    for (int l = 0; l < count; ++l) {
      // Models with scaled cotangents are left to the usual sweep.
      if (!are_ordinary[l] || inputs[l].exponent != 0) continue;
      bars.Store(l, SweepOutput(rest[l]), &rest[l]);
      has_rest = has_rest || (HasAnyOutput(rest[l]) && !are_last[l]);
    }
    if (!has_rest) return;
  }
}

// Computes the derivatives of small models along their tangents, and writes
// those that are accurate.
template <int kPhases>
void DifferentiateSmall(const SweepInput* inputs, const SweepOutput* outputs,
                        int count, Workspace* workspace) {
  SmallLane lanes[kModels];
  for (int l = 0; l < count; ++l) lanes[l] = {&inputs[l], OnlyTime(inputs[l])};
  SmallSweep<kPhases> sweep(lanes, count);
  const SmallTangents<kPhases> tangents(sweep.times(), sweep.q());
  const FloatEnvironment environment(Denormals::kFlush);
  if (!sweep.Prepare(workspace)) return;
  ModelMask are_left = ~NoModels();
  for (const double margin : {kUsualMargin, kSmallMargin}) {
    sweep.Run(margin);
    const SmallSeeds seeds = sweep.Seeds(PerModel(1.0));
    are_left = are_left & sweep.AreOrdinary(seeds);
    ModelMask are_accurate;
    const PerModel results =
        tangents.Derivatives(seeds, sweep.sums(), &are_accurate);
    for (int l = 0; l < count; ++l) {
      if (!are_left[l] || !are_accurate[l] || inputs[l].exponent != 0) continue;
      for (int64_t i = 0; i < inputs[l].num_times; ++i) {
        outputs[l].values[i] = i == lanes[l].place ? results[l] : 0.0;
        outputs[l].status[i] = kOk;
      }
    }
    are_left = are_left & ~are_accurate;
    if (!Any(are_left & ~sweep.HaveSmallMargins())) return;
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_SWEEP_H_
