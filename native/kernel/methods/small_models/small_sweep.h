// Derivatives of small models with one time each, several at a time in SIMD
// lanes.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_SWEEP_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_SWEEP_H_

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
#include "native/kernel/model/rates.h"
#include "native/kernel/numbers/compensated_sum.h"
#include "native/kernel/numbers/dual.h"
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

// The results of an adjoint sweep over small models with one time each, from
// which cotangents are written.
template <int kPhases>
struct SmallSwept {
  const SmallTimes& times;
  const PowerAbove& q;
  const SmallOutputCotangents& seeds;
  const SmallSums<kPhases>& sums;
  const ModelMask& are_ordinary;  // the lanes that have derivatives
};

// Sweeps small models, and calls take(swept); sweeps them again with a smaller
// truncation error if it returns true, as something is left.
template <int kPhases, class Take>
void SweepSmall(const SweepInput* inputs, int count, Workspace* workspace,
                const Take& take) {
  SmallLane lanes[kModels];
  for (int l = 0; l < count; ++l) lanes[l] = {&inputs[l], OnlyTime(inputs[l])};
  const SmallModels<kPhases> models{SmallInputs(lanes, count)};
  const SmallTimes times(lanes, count, models.q.power, models.is_ordinary);
  const FloatEnvironment environment(Denormals::kFlush);
  const int64_t most_steps = times.MostSteps();
  PerModel* kept =
      AllocateRoom<PerModel>(workspace, most_steps * (kPhases + 1));
  if (kept == nullptr) return;
  // Models with scaled cotangents are left to the usual sweep.
  ModelMask are_ordinary =
      PerModel(0.0) < SideBySide([&](int l) {
        return l < count && inputs[l].exponent == 0 ? 1.0 : 0.0;
      });
  for (const double margin : {kUsualMargin, kSmallMargin}) {
    SmallMixer mixer(times, {models.max_exit, models.total}, margin);
    const int64_t num_steps = MixAsMade(models, most_steps, &mixer, kept);
    SmallSums<kPhases> sums;
    SmallAdjoint<kPhases>(models, times, mixer.Tail(), num_steps, kept)
        .Run(inputs[0].has_exit_rates || inputs[0].has_edges(), &sums);
    const SmallOutputCotangents seeds(times, mixer, models.q);
    are_ordinary = are_ordinary & mixer.AreValues() & seeds.AreOrdinary();
    if (!take(
            SmallSwept<kPhases>{times, models.q, seeds, sums, are_ordinary})) {
      return;
    }
  }
}

// Computes the cotangents of small models. At first `rest` has all requested
// outputs; those that were written are set to nullptr.
template <int kPhases>
void DifferentiateSmallBack(const SweepInput* inputs, int count,
                            Workspace* workspace, SweepOutput* rest) {
  SweepSmall<kPhases>(inputs, count, workspace,
                      [&](const SmallSwept<kPhases>& swept) {
                        const SmallCotangents<kPhases> bars(
                            swept.times, swept.seeds, swept.q, swept.sums);
                        bool has_rest = false;
                        for (int l = 0; l < count; ++l) {
                          if (!swept.are_ordinary[l]) continue;
                          bars.Store(l, SweepOutput(rest[l]), &rest[l]);
                          has_rest = has_rest || HasAnyOutput(rest[l]);
                        }
                        return has_rest;
                      });
}

// The derivative J_1 of one small model: the sum of the cotangents of starts,
// exits and P times their tangents. So a derivative costs no more than a
// gradient. Tangents are summed by rows first, so that what cancels there
// cancels before it is rounded.
template <int kPhases>
class SmallDerivative {
 public:
  // Denormals must not be flushed meanwhile.
  void Read(const SweepInput& in, Workspace* workspace) {
    in_ = &in;
    is_read_ =
        RatesReader<Dual<double>>(in, workspace, true, &rates_).Read() == kOk;
  }

  // Computes the derivative of lane l at the time `place`; returns whether it
  // is accurate. Errors are relative to the sum of the sizes of the terms.
  bool Compute(int l, int64_t place, const SmallSwept<kPhases>& swept,
               double* result) const {
    if (!is_read_) return false;
    const SmallSums<kPhases>& sums = swept.sums;
    const double inverse = swept.q.inverse[l];
    Sum sum;
    CompensatedSum<double> starts;
    for (int64_t i = 0; i < in_->num_phases; ++i) {
      const double start = in_->initial_probs.tangents[0][i];
      starts.Add(start);
      sum.Add(start, sums.starts[i][l]);
      sum.Add(inverse * rates_.exits[i].tangent, sums.exits[i][l]);
      sum.Add(-inverse * rates_.leaving[i].tangent, sums.products[i][i][l]);
    }
    const EntryList& entries = rates_.entries;
    for (int64_t e = 0; e < entries.count; ++e) {
      sum.Add(inverse * rates_.values[e].tangent,
              sums.products[entries.rows[e]][entries.columns[e]][l]);
    }
    // A cotangent may lack what was left out of it or underflowed.
    const double least = sums.tail[l] + 0x1p-44 * kLeastOrdinary;
    if (!(sum.tangents * least <= 0x1p-44 * sum.size)) return false;
    const double atom =
        in_->has_prob_zero ? in_->prob_zero.tangents[0][0] : -starts.Result();
    const double time = in_->times.tangents[0][place];
    *result = swept.seeds.seed()[l] * sum.value + atom * swept.seeds.atom()[l] +
              time * swept.seeds.time()[l];
    return sum.is_ordinary && IsOrdinary(atom) && IsOrdinary(time);
  }

 private:
  // Returns whether products with the tangent neither underflow nor overflow.
  static bool IsOrdinary(double tangent) {
    const double size = std::fabs(tangent);
    return size == 0.0 || (size >= 0x1p-200 && size <= 0x1p200);
  }

  // A sum of products of tangents and cotangents, and the sizes of its terms.
  struct Sum {
    double value = 0.0;
    double size = 0.0;
    double tangents = 0.0;
    bool is_ordinary = true;

    void Add(double tangent, double cotangent) {
      value += tangent * cotangent;
      size += std::fabs(tangent) * cotangent;
      tangents += std::fabs(tangent);
      is_ordinary = is_ordinary && IsOrdinary(tangent);
    }
  };

  const SweepInput* in_ = nullptr;
  Rates<Dual<double>> rates_;
  bool is_read_ = false;
};

// Computes the derivatives of small models along their tangents, and writes
// those that are accurate.
template <int kPhases>
void DifferentiateSmall(const SweepInput* inputs, const SweepOutput* outputs,
                        int count, Workspace* workspace) {
  SmallDerivative<kPhases> derivatives[kModels];
  bool is_done[kModels] = {};
  for (int l = 0; l < count; ++l) derivatives[l].Read(inputs[l], workspace);
  SweepSmall<kPhases>(
      inputs, count, workspace, [&](const SmallSwept<kPhases>& swept) {
        bool has_rest = false;
        for (int l = 0; l < count; ++l) {
          const int64_t place = swept.times.lanes[l].place;
          double result;
          if (is_done[l] || !swept.are_ordinary[l]) continue;
          is_done[l] = derivatives[l].Compute(l, place, swept, &result);
          has_rest = has_rest || !is_done[l];
          for (int64_t i = 0; is_done[l] && i < inputs[l].num_times; ++i) {
            outputs[l].values[i] = i == place ? result : 0.0;
            outputs[l].status[i] = kOk;
          }
        }
        return has_rest;
      });
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_SWEEP_H_
