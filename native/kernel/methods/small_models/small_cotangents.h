// Computes the cotangents of the operands from the sums of SmallAdjoint; see
// cotangent_writer.h.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_COTANGENTS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_COTANGENTS_H_

#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/methods/small_models/small_adjoint.h"
#include "native/kernel/methods/small_models/small_mixer.h"
#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// Computes the cotangents of F', of the time and of the atom, which need no
// adjoint sweep.
class SmallOutputCotangents {
 public:
  [[gnu::noinline]] SmallOutputCotangents(const SmallTimes& times,
                                          const SmallMixer& mixer,
                                          const PowerAbove& q)
      : is_density_(times.is_density),
        cotangent_(times.Cotangent()),
        shifted_(mixer.shifted()) {
    const PerModel& value = mixer.value();
    seed_ = cotangent_ * Select(times.is_density, q.power, PerModel(1.0));
    seed_ = Select(times.is_log, Quotient(cotangent_, value), seed_);
    PerModel slope =
        Select(times.is_survival, PerModel(0.0) - shifted_, shifted_);
    slope = Select(times.is_density, shifted_ - value, slope);
    time_ = (seed_ * slope) * q.power;
    atom_ = Select(times.is_cdf, seed_, PerModel(0.0));
  }

  // Returns the lanes in which no number is near overflow or underflow.
  ModelMask AreOrdinary() const {
    const PerModel size = Size(cotangent_);
    return Either(size <= PerModel(0.0),
                  IsWithin(size, kLeastSmallScale, kLargestSmallScale)) &
           Either(is_density_, PerModel(kLeastOrdinary) <= shifted_);
  }

  const PerModel& seed() const { return seed_; }  // the cotangent of F'
  const PerModel& time() const { return time_; }
  const PerModel& atom() const { return atom_; }

 private:
  const ModelMask is_density_;
  const PerModel cotangent_;
  const PerModel shifted_;
  PerModel seed_;
  PerModel time_;
  PerModel atom_;
};

template <int kPhases>
class SmallCotangents {
 public:
  SmallCotangents(const SmallTimes& times, const SmallOutputCotangents& seeds,
                  const PowerAbove& q, const SmallSums<kPhases>& sums)
      : times_(times), shared_(*times.lanes[0].in), seeds_(seeds), sums_(sums) {
    MakeStarts();
    MakeRows(q.inverse * seeds.seed());
  }

  // Writes those cotangents of model l that are accurate, and sets their
  // pointers in `rest` to nullptr.
  void Store(int l, const SweepOutput& out, SweepOutput* rest) const {
    const SweepInput& in = *times_.lanes[l].in;
    for (int64_t i = 0; out.times != nullptr && i < in.num_times; ++i) {
      out.times[i] = i == times_.lanes[l].place ? seeds_.time()[l] : 0.0;
    }
    if (in.has_prob_zero && out.prob_zero != nullptr) {
      out.prob_zero[0] = seeds_.atom()[l];
    }
    rest->times = rest->prob_zero = nullptr;
    if (sums_.starts_are_accurate[l]) {
      StoreLane(starts_, l, in.num_phases, out.initial_probs);
      rest->initial_probs = nullptr;
    }
    if (in.has_weights() && sums_.weights_are_accurate[l]) {
      StoreLane(exits_, l, in.num_phases, out.exit_rates);
      rest->exit_rates = nullptr;
    }
    if (!sums_.rows_are_accurate[l]) return;
    rest->subgenerator = nullptr;
    if (!in.has_weights()) rest->exit_rates = nullptr;
    if (in.has_edges()) return StoreEdges(l, out.subgenerator);
    StoreLane(rates_, l, in.num_phases * in.num_phases, out.subgenerator);
    if (in.has_exit_rates) StoreLane(exits_, l, in.num_phases, out.exit_rates);
  }

 private:
  using Numbers = double[kModels];

  static void StoreLane(const Numbers* from, int l, int64_t count, double* to) {
    for (int64_t i = 0; to != nullptr && i < count; ++i) to[i] = from[i][l];
  }

  // A distribution function whose atom is derived has the derivative y_0 - 1.
  void MakeStarts() {
    const PerModel less = shared_.has_prob_zero ? PerModel(0.0) : seeds_.atom();
    for (int64_t i = 0; i < shared_.num_phases; ++i) {
      (seeds_.seed() * sums_.starts[i] - less).Store(starts_[i]);
    }
  }

  // Computes the cotangents of the rates of all models: `factor` times the
  // derivatives in a rate divided by q.
  [[gnu::noinline]] void MakeRows(const PerModel& factor) {
    const SweepInput& in = shared_;
    if (in.has_edges()) return MakeEdges(factor);
    const int64_t p = in.num_phases;
    for (int64_t i = 0; i < p; ++i) {
      const PerModel stay = sums_.products[i][i];
      const PerModel row = in.has_exit_rates ? stay : sums_.exits[i];
      (factor * (sums_.exits[i] - stay)).Store(exits_[i]);
      for (int64_t j = 0; j < p; ++j) {
        (factor * (sums_.products[i][j] - row)).Store(rates_[i * p + j]);
      }
    }
  }

  void MakeEdges(const PerModel& factor) {
    const EdgeView& edges = shared_.edges;
    for (int64_t e = 0; e < edges.count; ++e) {
      const int64_t i = edges.sources[e];
      const int64_t j = edges.targets[e];
      const bool is_one =
          i >= 0 && i < kPhases && j >= 0 && j != i && j <= shared_.num_phases;
      PerModel bar(0.0);
      if (is_one) {
        const PerModel arrive = j < shared_.num_phases  ? sums_.products[i][j]
                                : shared_.has_weights() ? PerModel(0.0)
                                                        : sums_.exits[i];
        bar = factor * (arrive - sums_.products[i][i]);
      }
      bar.Store(rates_[e]);
    }
    for (int64_t i = 0; shared_.has_weights() && i < shared_.num_phases; ++i) {
      (factor * sums_.exits[i]).Store(exits_[i]);
    }
  }

  // Writes the cotangents of theta, the parameters of the edges' rates, of
  // model l.
  [[gnu::noinline]] void StoreEdges(int l, double* out) const {
    const EdgeView& edges = times_.lanes[l].in->edges;
    if (edges.coefficients == nullptr) {
      return StoreLane(rates_, l, edges.count, out);
    }
    for (int64_t c = 0; out != nullptr && c < edges.num_parameters; ++c) {
      double sum = 0.0;
      for (int64_t e = 0; e < edges.count; ++e) {
        sum += edges.coefficients[e * edges.num_parameters + c] * rates_[e][l];
      }
      out[c] = sum;
    }
  }

  const SmallTimes& times_;
  const SweepInput& shared_;  // input of the first model
  const SmallOutputCotangents& seeds_;
  const SmallSums<kPhases>& sums_;
  // The cotangents of the entries of a matrix, or of the edges' rates, by lane.
  Numbers rates_[kSmallEdges];
  Numbers exits_[kPhases];
  Numbers starts_[kPhases];
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_COTANGENTS_H_
