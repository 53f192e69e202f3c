// Multi-indices over some of the batch dimensions of a call.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_BATCH_INDEX_H_
#define PHASIC_NATIVE_KERNEL_BATCH_BATCH_INDEX_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/api/shapes.h"

namespace phasic {

// A multi-index that iterates in row-major order over the batch dimensions for
// which `takes_part` is true.
class BatchIndex {
 public:
  BatchIndex(const Layout& layout, const bool* takes_part)
      : layout_(layout), rank_(std::min(layout.batch_rank, kMaxRank)) {
    for (int32_t axis = 0; axis < rank_; ++axis) {
      index_[axis] = 0;
      takes_part_[axis] = takes_part[axis];
      if (takes_part[axis]) inner_ = axis;
    }
  }

  // Sets the index to number `steps` in row-major order, counted from zero.
  void Seek(int64_t steps) {
    for (int32_t axis = rank_ - 1; axis >= 0; --axis) {
      if (!takes_part_[axis]) continue;  // NOLINT(*-security.ArrayBound)
      index_[axis] = steps % layout_.batch[axis];
      steps /= layout_.batch[axis];
    }
  }

  // Advances to the next index; returns false after the last one.
  bool Next() {
    for (int32_t axis = rank_ - 1; axis >= 0; --axis) {
      // The static analyzer does not see that the rank is bounded.
      if (!takes_part_[axis]) continue;  // NOLINT(*-security.ArrayBound)
      if (++index_[axis] < layout_.batch[axis]) return true;
      index_[axis] = 0;
    }
    return false;
  }

  // RunLength returns the number of indices from the current one to the end of
  // the innermost dimension. Step returns an array's stride along this
  // dimension.
  int64_t RunLength() const {
    return inner_ < 0 ? 1 : layout_.batch[inner_] - index_[inner_];
  }
  int64_t Step(const int64_t* strides) const {
    return inner_ < 0 ? 0 : strides[inner_];
  }
  // Advances by `steps` indices, at most RunLength().
  void Skip(int64_t steps) {
    if (inner_ < 0) return;
    index_[inner_] += steps - 1;
    Next();
  }

  int64_t Offset(const int64_t* strides) const {
    int64_t offset = 0;
    for (int32_t axis = 0; axis < rank_; ++axis) {
      offset += index_[axis] * strides[axis];
    }
    return offset;
  }

 private:
  const Layout& layout_;
  const int32_t rank_;
  int32_t inner_ = -1;  // the last dimension that takes part
  int64_t index_[kMaxRank];
  bool takes_part_[kMaxRank];
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BATCH_BATCH_INDEX_H_
