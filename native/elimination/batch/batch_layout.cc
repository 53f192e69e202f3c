#include "native/elimination/batch/batch_layout.h"

#include "native/kernel/api/shapes.h"

namespace phasic {
namespace {

constexpr double kMaxElements = 1e12;

}  // namespace

int64_t BatchLayout::Offset(int operand, int64_t model) const {
  int64_t offset = 0;
  for (int32_t axis = rank_ - 1; axis >= 0; --axis) {
    offset += model % batch_[axis] * strides_[operand][axis];
    model /= batch_[axis];
  }
  return offset;
}

const char* BatchLayout::Begin(const char* name, const Shape& shape,
                               int32_t event_rank) {
  rank_ = shape.rank - event_rank;
  if (rank_ < 0 || rank_ > kMaxRank - 2) {
    return Message("%s: rank %d is not supported", name, shape.rank);
  }
  std::fill(batch_, batch_ + rank_, 1);
  return nullptr;
}

const char* BatchLayout::Merge(int operand, const char* name,
                               const Shape& shape, int32_t event_rank) {
  if (shape.rank != rank_ + event_rank) {
    return Message("%s: rank %d, must be %d", name, shape.rank,
                   rank_ + event_rank);
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

const char* BatchLayout::End(double results) {
  batch_size_ = 1;
  for (int32_t axis = 0; axis < rank_; ++axis) {
    results *= static_cast<double>(std::max<int64_t>(batch_[axis], 1));
    if (results > kMaxElements) {
      return "elimination: the number of results is too large";
    }
    batch_size_ *= batch_[axis];
  }
  return nullptr;
}

bool BatchLayout::Fits(const Shape& shape,
                       std::initializer_list<int64_t> event) const {
  return shape.rank == rank_ + static_cast<int32_t>(event.size()) &&
         std::equal(batch_, batch_ + rank_, shape.dims) &&
         std::equal(event.begin(), event.end(), shape.dims + rank_);
}

const char* BatchLayout::CheckIndices(const Shape& shape) const {
  const int64_t* indices = shape.dims + rank_;
  if (indices[0] == 2 && indices[1] == num_edges_) return nullptr;
  return Message("indices: [%lld, %lld] does not fit %lld weights",
                 static_cast<long long>(indices[0]),
                 static_cast<long long>(indices[1]),
                 static_cast<long long>(num_edges_));
}

}  // namespace phasic
