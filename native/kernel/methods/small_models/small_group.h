// Sweeps over models of few phases, several at a time in SIMD lanes: values at
// any number of times, and derivatives of models with one time. Models with
// numbers near overflow or underflow are left to the usual sweeps.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_GROUP_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_GROUP_H_

#include <cstdint>
#include <type_traits>

#include "native/kernel/api/sweep.h"
#include "native/kernel/matrix/lane_operator.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/methods/small_models/small_adjoint.h"
#include "native/kernel/methods/small_models/small_bars.h"
#include "native/kernel/methods/small_models/small_kept_terms.h"
#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_tangents.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/methods/small_models/small_walk.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/adjoint.h"
#include "native/kernel/sweeps/forward.h"

namespace phasic {
namespace PHASIC_ISA {

// For models with at most this number of times, the terms are recomputed for
// each time.
constexpr int64_t kFewSmallTimes = 3;

static_assert(kModels == kMaxGroup, "a lane for each model of a group");

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
                              const PerModel& results,
                              const SweepOutput* const* outputs) {
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
  SmallTerms<kPhases> terms(models);
  SmallMixer mixer(times, {models.max_exit, models.total});
  if (times.has_others()) {
    MixAsMade<true>(&terms, &mixer, nullptr);
  } else {
    MixAsMade<false>(&terms, &mixer, nullptr);
  }
  const PerModel results = SmallResults(times, mixer.value(), models.total,
                                        models.q.power, models.q.log2);
  StoreSmallResults(times, mixer, results, outputs);
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
  SmallLane lanes[kModels];
  for (int m = 0; m < count; ++m) lanes[m] = {&inputs[m], -1};
  const SmallModels<kPhases> models{SmallInputs(lanes, count)};
  KeptTerms<kPhases> terms(models);
  if (!terms.Allocate(workspace)) return;
  for (int m = 0; m < count; ++m) {
    const auto of_model = [m](const PerModel& x) { return PerModel(x[m]); };
    const ModelMask is_ordinary =
        models.is_ordinary[m] ? ~NoModels() : NoModels();
    const PerModel q = of_model(models.q.power);
    const PerModel total = of_model(models.total);
    const auto evaluate = [&](const SmallLane* of_times,
                              const SweepOutput* const* places, int size) {
      const SmallTimes times(of_times, size, q, is_ordinary);
      const FloatEnvironment environment(Denormals::kFlush);
      SmallMixer mixer(times, {of_model(models.max_exit), total});
      terms.Mix(m, &mixer);
      StoreSmallResults(
          times, mixer,
          SmallResults(times, mixer.value(), total, q, of_model(models.q.log2)),
          places);
    };
    SmallLanes all(evaluate);
    all.Add(inputs[m], outputs[m]);
    all.Flush();
  }
}

// The adjoint sweep of models with one time each.
template <int kPhases>
class SmallSweep {
 public:
  // Reads the models. Denormals must not be flushed meanwhile.
  SmallSweep(const SmallLane* lanes, int count)
      : models_{SmallInputs(lanes, count)},
        times_(lanes, count, models_.q.power, models_.is_ordinary),
        mixer_(times_, {models_.max_exit, models_.total}) {}

  // Returns false if memory does not suffice.
  bool Run(Workspace* workspace) {
    PerModel* kept =
        AllocateRoom<PerModel>(workspace, kMostSmallSteps * (kPhases + 1));
    PerModel* adjoints =
        AllocateRoom<PerModel>(workspace, kMostSmallSteps * kPhases);
    if (kept == nullptr || adjoints == nullptr) return false;
    SmallTerms<kPhases> terms(models_);
    const int64_t num_steps = times_.has_others()
                                  ? MixAsMade<true>(&terms, &mixer_, kept)
                                  : MixAsMade<false>(&terms, &mixer_, kept);
    const SweepInput& in = *times_.lanes[0].in;
    SmallAdjoint<kPhases>(models_, times_, mixer_.tail(), num_steps, kept,
                          adjoints)
        .Run(in.has_exit_rates || in.has_edges(), &sums_);
    return true;
  }

  SmallSeeds Seeds(const PerModel& cotangent) const {
    return SmallSeeds(times_, cotangent, mixer_.value(), mixer_.shifted(),
                      models_.q);
  }
  // Returns the lanes that have derivatives.
  ModelMask AreOrdinary(const SmallSeeds& seeds) const {
    return mixer_.AreValues() & seeds.AreOrdinary();
  }
  const SmallTimes& times() const { return times_; }
  const PowerAbove& q() const { return models_.q; }
  const SmallSums<kPhases>& sums() const { return sums_; }

 private:
  const SmallModels<kPhases> models_;
  const SmallTimes times_;
  SmallMixer mixer_;
  SmallSums<kPhases> sums_;
};

// Computes the cotangents of small models. At first `rest` has all requested
// outputs; those that were written are set to nullptr.
template <int kPhases>
void SweepSmall(const SweepInput* inputs, const SweepOutput* outputs, int count,
                Workspace* workspace, SweepOutput* rest) {
  SmallLane lanes[kModels];
  for (int l = 0; l < count; ++l) lanes[l] = {&inputs[l], OnlyTime(inputs[l])};
  SmallSweep<kPhases> sweep(lanes, count);
  const FloatEnvironment environment(Denormals::kFlush);
  if (!sweep.Run(workspace)) return;
  const SmallSeeds seeds = sweep.Seeds(sweep.times().Cotangent());
  const ModelMask are_ordinary = sweep.AreOrdinary(seeds);
  const SmallBars<kPhases> bars(sweep.times(), seeds, sweep.q(), sweep.sums());
  for (int l = 0; l < count; ++l) {
    if (are_ordinary[l]) bars.Store(l, outputs[l], &rest[l]);
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
  if (!sweep.Run(workspace)) return;
  const SmallSeeds seeds = sweep.Seeds(PerModel(1.0));
  ModelMask are_accurate;
  const PerModel results =
      tangents.Derivatives(seeds, sweep.sums(), &are_accurate);
  are_accurate = are_accurate & sweep.AreOrdinary(seeds);
  for (int l = 0; l < count; ++l) {
    if (!are_accurate[l]) continue;
    for (int64_t i = 0; i < inputs[l].num_times; ++i) {
      outputs[l].values[i] = i == lanes[l].place ? results[l] : 0.0;
      outputs[l].status[i] = kOk;
    }
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
  const FloatEnvironment environment(Denormals::kFlush);
  for (int l = 0; l < count; ++l) {
    if (!HasTimesLeft(inputs[l], all[l])) continue;
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

inline bool HasAnyOutput(const SweepOutput& out) {
  return out.initial_probs != nullptr || out.subgenerator != nullptr ||
         out.exit_rates != nullptr || out.prob_zero != nullptr ||
         out.times != nullptr;
}

inline void AdjointSmall(const SweepInput* inputs, const SweepOutput* outputs,
                         int count, Workspace* workspace) {
  SweepOutput rest[kModels];
  for (int l = 0; l < count; ++l) rest[l] = outputs[l];
  ForEachSmallGroup(inputs, count, [&](int first, int size) {
    WithSmallSize(inputs[0].num_phases, [&](auto phases) {
      SweepSmall<phases>(inputs + first, outputs + first, size, workspace,
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
