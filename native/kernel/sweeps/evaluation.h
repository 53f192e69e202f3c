// What is computed of one model for all its times: the model itself, the power
// sequence and the squared powers, as far as times needed them.

#ifndef PHASIC_NATIVE_KERNEL_SWEEPS_EVALUATION_H_
#define PHASIC_NATIVE_KERNEL_SWEEPS_EVALUATION_H_

#include <cstdint>
#include <type_traits>

#include "native/kernel/api/sweep.h"
#include "native/kernel/methods/squaring/ladder.h"
#include "native/kernel/methods/squaring/ladder_choice.h"
#include "native/kernel/methods/squaring/ladder_path.h"
#include "native/kernel/methods/squaring/ladder_paths.h"
#include "native/kernel/model/model.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/sequence.h"
#include "native/kernel/values/interval_weights.h"

namespace phasic {
namespace PHASIC_ISA {

// The least number of phases of a model that may be kept.
constexpr int64_t kLeastKeptPhases = 128;

template <class T>
struct Evaluation {
  Evaluation(const SweepInput& in, Workspace* workspace)
      : Evaluation(in, nullptr, Lane{}, workspace) {}
  // Takes a model that was built before. `lane` may provide terms that were
  // computed together with those of other models; see Sequence::TakeFrom.
  Evaluation(const SweepInput& in, const Model<T>& built, const Lane& lane,
             Workspace* workspace)
      : Evaluation(in, &built, lane, workspace) {}
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  // Returns whether b is computed: in models that may be kept for later calls
  // it always is. See kept_model.h.
  static bool WantsB(const SweepInput& in) {
    return HasBase(in, Base::kSurvival) || in.num_phases >= kLeastKeptPhases;
  }

  // Makes steps from now on for all times for which values do.
  void TakeSteps() { own.derivatives = Derivatives::kAsValues; }

  // Returns the estimated cost of the steps and the squared powers that were
  // computed, in half nanoseconds.
  double Cost() const {
    const auto steps = static_cast<double>(sequence.num_stepped() * kBlock);
    return steps * StepCost(model) +
           static_cast<double>(ladder.num_rungs()) * ProductCost(model);
  }

  Model<T> own;  // unless it was built before
  const Model<T>& model;
  StatusCode status;  // of building the model
  Sequence<T> sequence;
  ChannelSets<T> sets;
  IntervalWeights interval_weights;
  Ladder<T> ladder;
  LadderPath<T> ladder_path;
  LadderPaths<T> ladder_paths;

 private:
  StatusCode Build(const SweepInput& in, Workspace* workspace) {
    if (std::is_same<T, Dual<double>>::value) {
      own.derivatives = Derivatives::kTangents;
    }
    ModelBuilder<T> builder(in, workspace, &own);
    // On extended doubles zeros cost as much as other numbers.
    if (HasOwnExponent<T>::kValue) builder.SkipZeros();
    return builder.Build();
  }

  Evaluation(const SweepInput& in, const Model<T>* built, const Lane& lane,
             Workspace* workspace)
      : model(built != nullptr ? *built : own),
        status(built != nullptr ? kOk : Build(in, workspace)),
        sequence(model, WantsB(in), false, workspace),
        sets(&sequence, Depth<T>::kValue + 1, workspace),
        interval_weights(workspace),
        ladder(model, workspace),
        ladder_path(&ladder, Depth<T>::kValue + 1, workspace),
        ladder_paths(&ladder, workspace) {
    sequence.TakeFrom(lane);
    sequence.AllowClosure();
    if (status == kOk) status = sequence.Start();
  }
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SWEEPS_EVALUATION_H_
