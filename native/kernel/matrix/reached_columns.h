// The columns of a large sparse matrix that a chain can have reached.
//
// A chain that starts in a few phases reaches few others in its first steps.
// All other entries of the states alpha P^k are zero, so that steps leave them
// out: of the states, and of what is multiplied by them.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_REACHED_COLUMNS_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_REACHED_COLUMNS_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/matrix/power_block.h"
#include "native/kernel/matrix/structure.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// A range of columns; both ends are multiples of eight.
struct Span {
  int64_t begin;
  int64_t end;
};

// Ranges of columns, ascending; all columns if `spans` is null.
struct Columns {
  const Span* spans = nullptr;
  int64_t count = 0;

  bool are_all() const { return spans == nullptr; }
};

// Calls visit(begin, end) for the ranges; `size` is the number of all columns.
template <class Visit>
[[gnu::always_inline]] inline void ForEachSpan(const Columns& columns,
                                               int64_t size,
                                               const Visit& visit) {
  if (columns.are_all()) return visit(0, size);
  for (int64_t n = 0; n < columns.count; ++n) {
    visit(columns.spans[n].begin, std::min(columns.spans[n].end, size));
  }
}

// Sets the entries of a vector to zero that are not in the columns.
template <class T>
void ClearOthers(const Columns& columns, int64_t stride, T* vector) {
  if (columns.are_all()) return;
  int64_t begin = 0;
  for (int64_t n = 0; n <= columns.count; ++n) {
    const int64_t end = n < columns.count ? columns.spans[n].begin : stride;
    std::fill(vector + begin, vector + end, T(0.0));
    if (n < columns.count) begin = columns.spans[n].end;
  }
}

class ReachedColumns {
 public:
  // Smaller models gain nothing.
  static constexpr int64_t kLeastSize = 1024;

  // Computes in which block of steps each column is first reached along the
  // entries, from phases for which starts(i) is true. Returns false if memory
  // does not suffice.
  template <class Starts>
  bool Build(const Structure& structure, const EntryList& entries,
             const Starts& starts, Workspace* workspace) {
    num_parts_ = PaddedSize(entries.size) / kPart;
    blocks_ = AllocateRoom<int32_t>(workspace, num_parts_);
    spans_ = AllocateRoom<Span>(workspace, num_parts_);
    int32_t* distances = AllocateRoom<int32_t>(workspace, entries.size);
    int32_t* queue = AllocateRoom<int32_t>(workspace, entries.size);
    if (!blocks_ || !spans_ || !distances || !queue) return false;
    int64_t last = 0;
    for (int64_t i = 0; i < entries.size; ++i) {
      distances[i] = starts(i) ? 0 : kNever;
      if (starts(i)) queue[last++] = static_cast<int32_t>(i);
    }
    for (int64_t next = 0; next < last; ++next) {
      const int32_t i = queue[next];
      for (int64_t n = structure.row_offsets[i];
           n < structure.row_offsets[i + 1]; ++n) {
        const int32_t target = entries.columns[structure.by_row[n]];
        if (distances[target] != kNever) continue;
        distances[target] = distances[i] + 1;
        queue[last++] = target;
      }
    }
    num_blocks_ = last > 0 ? BlockOf(distances[queue[last - 1]]) + 1 : 0;
    std::fill(blocks_, blocks_ + num_parts_, kNever);
    for (int64_t n = 0; n < last; ++n) {
      int32_t* block = &blocks_[queue[n] / kPart];
      *block = std::min(*block, BlockOf(distances[queue[n]]));
    }
    return true;
  }

  // Returns the number of blocks of steps until all columns are reached that
  // ever are.
  int64_t num_blocks() const { return num_blocks_; }

  // Returns the columns that are reached by the end of a block of steps. They
  // are valid until the next call.
  Columns Of(int64_t block) const {
    if (block != current_) {
      current_ = block;
      count_ = 0;
      for (int64_t n = 0; n < num_parts_; ++n) {
        if (blocks_[n] > block) continue;
        const int64_t begin = n * kPart;
        if (count_ > 0 && spans_[count_ - 1].end == begin) {
          spans_[count_ - 1].end += kPart;
        } else {
          spans_[count_++] = {begin, begin + kPart};
        }
      }
    }
    return {spans_, count_};
  }

 private:
  static constexpr int64_t kPart = 8;
  static constexpr int32_t kNever = INT32_MAX;

  // The last state that is computed in block b is that after (b + 1) kBlock
  // steps.
  static int32_t BlockOf(int32_t distance) {
    return distance == 0 ? 0 : (distance - 1) / static_cast<int32_t>(kBlock);
  }

  int64_t num_parts_ = 0;
  int64_t num_blocks_ = 0;
  int32_t* blocks_ = nullptr;  // for each eight columns
  mutable Span* spans_ = nullptr;
  mutable int64_t count_ = 0;
  mutable int64_t current_ = -1;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_REACHED_COLUMNS_H_
