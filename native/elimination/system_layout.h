// The shapes of a call, once they have been checked.

#ifndef PHASIC_NATIVE_ELIMINATION_SYSTEM_LAYOUT_H_
#define PHASIC_NATIVE_ELIMINATION_SYSTEM_LAYOUT_H_

#include <algorithm>
#include <cstdint>

#include "native/elimination/elimination.h"

namespace phasic {

class SystemLayout {
 public:
  enum Operand { kIndices, kWeights, kPerPhase, kPerEdge };

  // Returns nullptr or a message.
  const char* Check(const LinearSystem& system, bool wants_edges,
                    const Output& per_phase, const Output& per_edge);

  int64_t num_phases() const { return num_phases_; }
  int64_t num_edges() const { return num_edges_; }
  int64_t num_columns() const { return num_columns_; }
  bool has_per_edge() const { return has_per_edge_; }
  int64_t batch_size() const { return batch_size_; }

  // Whether all models have the same edges.
  bool shares_indices() const {
    const int64_t* strides = strides_[kIndices];
    return std::all_of(strides, strides + rank_,
                       [](int64_t stride) { return stride == 0; });
  }

  // Where a model's part of an operand begins.
  int64_t Offset(Operand operand, int64_t model) const;

 private:
  const char* Merge(Operand operand, const Shape& shape);
  const char* CheckEvents(const LinearSystem& system);
  const char* CheckOutput(const Shape& shape, int64_t rows, int64_t columns,
                          const char* name) const;

  int64_t num_phases_ = 0;
  int64_t num_edges_ = 0;
  int64_t num_columns_ = 0;
  bool has_per_edge_ = false;
  int32_t rank_ = 0;  // of the batch
  int64_t batch_[kMaxRank] = {};
  int64_t batch_size_ = 1;
  int64_t strides_[4][kMaxRank] = {};
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SYSTEM_LAYOUT_H_
