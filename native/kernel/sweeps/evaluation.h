// The evaluation of one model: the model, its power sequence and its squared
// powers. Sequence and powers extend only as far as the times evaluated so far
// require.

#ifndef PHASIC_NATIVE_KERNEL_SWEEPS_EVALUATION_H_
#define PHASIC_NATIVE_KERNEL_SWEEPS_EVALUATION_H_

#include <cstdint>
#include <type_traits>

#include "native/kernel/api/sweep.h"
#include "native/kernel/choice/choice.h"
#include "native/kernel/model/model.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/sequence.h"
#include "native/kernel/values/interval_weights.h"
#include "native/kernel/values/methods.h"

namespace phasic {
namespace PHASIC_ISA {

// Models with at least this number of phases may be kept for later calls; see
// kept_model.h.
constexpr int64_t kLeastKeptPhases = 128;

inline bool MayBeKept(const SweepInput& in) {
  return in.repeats || in.num_phases >= kLeastKeptPhases;
}

template <class T>
struct Evaluation {
  Evaluation(const SweepInput& in, Workspace* workspace)
      : Evaluation(in, nullptr, SharedSequence{}, workspace) {}
  // Evaluates a model that is already built. `shared` may provide terms that
  // were computed together with the terms of other models; see
  // Sequence::TakeFrom.
  Evaluation(const SweepInput& in, const Model<T>& built,
             const SharedSequence& shared, Workspace* workspace)
      : Evaluation(in, &built, shared, workspace) {}
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  // Returns whether the terms b_k of survival functions are computed. For
  // models that may be kept they always are, since later calls may need them.
  static bool WantsB(const SweepInput& in) {
    return HasBase(in, Base::kSurvival) || MayBeKept(in);
  }

  // Returns the phases that squared powers need for the values that are
  // computed: for models that may be kept, of all functions.
  static Phases PhasesOf(const SweepInput& in) {
    bool are_densities = !MayBeKept(in);
    for (int64_t i = 0; are_densities && i < in.num_times; ++i) {
      const Kind kind = in.KindOf(i);
      are_densities = kind == Kind::kNothing || BaseOf(kind) == Base::kDensity;
    }
    return are_densities ? Phases::kPassed : Phases::kReached;
  }

  // From now on, uses steps instead of squaring at all times at which values
  // are computed by steps.
  void TakeSteps() { own.derivatives = Derivatives::kAsValues; }

  // Returns the estimated cost of what was computed, in half nanoseconds.
  double Spent() const {
    return CostSpent(model, sequence.num_stepped() * kBlock,
                     squared_powers.num_squared());
  }

  Model<T> own;  // unused if the model was built before
  const Model<T>& model;
  StatusCode status;  // of building the model
  Sequence<T> sequence;
  ChannelSets<T> sets;
  IntervalWeights interval_weights;
  SquaredPowers<T> squared_powers;
  SquaringPath<T> squaring_path;
  SquaringPaths<T> squaring_paths;

 private:
  StatusCode Build(const SweepInput& in, Workspace* workspace) {
    if (std::is_same<T, Dual<double>>::value) {
      own.derivatives = Derivatives::kTangents;
    }
    ModelBuilder<T> builder(in, workspace, &own);
    // With extended doubles, zero entries cost as much as others, so they are
    // skipped.
    if (HasOwnExponent<T>::kValue) builder.SkipZeros();
    return builder.Build();
  }

  Evaluation(const SweepInput& in, const Model<T>* built,
             const SharedSequence& shared, Workspace* workspace)
      : model(built != nullptr ? *built : own),
        status(built != nullptr ? kOk : Build(in, workspace)),
        sequence(model, WantsB(in), false, workspace),
        sets(&sequence, Depth<T>::kValue + 1, workspace),
        interval_weights(workspace),
        squared_powers(model, PhasesOf(in), workspace),
        squaring_path(&squared_powers, Depth<T>::kValue + 1, workspace),
        squaring_paths(&squared_powers, workspace) {
    sequence.TakeFrom(shared);
    sequence.AllowClosure();
    if (status == kOk) status = sequence.Start();
  }
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SWEEPS_EVALUATION_H_
