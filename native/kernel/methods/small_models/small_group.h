// Sweeps over models of few phases, several at a time in SIMD lanes: values at
// any number of times, and derivatives of models with one time. Models with
// numbers near overflow or underflow are left to the usual sweeps.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_GROUP_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_GROUP_H_

#include <cstdint>
#include <type_traits>

#include "native/kernel/api/sweep.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/methods/small_models/small_kept_terms.h"
#include "native/kernel/methods/small_models/small_mixer.h"
#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_sweep.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/methods/small_models/small_walk.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/adjoint.h"
#include "native/kernel/sweeps/forward.h"

namespace phasic {
namespace PHASIC_ISA {

// For models with at most this number of times, the terms are recomputed for
// each time.
constexpr int64_t kFewSmallTimes = 3;

// Calls function with the number of phases, rounded up to 2, 4, 6 or 8, as a
// constant of a compile-time type.
template <class Function>
void WithSmallSize(int64_t size, const Function& function) {
  if (size <= 2) return function(std::integral_constant<int, 2>());
  if (size <= 4) return function(std::integral_constant<int, 4>());
  if (size <= 6) return function(std::integral_constant<int, 6>());
  function(std::integral_constant<int, kSmallPhases>());
}

// Returns the requested function values or logarithms, given F'.
[[gnu::noinline]] inline PerModel SmallResults(const SmallTimes& times,
                                               const PerModel& value,
                                               const PerModel& total,
                                               const PerModel& q,
                                               const PerModel& log2_q) {
  // Lanes without a result may hold any value, including NaN; they get 1.
  const PerModel normal =
      Select(IsWithin(value, kLeastOrdinary, 4.0), value, PerModel(1.0));
  const PerModel log =
      LogOf(normal, Select(times.is_density, log2_q, PerModel(0.0)));
  const PerModel plain = Select(times.is_density, q, PerModel(1.0)) * value;
  const PerModel result = Select(times.is_log, log, plain);
  // Limits probabilities to at most one, which rounding may exceed.
  const PerModel limit = Select(times.is_log, PerModel(0.0), PerModel(1.0));
  const ModelMask is_above =
      ~times.is_density & (limit < result) & (total <= PerModel(1.0 + 1e-6));
  return Select(is_above, limit, result);
}

// Writes the results of the lanes that have a value, and their status, to the
// outputs of their models.
inline void StoreSmallResults(const SmallTimes& times, const SmallMixer& mixer,
                              const PerModel& q, const PerModel& log2_q,
                              const SweepOutput* const* outputs) {
  const PerModel results =
      SmallResults(times, mixer.value(), mixer.total(), q, log2_q);
  const ModelMask are_values = mixer.AreValues();
  for (int l = 0; l < times.count; ++l) {
    if (!are_values[l]) continue;
    outputs[l]->values[times.lanes[l].place] = results[l];
    outputs[l]->status[times.lanes[l].place] = kOk;
  }
}

// Evaluates `count` times, each with its own terms, and writes the results that
// are far from overflow and underflow.
template <int kPhases>
void EvaluateSmall(const SmallLane* lanes, const SweepOutput* const* outputs,
                   int count) {
  const SmallModels<kPhases> models{SmallInputs(lanes, count)};
  const SmallTimes times(lanes, count, models.q.power, models.is_ordinary);
  const FloatEnvironment environment(Denormals::kFlush);
  SmallMixer mixer(times, {models.max_exit, models.total}, kUsualMargin);
  MixAsMade(models, times.MostSteps(), &mixer, nullptr);
  StoreSmallResults(times, mixer, models.q.power, models.q.log2, outputs);
}

// Collects times until there are eight, and then passes them to `take`.
template <class Take>
class SmallLanes {
 public:
  explicit SmallLanes(const Take& take) : take_(take) {}
  SmallLanes(const SmallLanes&) = delete;
  SmallLanes& operator=(const SmallLanes&) = delete;

  // Adds all times of a model whose function is a series, and writes the value
  // 0 of times of kind kNothing.
  void Add(const SweepInput& in, const SweepOutput& out) {
    for (int64_t i = 0; i < in.num_times; ++i) {
      if (IsNothing(in, i)) {
        out.values[i] = 0.0;
        out.status[i] = kOk;
      } else if (IsOfSeries(in, i)) {
        lanes_[count_] = {&in, i};
        outputs_[count_++] = &out;
        if (count_ == kModels) Flush();
      }
    }
  }
  void Flush() {
    if (count_ > 0) take_(lanes_, outputs_, count_);
    count_ = 0;
  }

 private:
  const Take& take_;
  SmallLane lanes_[kModels];
  const SweepOutput* outputs_[kModels];
  int count_ = 0;
};

// Evaluates models with few times, one time per lane.
template <int kPhases>
void EvaluateFewTimes(const SweepInput* inputs, const SweepOutput* outputs,
                      int count) {
  SmallLanes all(EvaluateSmall<kPhases>);
  for (int m = 0; m < count; ++m) all.Add(inputs[m], outputs[m]);
  all.Flush();
}

// Evaluates models with more times: first computes the terms of all models, one
// model per lane, and then evaluates the times of one model after another.
template <int kPhases>
void EvaluateSharedTerms(const SweepInput* inputs, const SweepOutput* outputs,
                         int count, Workspace* workspace) {
  SmallLane lanes[kModels] = {};
  for (int m = 0; m < count; ++m) lanes[m] = {&inputs[m], -1};
  const SmallModels<kPhases> models{SmallInputs(lanes, count)};
  KeptTerms<kPhases> terms(models);
  if (!terms.Allocate(workspace)) return;
  for (int m = 0; m < count; ++m) {
    const auto of_model = [m](const PerModel& x) { return PerModel(x[m]); };
    const ModelMask is_ordinary =
        models.is_ordinary[m] ? ~NoModels() : NoModels();
    const PerModel q = of_model(models.q.power);
    const SmallBounds bounds = {of_model(models.max_exit),
                                of_model(models.total)};
    const auto evaluate = [&](const SmallLane* of_times,
                              const SweepOutput* const* places, int size) {
      const SmallTimes times(of_times, size, q, is_ordinary);
      const FloatEnvironment environment(Denormals::kFlush);
      SmallMixer mixer(times, bounds, kUsualMargin);
      terms.Mix(m, &mixer);
      StoreSmallResults(times, mixer, q, of_model(models.q.log2), places);
    };
    SmallLanes all(evaluate);
    all.Add(inputs[m], outputs[m]);
    all.Flush();
  }
}

// Calls take(first, count) for each group of models that can be evaluated in
// lanes together.
template <class Take>
void ForEachSmallGroup(const SweepInput* inputs, int count, const Take& take) {
  bool have_same_edges = true;
  for (int l = 0; l < count; ++l) {
    have_same_edges =
        have_same_edges && inputs[l].edges.sources == inputs[0].edges.sources;
  }
  if (have_same_edges) return take(0, count);
  for (int l = 0; l < count; ++l) take(l, 1);
}

// Evaluates models by take(inputs, outputs, count, phases), which has outputs
// with a status, and evaluates the times that it left by the usual sweep over
// T.
template <class T, class Take>
void TakeSmall(const SweepInput* inputs, const SweepOutput* outputs, int count,
               Workspace* workspace, const Take& take) {
  int32_t codes[kModels][kManyTimes];
  SweepOutput all[kModels];
  for (int l = 0; l < count; ++l) {
    all[l] = outputs[l];
    if (all[l].status == nullptr) all[l].status = codes[l];
    StartTimes(inputs[l], all[l]);
  }
  ForEachSmallGroup(inputs, count, [&](int first, int size) {
    WithSmallSize(inputs[0].num_phases, [&](auto phases) {
      take(inputs + first, all + first, size, phases);
    });
  });
  for (int l = 0; l < count; ++l) {
    if (!HasTimesLeft(inputs[l], all[l])) continue;
    const FloatEnvironment environment(Denormals::kFlush);
    workspace->Reset();
    SweepTimes<T>(inputs[l], all[l], workspace);
  }
}

inline void ForwardSmall(const SweepInput* inputs, const SweepOutput* outputs,
                         int count, Workspace* workspace) {
  TakeSmall<double>(
      inputs, outputs, count, workspace,
      [&](const SweepInput* in, const SweepOutput* out, int size, auto phases) {
        if (in->num_times <= kFewSmallTimes) {
          EvaluateFewTimes<phases>(in, out, size);
        } else {
          EvaluateSharedTerms<phases>(in, out, size, workspace);
        }
      });
}

inline void TangentSmall(const SweepInput* inputs, const SweepOutput* outputs,
                         int count, Workspace* workspace) {
  TakeSmall<Dual<double>>(
      inputs, outputs, count, workspace,
      [&](const SweepInput* in, const SweepOutput* out, int size, auto phases) {
        DifferentiateSmall<phases>(in, out, size, workspace);
      });
}

inline void AdjointSmall(const SweepInput* inputs, const SweepOutput* outputs,
                         int count, Workspace* workspace) {
  SweepOutput rest[kModels];
  for (int l = 0; l < count; ++l) rest[l] = outputs[l];
  ForEachSmallGroup(inputs, count, [&](int first, int size) {
    WithSmallSize(inputs[0].num_phases, [&](auto phases) {
      DifferentiateSmallBack<phases>(inputs + first, size, workspace,
                                     rest + first);
    });
  });
  for (int l = 0; l < count; ++l) {
    if (!HasAnyOutput(rest[l])) continue;
    workspace->Reset();
    AdjointSweep<double>(inputs[l], rest[l], workspace);
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_GROUP_H_
