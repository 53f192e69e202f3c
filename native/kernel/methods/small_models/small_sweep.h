// Derivatives of small models with one time each, several at a time in SIMD
// lanes.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_SWEEP_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_SWEEP_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/methods/small_models/small_adjoint.h"
#include "native/kernel/methods/small_models/small_cotangents.h"
#include "native/kernel/methods/small_models/small_mixer.h"
#include "native/kernel/methods/small_models/small_models.h"
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

// Computes the cotangents of small models with one time each. At first `rest`
// has all requested outputs; those that were written are set to nullptr.
template <int kPhases>
void SweepSmall(const SweepInput* inputs, int count, Workspace* workspace,
                SweepOutput* rest) {
  SmallLane lanes[kModels];
  for (int l = 0; l < count; ++l) lanes[l] = {&inputs[l], OnlyTime(inputs[l])};
  const SmallModels<kPhases> models{SmallInputs(lanes, count)};
  const SmallTimes times(lanes, count, models.q.power, models.is_ordinary);
  const FloatEnvironment environment(Denormals::kFlush);
  const int64_t most_steps = times.MostSteps();
  PerModel* kept =
      AllocateRoom<PerModel>(workspace, most_steps * (kPhases + 1));
  if (kept == nullptr) return;
  ModelMask are_ordinary = ~NoModels();
  for (const double margin : {kUsualMargin, kSmallMargin}) {
    SmallMixer mixer(times, {models.max_exit, models.total}, margin);
    const int64_t num_steps = MixAsMade(models, most_steps, &mixer, kept);
    SmallSums<kPhases> sums;
    SmallAdjoint<kPhases>(models, times, mixer.Tail(), num_steps, kept)
        .Run(inputs[0].has_exit_rates || inputs[0].has_edges(), &sums);
    const SmallOutputCotangents seeds(times, mixer, models.q);
    are_ordinary = are_ordinary & mixer.AreValues() & seeds.AreOrdinary();
    const SmallCotangents<kPhases> bars(times, seeds, models.q, sums);
    bool has_rest = false;
    for (int l = 0; l < count; ++l) {
      // Models with scaled cotangents are left to the usual sweep.
      if (!are_ordinary[l] || inputs[l].exponent != 0) continue;
      bars.Store(l, SweepOutput(rest[l]), &rest[l]);
      has_rest = has_rest || HasAnyOutput(rest[l]);
    }
    if (!has_rest) return;
  }
}

// The derivative J_1 of one small model: the sum of cotangents times the
// tangents of what they are cotangents of. So a derivative costs no more than a
// gradient.
class SmallDerivative {
 public:
  // Returns where to store the cotangents of the operands that have tangents,
  // and those of the times.
  const SweepOutput& Read(const SweepInput& in) {
    const int64_t p = in.num_phases;
    int64_t num_rates = p * p;
    if (in.has_edges()) {
      const EdgeView& edges = in.edges;
      num_rates =
          edges.coefficients != nullptr ? edges.num_parameters : edges.count;
    }
    out_.times = bars_.times;
    Add(in.initial_probs, p, bars_.initial_probs, &out_.initial_probs);
    Add(in.subgenerator, num_rates, bars_.subgenerator, &out_.subgenerator);
    if (in.has_exit_rates) {
      Add(in.exit_rates, p, bars_.exit_rates, &out_.exit_rates);
    }
    if (in.has_prob_zero) {
      Add(in.prob_zero, 1, bars_.prob_zero, &out_.prob_zero);
    }
    return out_;
  }

  // Computes the derivative at the time with this index; returns false if it
  // may have overflowed, or products that matter underflowed.
  bool Compute(const SweepInput& in, int64_t place, double* result) const {
    Sum sum;
    sum.Add(in.times.tangents[0][place], bars_.times[place]);
    for (int n = 0; n < num_parts_; ++n) {
      for (int64_t i = 0; i < parts_[n].count; ++i) {
        sum.Add(parts_[n].tangents[i], parts_[n].bars[i]);
      }
    }
    *result = sum.value;
    return sum.size <= 0x1p900 && !(sum.has_tiny && sum.size < 0x1p-900);
  }

 private:
  struct Cotangents {
    double initial_probs[kSmallPhases];
    double subgenerator[kSmallEdges];
    double exit_rates[kSmallPhases];
    double prob_zero[1];
    double times[2];
  };
  struct Part {
    const double* tangents;
    const double* bars;
    int64_t count;
  };
  struct Sum {
    double value = 0.0;
    double size = 0.0;
    bool has_tiny = false;

    void Add(double tangent, double bar) {
      const double product = tangent * bar;
      value += product;
      size += std::fabs(product);
      has_tiny = has_tiny || (std::fabs(product) < 0x1p-1000 &&
                              tangent != 0.0 && bar != 0.0);
    }
  };
  static_assert(kSmallParameters <= kSmallEdges);

  void Add(const OperandView& operand, int64_t count, double* bars,
           double** out) {
    const double* tangents = operand.tangents[0];
    const bool is_zero = std::all_of(tangents, tangents + count,
                                     [](double x) { return x == 0.0; });
    if (is_zero) return;
    *out = bars;
    parts_[num_parts_++] = {tangents, bars, count};
  }

  Cotangents bars_;
  SweepOutput out_{};
  Part parts_[4];
  int num_parts_ = 0;
};

// Computes the derivatives of small models along their tangents, and writes
// those that are accurate.
template <int kPhases>
void DifferentiateSmall(const SweepInput* inputs, const SweepOutput* outputs,
                        int count, Workspace* workspace) {
  SmallDerivative derivatives[kModels];
  SweepOutput rest[kModels];
  for (int l = 0; l < count; ++l) rest[l] = derivatives[l].Read(inputs[l]);
  SweepSmall<kPhases>(inputs, count, workspace, rest);
  for (int l = 0; l < count; ++l) {
    const int64_t place = OnlyTime(inputs[l]);
    double result;
    if (HasAnyOutput(rest[l]) || place < 0 ||
        !derivatives[l].Compute(inputs[l], place, &result)) {
      continue;
    }
    for (int64_t i = 0; i < inputs[l].num_times; ++i) {
      outputs[l].values[i] = i == place ? result : 0.0;
      outputs[l].status[i] = kOk;
    }
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_SWEEP_H_
