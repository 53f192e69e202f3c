// The batch dimensions of a call, and where each model's arrays begin.

#ifndef PHASIC_NATIVE_ELIMINATION_BATCH_BATCH_LAYOUT_H_
#define PHASIC_NATIVE_ELIMINATION_BATCH_BATCH_LAYOUT_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "native/kernel/api/phase_type.h"

namespace phasic {

// Operands are numbered; number 0 has the indices of the edges.
class BatchLayout {
 public:
  static constexpr int kIndices = 0;
  static constexpr int kMaxOperands = 7;

  int64_t num_phases() const { return num_phases_; }
  int64_t num_edges() const { return num_edges_; }
  int64_t batch_size() const { return batch_size_; }

  // Whether all models have the same edges.
  bool shares_indices() const {
    const int64_t* strides = strides_[kIndices];
    return std::all_of(strides, strides + rank_,
                       [](int64_t stride) { return stride == 0; });
  }

  // Returns the offset of a model's part of an operand.
  int64_t Offset(int operand, int64_t model) const;

 protected:
  // The checks return nullptr or a message.

  // Starts from an array of the call and the rank of its event.
  const char* Begin(const char* name, const Shape& shape, int32_t event_rank);
  // Broadcasts an operand's batch dimensions with those of the call.
  const char* Merge(int operand, const char* name, const Shape& shape,
                    int32_t event_rank);
  // Completes the layout, given the number of results for each model.
  const char* End(double results);
  // Whether these are the full batch dimensions and the event's.
  bool Fits(const Shape& shape, std::initializer_list<int64_t> event) const;
  const char* CheckIndices(const Shape& shape) const;

  int32_t rank_ = 0;  // of the batch
  int64_t num_phases_ = 0;
  int64_t num_edges_ = 0;

 private:
  int64_t batch_[kMaxRank] = {};
  int64_t batch_size_ = 1;
  int64_t strides_[kMaxOperands][kMaxRank] = {};
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_BATCH_BATCH_LAYOUT_H_
