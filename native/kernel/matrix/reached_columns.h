// The columns of a large sparse matrix that matter in a block of steps.
//
// A chain that starts in a few phases reaches few others in its first steps.
// All other entries of the states alpha P^k are zero, so that steps leave them
// out. Likewise, the last adjoints are nonzero only in phases near absorption.
// Moreover, adjoints are multiplied by states, so that they are not needed in
// columns where the states are zero.

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

// Sets all entries of a vector that are outside the given columns to zero.
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
  // Models with fewer phases do not gain from leaving out columns.
  static constexpr int64_t kLeastSize = 1024;

  // Finds the number of blocks of steps to each column from the phases for
  // which starts(i) is true, and from each column to the phases for which
  // ends(i) is true. Returns false if memory does not suffice.
  template <class Starts, class Ends>
  bool Build(const Structure& s, const EntryList& entries, const Starts& starts,
             const Ends& ends, Workspace* workspace) {
    num_parts_ = PaddedSize(entries.size) / kPart;
    from_start_ = AllocateRoom<int32_t>(workspace, num_parts_);
    to_end_ = AllocateRoom<int32_t>(workspace, num_parts_);
    spans_ = AllocateRoom<Span>(workspace, num_parts_);
    adjoint_spans_ = AllocateRoom<Span>(workspace, num_parts_);
    int32_t* steps = AllocateRoom<int32_t>(workspace, entries.size);
    int32_t* queue = AllocateRoom<int32_t>(workspace, entries.size);
    if (!from_start_ || !to_end_ || !spans_ || !adjoint_spans_ || !steps ||
        !queue) {
      return false;
    }
    Search(s.column_offsets, s.by_column, entries.rows, entries.size, ends,
           steps, queue);
    Group(steps, entries.size, [](int32_t n) { return n / kSteps; }, to_end_);
    Search(s.row_offsets, s.by_row, entries.columns, entries.size, starts,
           steps, queue);
    // Block b computes the states after b kBlock + 1 to (b + 1) kBlock steps.
    Group(
        steps, entries.size,
        [](int32_t n) { return n == 0 ? 0 : (n - 1) / kSteps; }, from_start_);
    for (int64_t n = 0; n < num_parts_; ++n) {
      if (from_start_[n] == kNever) continue;
      num_blocks_ = std::max(num_blocks_, int64_t{from_start_[n]} + 1);
    }
    return true;
  }

  // Returns the number of blocks of steps after which no further column can be
  // reached.
  int64_t num_blocks() const { return num_blocks_; }

  // Returns the columns in which states of this block can be nonzero. The
  // returned spans are valid until the next call.
  Columns OfStates(int64_t block) const {
    return Select(spans_, [&](int64_t n) { return from_start_[n] <= block; });
  }

  // Returns the columns in which adjoints of block number `block` can be
  // nonzero, if only absorption up to block number `last` is counted. Unless
  // `all` is true, leaves out columns in which the states of this block are
  // zero. The returned spans are valid until the next call.
  Columns OfAdjoints(int64_t block, int64_t last, bool all) const {
    return Select(adjoint_spans_, [&](int64_t n) {
      return to_end_[n] <= last - block && (all || from_start_[n] <= block);
    });
  }

 private:
  static constexpr int64_t kPart = 8;
  static constexpr int32_t kSteps = kBlock;
  static constexpr int32_t kNever = INT32_MAX;

  // Computes the least number of steps that lead to each phase from any phase
  // for which is_first(i) is true. Each entry of the matrix is a possible step.
  template <class IsFirst>
  static void Search(const int64_t* offsets, const int32_t* order,
                     const int32_t* targets, int64_t size,
                     const IsFirst& is_first, int32_t* steps, int32_t* queue) {
    int64_t last = 0;
    for (int64_t i = 0; i < size; ++i) {
      steps[i] = is_first(i) ? 0 : kNever;
      if (is_first(i)) queue[last++] = static_cast<int32_t>(i);
    }
    for (int64_t next = 0; next < last; ++next) {
      const int32_t i = queue[next];
      for (int64_t n = offsets[i]; n < offsets[i + 1]; ++n) {
        const int32_t target = targets[order[n]];
        if (steps[target] != kNever) continue;
        steps[target] = steps[i] + 1;
        queue[last++] = target;
      }
    }
  }

  // Computes for each part (eight columns) the least block in which one of its
  // columns is reached.
  template <class BlockOf>
  void Group(const int32_t* steps, int64_t size, const BlockOf& block_of,
             int32_t* blocks) const {
    std::fill(blocks, blocks + num_parts_, kNever);
    for (int64_t i = 0; i < size; ++i) {
      if (steps[i] == kNever) continue;
      int32_t* block = &blocks[i / kPart];
      *block = std::min<int32_t>(*block, block_of(steps[i]));
    }
  }

  template <class IsIn>
  Columns Select(Span* spans, const IsIn& is_in) const {
    int64_t count = 0;
    for (int64_t n = 0; n < num_parts_; ++n) {
      if (!is_in(n)) continue;
      const int64_t begin = n * kPart;
      if (count > 0 && spans[count - 1].end == begin) {
        spans[count - 1].end += kPart;
      } else {
        spans[count++] = {begin, begin + kPart};
      }
    }
    return {spans, count};
  }

  int64_t num_parts_ = 0;  // of eight columns each
  int64_t num_blocks_ = 0;
  int32_t* from_start_ = nullptr;  // [num_parts], blocks
  int32_t* to_end_ = nullptr;      // [num_parts], blocks
  Span* spans_ = nullptr;
  Span* adjoint_spans_ = nullptr;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_REACHED_COLUMNS_H_
