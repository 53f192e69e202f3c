#include "native/elimination/batch/system_layout.h"

#include <algorithm>

#include "native/kernel/api/shapes.h"

namespace phasic {

const char* SystemLayout::Check(const LinearSystem& system, bool wants_edges,
                                const Output& per_phase,
                                const Output& per_edge) {
  const char* error = Begin("weights", system.weights.shape, 1);
  const auto merge = [&](int operand, const char* name, const Input& input,
                         int32_t event_rank) {
    if (error == nullptr) {
      error = Merge(operand, name, input.shape, event_rank);
    }
  };
  merge(kIndices, "indices", system.indices, 2);
  merge(kWeights, "weights", system.weights, 1);
  merge(kPerPhase, "per_phase", system.per_phase, 2);
  merge(kPerEdge, "per_edge", system.per_edge, 2);
  if (error == nullptr) error = CheckEvents(system);
  if (error != nullptr) return error;
  const double rows =
      static_cast<double>(num_phases_) + static_cast<double>(num_edges_);
  error = End(rows * static_cast<double>(std::max<int64_t>(num_columns_, 1)));
  if (error != nullptr) return error;
  if (!Fits(per_phase.shape, {num_phases_, num_columns_})) {
    return "result per_phase: its shape must be [..., phases, columns]";
  }
  if (!Fits(per_edge.shape,
            {wants_edges ? num_edges_ : 0, wants_edges ? num_columns_ : 0})) {
    return "result per_edge: its shape must be [..., edges, columns], or "
           "[..., 0, 0] where it is not wanted";
  }
  return nullptr;
}

const char* SystemLayout::CheckEvents(const LinearSystem& system) {
  const int64_t* per_phase = system.per_phase.shape.dims + rank_;
  const int64_t* per_edge = system.per_edge.shape.dims + rank_;
  num_edges_ = system.weights.shape.dims[rank_];
  num_phases_ = per_phase[0];
  num_columns_ = per_phase[1];
  has_per_edge_ = per_edge[0] != 0;
  const char* error = CheckIndices(system.indices.shape);
  if (error != nullptr) return error;
  if ((has_per_edge_ && per_edge[0] != num_edges_) ||
      per_edge[1] != num_columns_) {
    return Message(
        "per_edge: [%lld, %lld] does not fit %lld edges and %lld columns",
        static_cast<long long>(per_edge[0]),
        static_cast<long long>(per_edge[1]), static_cast<long long>(num_edges_),
        static_cast<long long>(num_columns_));
  }
  return nullptr;
}

}  // namespace phasic
