// The derivatives J_1 of small models in SIMD lanes, from the sums of
// SmallAdjoint: each is the sum of the cotangents times the tangents of what
// they are cotangents of. So a derivative costs no more than a gradient,
// whatever the number of operands that have tangents.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_TANGENTS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_TANGENTS_H_

#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/methods/small_models/small_adjoint.h"
#include "native/kernel/methods/small_models/small_bars.h"
#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/model/rates.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// The tangents of the numbers of SmallModels, of which those of rates are
// relative to q, and of the times.
template <int kPhases>
class SmallTangents {
 public:
  // Denormals must not be flushed meanwhile, to distinguish them from zeros.
  SmallTangents(const SmallTimes& times, const PowerAbove& q)
      : times_(times), shared_(*times.lanes[0].in), inverse_(q.inverse) {
    for (int i = 0; i < kPhases; ++i) {
      starts_[i] = exits_[i] = PerModel(0.0);
      for (PerModel& step : steps_[i]) step = PerModel(0.0);
    }
    ReadStarts();
    if (shared_.has_edges()) {
      ReadEdges();
    } else {
      ReadSubgenerator();
    }
    time_ = Ordinary(SideBySide([&](int l) {
      const SmallLane& lane = times.lanes[l];
      return lane.has_time() ? lane.in->times.tangents[0][lane.place] : 0.0;
    }));
  }

  // Computes the derivatives from the cotangents, and stores in `are_accurate`
  // in which lanes they are. Errors are relative to the sum of the sizes of the
  // terms.
  [[gnu::noinline]] PerModel Derivatives(const SmallSeeds& seeds,
                                         const SmallSums<kPhases>& sums,
                                         ModelMask* are_accurate) const {
    Sum sum;
    for (int64_t i = 0; i < shared_.num_phases; ++i) {
      sum.Add(starts_[i], sums.starts[i]);
      sum.Add(exits_[i], sums.exits[i]);
      for (int64_t j = 0; j < shared_.num_phases; ++j) {
        sum.Add(steps_[i][j], sums.products[i][j]);
      }
    }
    // A cotangent may lack what was left out of it or underflowed.
    const PerModel least = sums.tail + PerModel(0x1p-44 * kLeastOrdinary);
    *are_accurate = is_ordinary_ & (sum.tangents * least <= 0x1p-44 * sum.size);
    const PerModel of_sums =
        MultiplyAdd(Select(times_.is_complement, total_, atom_), seeds.atom(),
                    seeds.InUnits(seeds.seed() * sum.value));
    return MultiplyAdd(time_, seeds.time(), of_sums);
  }

 private:
  static constexpr double kLeastTangent = 0x1p-200;
  static constexpr double kLargestTangent = 0x1p200;

  // A sum of products of tangents and cotangents, and its terms' sizes.
  struct Sum {
    PerModel value{0.0};
    PerModel size{0.0};
    PerModel tangents{0.0};

    void Add(const PerModel& tangent, const PerModel& cotangent) {
      value.AddProduct(tangent, cotangent);
      size.AddProduct(Size(tangent), cotangent);
      tangents = tangents + Size(tangent);
    }
  };

  // Returns the tangent; flags lanes where it is not zero and may underflow or
  // overflow.
  PerModel Ordinary(const PerModel& tangent) {
    const PerModel size = Size(tangent);
    is_ordinary_ =
        is_ordinary_ & Either(size <= PerModel(0.0),
                              IsWithin(size, kLeastTangent, kLargestTangent));
    return tangent;
  }
  PerModel Tangent(OperandView SweepInput::* operand, int64_t i) {
    return Ordinary(SideBySide([&](int l) {
      return ((*times_.lanes[l].in).*operand).tangents[0][i];
    }));
  }
  PerModel Rate(OperandView SweepInput::* operand, int64_t i) {
    return Ordinary(inverse_ * Tangent(operand, i));
  }

  void ReadStarts() {
    CompensatedLanes sum;
    for (int64_t i = 0; i < shared_.num_phases; ++i) {
      starts_[i] = Tangent(&SweepInput::initial_probs, i);
      sum.Add(starts_[i]);
    }
    total_ = PerModel(0.0);
    atom_ = PerModel(0.0) - sum.Result();
    if (!shared_.has_prob_zero) return;
    atom_ = Tangent(&SweepInput::prob_zero, 0);
    sum.Add(atom_);
    total_ = sum.Result();
  }

  void ReadSubgenerator() {
    const int64_t p = shared_.num_phases;
    for (int64_t i = 0; i < p; ++i) {
      CompensatedLanes row;
      for (int64_t j = 0; j < p; ++j) {
        if (shared_.has_exit_rates && i == j) continue;  // not read
        steps_[i][j] = Rate(&SweepInput::subgenerator, i * p + j);
        row.Add(steps_[i][j]);
      }
      if (shared_.has_exit_rates) {
        exits_[i] = Rate(&SweepInput::exit_rates, i);
        row.Add(exits_[i]);
        steps_[i][i] = PerModel(0.0) - row.Result();
      } else {
        exits_[i] = PerModel(0.0) - row.Result();
      }
    }
  }

  void ReadEdges() {
    const EdgeView& edges = shared_.edges;
    CompensatedLanes leaving[kPhases];
    CheckCoefficients();
    for (int64_t e = 0; e < edges.count; ++e) {
      const int64_t i = edges.sources[e];
      const int64_t j = edges.targets[e];
      const PerModel tangent =
          Ordinary(inverse_ * SideBySide([&](int l) {
                     return EdgeTangent(*times_.lanes[l].in, e, 0);
                   }));
      const bool is_one =
          i >= 0 && i < kPhases && j >= 0 && j != i && j <= shared_.num_phases;
      if (!is_one) continue;
      PerModel& sum = j == shared_.num_phases ? exits_[i] : steps_[i][j];
      sum = sum + tangent;
      leaving[i].Add(tangent);
    }
    for (int i = 0; i < kPhases; ++i) {
      steps_[i][i] = PerModel(0.0) - leaving[i].Result();
    }
    for (int64_t i = 0; shared_.has_weights() && i < shared_.num_phases; ++i) {
      exits_[i] = Rate(&SweepInput::exit_rates, i);
    }
  }

  // Flags lanes whose parameters' tangents, times coefficients, may underflow
  // or overflow.
  void CheckCoefficients() {
    const EdgeView& edges = shared_.edges;
    const bool has_parameters = edges.coefficients != nullptr;
    const int64_t num_parameters =
        has_parameters ? edges.num_parameters : edges.count;
    for (int64_t c = 0; c < num_parameters; ++c) {
      Tangent(&SweepInput::subgenerator, c);
    }
    const int64_t size = has_parameters ? edges.count * num_parameters : 0;
    for (int64_t n = 0; n < size; ++n) {
      Ordinary(SideBySide(
          [&](int l) { return times_.lanes[l].in->edges.coefficients[n]; }));
    }
  }

  const SmallTimes& times_;
  const SweepInput& shared_;  // input of the first model
  const PerModel inverse_;
  ModelMask is_ordinary_ = ~NoModels();
  PerModel starts_[kPhases];
  PerModel steps_[kPhases][kPhases];  // of P
  PerModel exits_[kPhases];
  PerModel atom_;
  PerModel total_;  // of the starts and the atom
  PerModel time_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_TANGENTS_H_
