// Derivatives in several directions at the times of one model. The power
// sequence and its mixtures are computed for all directions at once. Sweeps of
// one direction each evaluate the remaining times, including those where
// directions might have to be treated differently. Results have the same bits
// in either case.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_DIRECTIONS_DIRECTIONS_SWEEP_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_DIRECTIONS_DIRECTIONS_SWEEP_H_

#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/methods/many_directions/directions_mixture.h"
#include "native/kernel/methods/many_times/node_groups.h"
#include "native/kernel/methods/squaring/ladder_choice.h"
#include "native/kernel/model/model.h"
#include "native/kernel/model/rate_scales.h"
#include "native/kernel/numbers/directions.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/forward.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/sequence.h"
#include "native/kernel/values/points.h"

namespace phasic {
namespace PHASIC_ISA {

static_assert(kDirections <= kMaxDirections);

class DirectionsRun {
 public:
  DirectionsRun(const SweepInput* inputs, const SweepOutput* outputs, int count,
                Workspace* workspace)
      : inputs_(inputs),
        outputs_(outputs),
        count_(count),
        workspace_(workspace),
        in_(inputs[0]),
        sequence_(model_, HasBase(in_, Base::kSurvival), false, workspace),
        sets_(&sequence_, 2, workspace) {}

  // Writes those results that equal the results of single directions.
  void Run() {
    if (in_.discrete || !Interleave()) return;
    model_.derivatives = Derivatives::kTangents;
    if (ModelBuilder<Directions>(in_, workspace_, &model_).Build() != kOk ||
        !HasModerateRates(model_.log2_q) || !IsOrdinary() ||
        sequence_.Start() != kOk) {
      return;
    }
    for (int l = 0; l < count_; ++l) Separate(l);
    if (!TakesGroups(in_)) {
      for (int64_t i = 0; i < in_.num_times; ++i) Evaluate(i);
      return;
    }
    // Groups of many times are faster one direction at a time. Above
    // kLeastLadderX the last time that is in a group depends on the power
    // sequence of a single direction.
    NodeGroups<Directions>(in_, &sequence_, false, workspace_)
        .ForEach(
            [&](int64_t i) {
              return in_.times.value[i] * model_.q < kLeastLadderX;
            },
            [&](int64_t i) { Evaluate(i); },
            [](const NodeGroup&) { return true; });
  }

 private:
  using Single = Dual<double>;

  // Stores the tangents of each number in all directions side by side. Returns
  // false if memory does not suffice.
  bool Interleave() {
    const int64_t p = in_.num_phases;
    const int64_t num_rates = !in_.has_edges() ? p * p
                              : in_.edges.coefficients
                                  ? in_.edges.num_parameters
                                  : in_.edges.count;
    return Interleave(&SweepInput::initial_probs, p) &&
           Interleave(&SweepInput::subgenerator, num_rates) &&
           Interleave(&SweepInput::exit_rates, in_.has_exit_rates ? p : 0) &&
           Interleave(&SweepInput::prob_zero, in_.has_prob_zero ? 1 : 0);
  }
  bool Interleave(OperandView SweepInput::* operand, int64_t size) {
    double* tangents =
        AllocateZeros<double>(workspace_, size * int64_t{kDirections});
    if (tangents == nullptr) return false;
    for (int l = 0; l < count_; ++l) {
      const double* source = (inputs_[l].*operand).tangents[0];
      for (int64_t i = 0; i < size; ++i) {
        tangents[i * kDirections + l] = source[i];
      }
    }
    (in_.*operand).tangents[0] = tangents;
    return true;
  }

  // Returns whether tangents are zero wherever values are zero, so that all
  // directions have the same entries and reach the same phases.
  bool IsOrdinary() const {
    return HasValues(model_.initial, model_.size) &&
           HasValues(model_.exits, model_.size) &&
           HasValues(model_.forward.weights,
                     model_.forward.pattern.num_cells());
  }
  static bool HasValues(const Directions* x, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if (PrimalIsZero(x[i]) && !IsZero(x[i])) return false;
    }
    return true;
  }

  // Copies to models_[l] what the truncation windows of direction l depend on.
  void Separate(int l) {
    Model<Single>& model = models_[l];
    const auto of = [l](const Directions& x) {
      return Single(x.value, x.tangents[l]);
    };
    model.size = model_.size;
    model.q = model_.q;
    model.prob_zero = of(model_.prob_zero);
    model.initial_size = of(model_.initial_size);
    model.exit_size = of(model_.exit_size);
    model.growth[0] = TangentSize(inputs_[l], 0) / model_.q;
  }

  void Evaluate(int64_t i) {
    const Kind kind = in_.KindOf(i);
    if (CheckKind(in_, i) != kOk || !HasSeries(kind)) return;
    const double time = in_.times.value[i];
    const Base base = BaseOf(kind);
    if (time != time || IsSubnormal(time) ||
        Classify(model_, base, time) != TimeCase::kRegular) {
      return;
    }
    const double x = time * model_.q;
    const double limit = static_cast<double>(sequence_.max_blocks()) * kBlock;
    if (!(x < limit)) return;
    if ((UsesLadder(model_, x, limit) ||
         UsesLadderEarly(model_, x, in_.num_times)) &&
        !SharesSteps(x, in_.num_times, &sequence_)) {
      return;
    }
    int64_t start;
    const Scaled<double> weight = StartWeight(x, &start);
    DirectionsMixer mixer(sets_.Of(base), models_, count_, x, start, weight);
    mixer.Run();
    for (int l = 0; l < count_; ++l) Finish(i, kind, l, mixer.result(l));
  }

  void Finish(int64_t i, Kind kind, int l, const Mixture<Single>& mixture) {
    if (mixture.status != kOk) return;
    Point<Single> point = PointOfKind<Single>(kind);
    PlacePoint(inputs_[l], i, model_.q, &point);
    const TaylorCoefficients<Single> taylor(point.base, point.delta);
    FinishPoint(mixture, taylor, sets_.Of(point.base)->size(), &point);
    const int64_t exponent = inputs_[l].exponent;
    const double result = ResultOf(point.value, point.is_log, exponent);
    if (NeedsMoreRange<Single>(result) ||
        IsTooSmall(models_[l], point, exponent)) {
      return;
    }
    outputs_[l].values[i] = result;
    outputs_[l].status[i] = kOk;
  }

  const SweepInput* const inputs_;
  const SweepOutput* const outputs_;
  const int count_;
  Workspace* const workspace_;
  SweepInput in_;  // input with the tangents of all directions
  Model<Directions> model_;
  Sequence<Directions> sequence_;
  ChannelSets<Directions> sets_;
  Model<Single> models_[kDirections];
};

inline void SweepDirections(const SweepInput* inputs,
                            const SweepOutput* outputs, int64_t count,
                            Workspace* workspace) {
  const FloatEnvironment environment(Denormals::kFlush);
  for (int64_t l = 0; l < count; ++l) StartTimes(inputs[l], outputs[l]);
  DirectionsRun(inputs, outputs, static_cast<int>(count), workspace).Run();
  for (int64_t l = 0; l < count; ++l) {
    if (!HasTimesLeft(inputs[l], outputs[l])) continue;
    workspace->Reset();
    SweepTimes<Dual<double>>(inputs[l], outputs[l], workspace);
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_DIRECTIONS_DIRECTIONS_SWEEP_H_
