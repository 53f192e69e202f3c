#include "native/elimination/system_layout.h"

#include "native/kernel/shapes.h"

namespace phasic {
namespace {

constexpr double kMaxElements = 1e12;
constexpr const char* kNames[] = {"indices", "weights", "per_phase",
                                  "per_edge"};
constexpr int32_t kEventRanks[] = {2, 1, 2, 2};

}  // namespace

const char* SystemLayout::Check(const LinearSystem& system, bool wants_edges,
                                const Output& per_phase,
                                const Output& per_edge) {
  rank_ = system.weights.shape.rank - 1;
  if (rank_ < 0 || rank_ > kMaxRank - 2) {
    return Message("weights: rank %d is not supported", rank_ + 1);
  }
  std::fill(batch_, batch_ + rank_, 1);
  const char* error = Merge(kIndices, system.indices.shape);
  if (error == nullptr) error = Merge(kWeights, system.weights.shape);
  if (error == nullptr) error = Merge(kPerPhase, system.per_phase.shape);
  if (error == nullptr) error = Merge(kPerEdge, system.per_edge.shape);
  if (error == nullptr) error = CheckEvents(system);
  if (error != nullptr) return error;
  double elements =
      (static_cast<double>(num_phases_) + static_cast<double>(num_edges_)) *
      static_cast<double>(std::max<int64_t>(num_columns_, 1));
  batch_size_ = 1;
  for (int32_t axis = 0; axis < rank_; ++axis) {
    elements *= static_cast<double>(std::max<int64_t>(batch_[axis], 1));
    if (elements > kMaxElements) {
      return "elimination: the number of results is too large";
    }
    batch_size_ *= batch_[axis];
  }
  error = CheckOutput(per_phase.shape, num_phases_, num_columns_, "per_phase");
  if (error != nullptr) return error;
  return CheckOutput(per_edge.shape, wants_edges ? num_edges_ : 0,
                     wants_edges ? num_columns_ : 0, "per_edge");
}

int64_t SystemLayout::Offset(Operand operand, int64_t model) const {
  int64_t offset = 0;
  for (int32_t axis = rank_ - 1; axis >= 0; --axis) {
    offset += model % batch_[axis] * strides_[operand][axis];
    model /= batch_[axis];
  }
  return offset;
}

const char* SystemLayout::Merge(Operand operand, const Shape& shape) {
  const char* name = kNames[operand];
  if (shape.rank != rank_ + kEventRanks[operand]) {
    return Message("%s: rank %d, must be %d", name, shape.rank,
                   rank_ + kEventRanks[operand]);
  }
  int64_t elements = 1;
  int64_t event_size = 1;
  for (int32_t axis = shape.rank - 1; axis >= 0; --axis) {
    if (shape.dims[axis] < 0) {
      return Message("%s: dimension %d is negative", name, axis);
    }
    if (__builtin_mul_overflow(elements, shape.dims[axis], &elements)) {
      return Message("%s: the number of elements is too large", name);
    }
    if (axis == rank_) event_size = elements;
  }
  const char* error = MergeBatch(shape, rank_, name, batch_);
  BatchStrides(rank_, shape, event_size, strides_[operand]);
  return error;
}

const char* SystemLayout::CheckEvents(const LinearSystem& system) {
  const int64_t* indices = system.indices.shape.dims + rank_;
  const int64_t* per_phase = system.per_phase.shape.dims + rank_;
  const int64_t* per_edge = system.per_edge.shape.dims + rank_;
  num_edges_ = system.weights.shape.dims[rank_];
  num_phases_ = per_phase[0];
  num_columns_ = per_phase[1];
  has_per_edge_ = per_edge[0] != 0;
  if (indices[0] != 2 || indices[1] != num_edges_) {
    return Message("indices: [%lld, %lld] does not fit %lld weights",
                   static_cast<long long>(indices[0]),
                   static_cast<long long>(indices[1]),
                   static_cast<long long>(num_edges_));
  }
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

const char* SystemLayout::CheckOutput(const Shape& shape, int64_t rows,
                                      int64_t columns, const char* name) const {
  bool fits = shape.rank == rank_ + 2;
  for (int32_t axis = 0; fits && axis < rank_; ++axis) {
    fits = shape.dims[axis] == batch_[axis];
  }
  fits = fits && shape.dims[rank_] == rows && shape.dims[rank_ + 1] == columns;
  return fits ? nullptr : Message("result %s: the shape does not fit", name);
}

}  // namespace phasic
