// Groups of consecutive models that differ only in their tangents, as in a
// Jacobian. One sweep computes J_1 for several models of a group.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_DIRECTION_GROUPS_H_
#define PHASIC_NATIVE_KERNEL_BATCH_DIRECTION_GROUPS_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/api/sweep.h"
#include "native/kernel/batch/batch_index.h"
#include "native/kernel/batch/batch_plan.h"
#include "native/kernel/batch/model_operands.h"
#include "native/kernel/batch/places.h"
#include "native/kernel/runtime/workspace.h"

namespace phasic {

// Returns how many consecutive models have the same operands and edges, and so
// differ only in their tangents.
inline int64_t ModelsAlike(const BatchPlan& plan) {
  const Call& call = plan.call();
  if (call.order != 1 || plan.adjoint()) return 1;
  return plan.ModelsSharing([&](int32_t axis) {
    for (int32_t i = 0; i < kNumOperands; ++i) {
      if (plan.strides(i)[axis] != 0) return false;
    }
    for (int32_t i = 0; call.edges != nullptr && i < kNumEdgeArrays; ++i) {
      if (plan.edge_strides(i)[axis] != 0) return false;
    }
    return call.kinds == nullptr || plan.kind_strides()[axis] == 0;
  });
}

// Returns the number of directions that one sweep evaluates at once.
inline int64_t ModelsAtOnce(const BatchPlan& plan) {
  const SweepTable& sweeps = Sweeps();
  if (sweeps.directions == nullptr) return 1;
  return std::min<int64_t>(ModelsAlike(plan), sweeps.num_directions);
}

template <class F>
class DirectionGroups {
 public:
  // If `is_shared` is false, models are evaluated one by one.
  DirectionGroups(const BatchPlan& plan, bool is_shared)
      : plan_(plan),
        alike_(ModelsAlike(plan)),
        at_once_(is_shared ? ModelsAtOnce(plan) : 1) {}

  // Returns how many models one sweep can evaluate at once, starting with
  // `model` and ending before `last`.
  int64_t Count(int64_t model, int64_t last) const {
    return std::min({at_once_, alike_ - model % alike_, last - model});
  }

  bool Allocate(Workspace* workspace) {
    if (at_once_ == 1) return true;
    const auto n = static_cast<size_t>(plan_.times_per_model());
    for (int64_t l = 0; l < at_once_; ++l) {
      outputs_[l] = {};
      outputs_[l].values =
          static_cast<double*>(workspace->Allocate(n, sizeof(double)));
      outputs_[l].status =
          static_cast<int32_t*>(workspace->Allocate(n, sizeof(int32_t)));
      places_[l] = operands_.Make(static_cast<int>(l), plan_, &inputs_[l]);
      if (outputs_[l].values == nullptr || outputs_[l].status == nullptr ||
          !places_[l]->Allocate(workspace)) {
        return false;
      }
    }
    return true;
  }

  // Evaluates `count` models in one sweep, calls store(model, output) for each,
  // and advances the index past them. Returns false if memory does not suffice.
  template <class Store>
  bool Run(int64_t count, BatchIndex* model, Workspace* workspace,
           const Store& store) {
    BatchIndex index = *model;
    for (int64_t l = 0; l < count; ++l, index.Next()) {
      if (!places_[l]->Gather(index)) return false;
    }
    Sweeps().directions(inputs_, outputs_, count, workspace);
    for (int64_t l = 0; l < count; ++l, model->Next()) {
      store(*model, outputs_[l]);
    }
    return true;
  }

 private:
  const BatchPlan& plan_;
  const int64_t alike_;
  const int64_t at_once_;
  Places<ModelOperands<F>, kMaxDirections> operands_;
  ModelOperands<F>* places_[kMaxDirections] = {};
  SweepInput inputs_[kMaxDirections];
  SweepOutput outputs_[kMaxDirections];
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BATCH_DIRECTION_GROUPS_H_
