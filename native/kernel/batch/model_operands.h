// Converts one model's operands, tangents and cotangent to the contiguous
// arrays of doubles that sweeps take.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_MODEL_OPERANDS_H_
#define PHASIC_NATIVE_KERNEL_BATCH_MODEL_OPERANDS_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "native/kernel/api/sweep.h"
#include "native/kernel/batch/batch_index.h"
#include "native/kernel/batch/batch_plan.h"
#include "native/kernel/batch/direction_scales.h"
#include "native/kernel/runtime/workspace.h"

namespace phasic {

template <class F>
class ModelOperands {
 public:
  // `view` will point to the gathered operands.
  ModelOperands(const BatchPlan& plan, SweepInput* view)
      : plan_(plan), view_(*view), scales_(plan) {
    const Layout& layout = plan.layout();
    std::memset(&view_, 0, sizeof(view_));
    view_.num_phases = layout.num_phases;
    view_.num_times = plan.times_per_model();
    view_.kind = static_cast<Kind>(plan.call().kind);
    view_.discrete = plan.call().discrete;
    view_.repeats = plan.call().repeats && plan.num_models() == 1;
    view_.has_exit_rates = layout.has_exit_rates;
    view_.has_prob_zero = layout.has_prob_zero;
    view_.row_length = layout.num_times;
    view_.epsilon = std::numeric_limits<F>::epsilon();
    OperandView* const views[kNumOperands] = {
        &view_.initial_probs, &view_.subgenerator, &view_.exit_rates,
        &view_.prob_zero, &view_.times};
    for (int32_t i = 0; i < plan.num_inputs(); ++i) {
      OperandView* const operand = views[plan.OperandOf(i)];
      const int32_t group = i / kNumOperands;
      values_[i] = i == plan.num_arrays() ? &view_.cotangent
                   : group == 0           ? &operand->value
                                          : &operand->tangents[group - 1];
    }
    if (!layout.has_edges) return;
    view_.edges.count = layout.num_edges;
    view_.edges.num_parameters = layout.num_parameters;
  }
  ModelOperands(const ModelOperands&) = delete;
  ModelOperands& operator=(const ModelOperands&) = delete;

  bool Allocate(Workspace* workspace) {
    scales_.SetMemory(workspace);
    for (int32_t i = 0; i < plan_.num_inputs(); ++i) {
      const int32_t operand = plan_.OperandOf(i);
      if (std::is_same<F, double>::value && operand != kTimes) continue;
      buffers_[i] = AllocateDoubles(plan_.ModelSize(operand), workspace);
      if (buffers_[i] == nullptr) return false;
    }
    if (plan_.layout().has_kinds) {
      kinds_ = static_cast<int32_t*>(workspace->Allocate(
          static_cast<size_t>(plan_.times_per_model()), sizeof(int32_t)));
      swapped_ = static_cast<int64_t*>(workspace->Allocate(
          static_cast<size_t>(plan_.times_per_model()), sizeof(int64_t)));
      if (kinds_ == nullptr || swapped_ == nullptr) return false;
    }
    if (std::is_same<F, double>::value || !plan_.layout().has_edges) {
      return true;
    }
    constants_ = AllocateDoubles(plan_.NumConstants(), workspace);
    coefficients_ = AllocateDoubles(plan_.NumCoefficients(), workspace);
    return constants_ != nullptr && coefficients_ != nullptr;
  }

  // Gathers all arrays of a model; they are valid until the next call of
  // Gather. Returns false if memory does not suffice.
  bool Gather(const BatchIndex& model) {
    for (int32_t i = 0; i < plan_.num_inputs(); ++i) {
      Put(i, model.Offset(plan_.strides(i)));
    }
    for (int32_t i = 0; plan_.layout().has_edges && i < kNumEdgeArrays; ++i) {
      PutEdges(i, model.Offset(plan_.edge_strides(i)));
    }
    if (plan_.layout().has_kinds) PutKinds(model.Offset(plan_.kind_strides()));
    return ScaleDirections();
  }

  // Scales the gathered tangents and cotangents, the last step of gathering.
  // Returns false if memory does not suffice.
  bool ScaleDirections() { return scales_.Apply(&view_); }

  // Returns whether the sweep reads input i in place. Times are copied if there
  // are kinds, as the ends of observations may be swapped.
  bool IsInPlace(int32_t i) const {
    return std::is_same<F, double>::value &&
           (plan_.OperandOf(i) != kTimes ||
            (plan_.HasOneRun() && !plan_.layout().has_kinds));
  }
  void Show(int32_t i, const double* data) { *values_[i] = data; }

  // Gathers input i of a model, whose entries begin at `offset`. The functions
  // below do this for the edge arrays and the kinds.
  void Put(int32_t i, int64_t offset) {
    const F* data = static_cast<const F*>(plan_.input(i).data) + offset;
    const int32_t operand = plan_.OperandOf(i);
    Show(i, IsInPlace(i) || operand != kTimes
                ? Convert(data, plan_.ModelSize(operand), buffers_[i])
                : GatherRows(data, plan_.strides(i), buffers_[i]));
  }
  void PutEdges(int32_t i, int64_t offset) {
    const Layout& layout = plan_.layout();
    const Edges& edges = *plan_.call().edges;
    if (i == 0) {
      // A model with zero edges has no array of indices. The pointer must not
      // be null, since null means a dense model.
      static const int32_t kNone = 0;
      view_.edges.sources =
          layout.num_edges > 0
              ? static_cast<const int32_t*>(edges.indices.data) + offset
              : &kNone;
      view_.edges.targets = view_.edges.sources + layout.num_edges;
    } else if (i == 1 && layout.has_constants) {
      view_.edges.constants =
          Convert(static_cast<const F*>(edges.constants.data) + offset,
                  plan_.NumConstants(), constants_);
    } else if (i == 2 && layout.has_coefficients) {
      view_.edges.coefficients =
          Convert(static_cast<const F*>(edges.coefficients.data) + offset,
                  plan_.NumCoefficients(), coefficients_);
    }
  }
  void PutKinds(int64_t offset) {
    GatherRows(static_cast<const int32_t*>(plan_.call().kinds->data) + offset,
               plan_.kind_strides(), kinds_);
    const int64_t length = plan_.layout().num_times;
    num_swapped_ = 0;
    for (int64_t row = 0; row < view_.num_times; row += length) {
      ResolveObservations(row, row + length);
    }
    for (int32_t i = 0; i < plan_.num_arrays(); ++i) {
      if (plan_.OperandOf(i) == kTimes) SwapEnds(buffers_[i]);
    }
    view_.kinds = kinds_;
  }

  // Swaps the two entries of each observation whose ends are swapped in the
  // gathered times. The array has an entry for each time.
  void SwapEnds(double* of_times) const {
    for (int64_t n = 0; of_times != nullptr && n < num_swapped_; ++n) {
      std::swap(of_times[swapped_[n]], of_times[swapped_[n] + 1]);
    }
  }

 private:
  static double* AllocateDoubles(int64_t count, Workspace* workspace) {
    return static_cast<double*>(
        workspace->Allocate(static_cast<size_t>(count), sizeof(double)));
  }

  // Replaces the kind of each observation (lower, upper] in a row of times by
  // the kind that its ends imply. Also lists the left-censored observations for
  // SwapEnds, as their upper end must have the index of the kind.
  void ResolveObservations(int64_t first, int64_t end) {
    const auto is = [&](int64_t i, Kind kind) {
      return kinds_[i] == static_cast<int32_t>(kind);
    };
    for (int64_t i = first; i + 1 < end; ++i) {
      if (!is(i, Kind::kLogObservation) || !is(i + 1, Kind::kNothing)) continue;
      const double lower = view_.times.value[i];
      const double upper = view_.times.value[i + 1];
      Kind kind = lower < 0.0 ? Kind::kLogCdf : Kind::kLogInterval;
      kind = upper == HUGE_VAL ? Kind::kLogSurvival : kind;
      kind = lower < upper ? kind : Kind::kLogInterval;
      kind = lower == upper ? Kind::kLogDensity : kind;
      kinds_[i] = static_cast<int32_t>(kind);
      if (kind == Kind::kLogCdf) swapped_[num_swapped_++] = i;
      ++i;
    }
  }

  static const double* Convert(const double* data, int64_t, double*) {
    return data;
  }
  static const double* Convert(const float* data, int64_t count,
                               double* buffer) {
    for (int64_t i = 0; i < count; ++i) buffer[i] = data[i];
    return buffer;
  }

  // Gathers one number for each time of a model, row by row.
  template <class Source, class Target>
  const Target* GatherRows(const Source* data, const int64_t* strides,
                           Target* buffer) const {
    const int64_t count = plan_.layout().num_times;
    plan_.ForEachRun(strides, [&](int64_t offset, int64_t row) {
      for (int64_t i = 0; i < count; ++i) buffer[row + i] = data[offset + i];
    });
    return buffer;
  }

  const BatchPlan& plan_;
  SweepInput& view_;
  DirectionScales scales_;
  const double** values_[kMaxInputs];  // the view's pointer to each input
  double* buffers_[kMaxInputs] = {};
  double* constants_ = nullptr;
  double* coefficients_ = nullptr;
  int32_t* kinds_ = nullptr;
  int64_t* swapped_ = nullptr;
  int64_t num_swapped_ = 0;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BATCH_MODEL_OPERANDS_H_
