#include "native/elimination/api/moments.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "native/elimination/batch/model_runs.h"
#include "native/elimination/factors/factors.h"
#include "native/elimination/moments/matrix_weights.h"
#include "native/elimination/moments/moment_sums.h"
#include "native/elimination/moments/moment_systems.h"
#include "native/elimination/moments/moment_writer.h"
#include "native/elimination/moments/moments_layout.h"
#include "native/elimination/solver/solver.h"
#include "native/elimination/symbolic/topology.h"
#include "native/kernel/simd/float_environment.h"

namespace phasic {
namespace {

using PHASIC_ISA::Denormals;
using PHASIC_ISA::FloatEnvironment;

// Computes the moments of the models of one call. This is the `Work` of
// ModelRuns.
template <class F>
class MomentsWork {
 public:
  MomentsWork(const MomentsCall& call, const MomentsLayout& layout,
              const MomentResults& mean, const MomentResults& variance)
      : call_(call), layout_(layout), writer_(call, layout, mean, variance) {}

  int64_t Numbers(const Topology& t) const {
    return 4 * t.num_edges + t.num_factors + t.num_working + 17 * t.num_phases;
  }

  void Alone(int64_t model,
             const std::shared_ptr<const Topology>& topology) const {
    const FloatEnvironment environment(Denormals::kKeep);
    if (Together<double>(model, 1, 1, topology).left_range) {
      Together<Wide>(model, 1, kWideSize, topology);
    }
  }
  uint32_t SideBySide(int64_t first, int64_t last,
                      const std::shared_ptr<const Topology>& topology) const {
    const FloatEnvironment environment(Denormals::kKeep);
    const Outcome outcome = Together<double>(
        first, static_cast<int>(last - first), kLanes, topology);
    return outcome.left_range ? ~uint32_t{0} : outcome.apart;
  }

 private:
  struct Outcome {
    uint32_t apart;   // mask of models to compute alone
    bool left_range;  // results left the range of doubles and are invalid
  };

  // Computes `count` models from number `first` on, in `lanes` SIMD lanes.
  template <class T>
  Outcome Together(int64_t first, int count, int lanes,
                   const std::shared_ptr<const Topology>& topology) const {
    MomentSums<T> models[kLanes];
    DivideMemory(*topology,
                 {call_.is_discrete, needs_expected(), needs_slopes()}, count,
                 models);
    uint32_t open = 0;  // mask of models in progress
    for (int l = 0; l < count; ++l) {
      if (Prepare(first + l, &models[l])) {
        open |= 1U << l;
      } else {
        writer_.Fill(first + l, std::numeric_limits<F>::quiet_NaN());
      }
    }
    if (open == 0) return {0, false};
    Weights weights = {{}, lanes == kLanes ? kLanes : 1, sizeof(T)};
    for (int l = 0; l < weights.count; ++l) {
      weights.arrays[l] = models[std::min(l, count - 1)].arrays.weights;
    }
    const ThreadScratch scratch(*topology, lanes, 1, needs_expected());
    const auto factors =
        FindFactors(topology, weights, lanes, SolverOf(T()), scratch.arrays());
    const uint32_t apart = open & factors->apart;
    open &= ~factors->apart;
    if (factors->left_range) return {apart, true};
    const MomentSystems<T> systems = {*topology, *factors, scratch.arrays(),
                                      models,    count,    lanes};
    systems.SolveTransposed(&MomentArrays<T>::initial, nullptr,
                            &MomentArrays<T>::sojourns);
    for (int l = 0; l < count; ++l) {
      if ((open >> l & 1U) == 0) continue;
      const bool is_invalid = lanes != kLanes && factors->findings.is_invalid;
      if (is_invalid || models[l].IsInfinite()) {
        writer_.Fill(first + l, is_invalid
                                    ? std::numeric_limits<F>::quiet_NaN()
                                    : std::numeric_limits<F>::infinity());
        open &= ~(1U << l);
      }
    }
    if (open == 0) return {apart, FloatEnvironment::LeftRange()};
    if (needs_expected()) FindExpected(systems);
    if (needs_slopes()) FindSlopes(systems, open);
    for (int l = 0; l < count; ++l) {
      if ((open >> l & 1U) != 0) writer_.Write(first + l, models[l]);
    }
    return {apart, FloatEnvironment::LeftRange()};
  }

  bool needs_expected() const {
    return call_.wants_variance || call_.wants_gradients;
  }
  bool needs_slopes() const {
    return call_.wants_variance && call_.wants_gradients;
  }

  const F* At(const Input& input, int operand, int64_t model) const {
    return static_cast<const F*>(input.data) + layout_.Offset(operand, model);
  }

  // Copies a model's operands into the arrays of `sums`. Returns whether its
  // values are valid.
  template <class T>
  bool Prepare(int64_t model, MomentSums<T>* sums) const {
    const MomentArrays<T>& arrays = sums->arrays;
    const int64_t p = layout_.num_phases();
    const double tolerance = 4.0 * static_cast<double>(p) * call_.epsilon;
    const F* weights = At(call_.weights, MomentsLayout::kWeights, model);
    bool is_good = true;
    if (layout_.has_matrix()) {
      const F* exits = layout_.has_exits()
                           ? At(call_.exits, MomentsLayout::kExits, model)
                           : nullptr;
      const MatrixRows<F> rows = {weights, exits, p, call_.is_discrete,
                                  tolerance};
      is_good = ReadMatrix(rows, arrays.weights, arrays.stay);
    } else {
      std::copy_n(weights, layout_.num_edges(), arrays.weights);
    }
    std::copy_n(At(call_.initial, MomentsLayout::kInitial, model), p,
                arrays.initial);
    double atom = 0.0;
    if (layout_.has_atom()) {
      atom = *At(call_.atom, MomentsLayout::kAtom, model);
    }
    is_good &=
        sums->CheckMasses(layout_.has_atom() ? &atom : nullptr, tolerance);
    if (!call_.is_discrete) {
      if (is_good) sums->ScaleWeights();
    } else if (layout_.has_stay()) {
      std::copy_n(At(call_.stay, MomentsLayout::kStay, model), p, arrays.stay);
    } else if (!layout_.has_matrix()) {
      is_good &= sums->FindStay(tolerance);
    }
    return is_good;
  }

  template <class T>
  void FindExpected(const MomentSystems<T>& systems) const {
    const int64_t p = systems.topology.num_phases;
    for (int l = 0; l < systems.count; ++l) {
      std::fill_n(systems.models[l].arrays.rewards, p, T(1.0));
    }
    if (systems.lanes != kLanes && systems.factors.findings.has_traps) {
      // To find the traps, solves for sojourn times with initial mass in every
      // phase: the sojourn times in traps are infinite.
      systems.SolveTransposed(&MomentArrays<T>::rewards, nullptr,
                              &MomentArrays<T>::expected);
      const MomentArrays<T>& arrays = systems.models[0].arrays;
      for (int64_t i = 0; i < p; ++i) {
        const bool is_trap =
            arrays.expected[i] == T(std::numeric_limits<double>::infinity());
        if (is_trap && IsZero(arrays.sojourns[i])) arrays.rewards[i] = 0.0;
      }
    }
    systems.Solve(&MomentArrays<T>::rewards, &MomentArrays<T>::expected,
                  &MomentArrays<T>::differences);
    for (int l = 0; l < systems.count; ++l) systems.models[l].TakeExpected();
  }

  template <class T>
  void FindSlopes(const MomentSystems<T>& systems, uint32_t open) const {
    for (int l = 0; l < systems.count; ++l) {
      if ((open >> l & 1U) != 0) systems.models[l].FindSlopes();
    }
    systems.Solve(&MomentArrays<T>::spread, &MomentArrays<T>::spread_ahead,
                  &MomentArrays<T>::spread_differences);
    systems.SolveTransposed(&MomentArrays<T>::slopes,
                            &MomentArrays<T>::edge_slopes,
                            &MomentArrays<T>::weighted);
  }

  const MomentsCall& call_;
  const MomentsLayout& layout_;
  const MomentWriter<F> writer_;
};

}  // namespace

const char* ComputeMoments(const MomentsCall& call, const MomentResults& mean,
                           const MomentResults& variance, Executor* executor) {
  MomentsLayout layout;
  const char* error = layout.Check(call, mean, variance);
  if (error != nullptr) return error;
  std::vector<int32_t> edges;
  Input indices = call.indices;
  if (layout.has_matrix()) {
    try {
      edges = MatrixEdges(layout.num_phases());
    } catch (const std::bad_alloc&) {
      return kOutOfMemory;
    }
    indices.data = edges.data();
  }
  const auto run = [&](const auto& work) {
    return RunModels(layout, indices, work, executor);
  };
  if (call.precision == Precision::kFloat32) {
    return run(MomentsWork<float>(call, layout, mean, variance));
  }
  return run(MomentsWork<double>(call, layout, mean, variance));
}

}  // namespace phasic
