// Computes the batch shape of a call and where each model's arrays begin.

#ifndef PHASIC_NATIVE_ELIMINATION_BATCH_BATCH_LAYOUT_H_
#define PHASIC_NATIVE_ELIMINATION_BATCH_BATCH_LAYOUT_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "native/kernel/api/phase_type.h"

namespace phasic {

// Computes the full batch shape of a call and the offset of each model's
// entries in the operands. Operands are numbered; operand 0 holds the edge
// indices.
class BatchLayout {
 public:
  static constexpr int kIndices = 0;
  static constexpr int kMaxOperands = 7;

  int64_t num_phases() const { return num_phases_; }
  int64_t num_edges() const { return num_edges_; }
  int64_t batch_size() const { return batch_size_; }

  // Returns whether all models of the batch have the same edges.
  bool shares_indices() const {
    const int64_t* strides = strides_[kIndices];
    return std::all_of(strides, strides + rank_,
                       [](int64_t stride) { return stride == 0; });
  }

  // Returns the offset of a model's first entry in an operand's array.
  int64_t Offset(int operand, int64_t model) const;

 protected:
  // The functions that check shapes return nullptr or an error message.

  // Initializes the batch dimensions from the shape of one operand, whose last
  // `event_rank` dimensions are not batch dimensions.
  const char* Begin(const char* name, const Shape& shape, int32_t event_rank);
  // Computes an operand's strides, and broadcasts its batch dimensions against
  // the batch shape so far.
  const char* Merge(int operand, const char* name, const Shape& shape,
                    int32_t event_rank);
  // Computes the batch size. Returns an error message if all models together
  // have too many results, given the number of results per model.
  const char* End(double results);
  // Returns whether a shape is the full batch shape followed by `event`.
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
