// Keeps some states v_k of the forward pass within a memory budget. The
// backward pass recomputes the states between them.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_CHECKPOINTS_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_CHECKPOINTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "native/kernel/runtime/workspace.h"
#include "native/kernel/simd/block_list.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/power_walk.h"

namespace phasic {
namespace PHASIC_ISA {

// The memory for the kept states of one sequence, in bytes. The backward pass
// allocates half as much in addition.
constexpr int64_t kCheckpointBytes = int64_t{1} << 26;
constexpr int64_t kLeastCheckpoints = 8;

template <class T>
class Checkpoints {
 public:
  Checkpoints(int64_t bytes, Workspace* workspace)
      : bytes_(bytes), workspace_(workspace), kept_(workspace) {}

  // Receives the state at the start of each block, for consecutive blocks.
  // Keeps every n-th of these states. If too many are kept, n is doubled and
  // every other state is dropped. Returns false if memory does not suffice.
  bool Show(int64_t block, const PowerWalk<T>& walk) {
    if (size_ == 0) {
      first_ = block;
      most_ = std::max(kLeastCheckpoints, bytes_ / BytesOf(walk));
    }
    if ((block - first_) % spacing_ != 0) return true;
    while (size_ >= most_) {
      spacing_ *= 2;
      Thin();
      if ((block - first_) % spacing_ != 0) return true;
    }
    return Keep(block, walk);
  }

  // Sets `walk` to the state at the start of a block that Show received. Blocks
  // must be requested in descending order, as the states of later blocks are
  // dropped. advance(b) must move `walk` from the start of block b to the start
  // of block b + 1. Returns false if memory does not suffice.
  template <class Advance>
  bool Restore(int64_t block, PowerWalk<T>* walk, const Advance& advance) {
    while (kept_[size_ - 1].block > block) --size_;
    const Kept& last = kept_[size_ - 1];
    Copy(last.state, walk->stride(), walk->state());
    Copy(last.low, walk->stride(), walk->low());
    walk->GoBack();
    // Keeps some states before `block`, because earlier blocks are requested
    // next.
    const int64_t begin = last.block;
    const int64_t room = most_ + most_ / 2 - size_ + 1;
    const int64_t spacing = (block - begin + room - 1) / room;
    for (int64_t b = begin; b < block;) {
      advance(b);
      ++b;
      if (b < block && (b - begin) % spacing == 0 && !Keep(b, *walk)) {
        return false;
      }
    }
    return true;
  }

 private:
  struct Kept {
    int64_t block;
    T* state;
    T* low;
  };

  static int64_t BytesOf(const PowerWalk<T>& walk) {
    return 2 * walk.stride() * static_cast<int64_t>(sizeof(T));
  }

  bool Keep(int64_t block, const PowerWalk<T>& walk) {
    // Reuses the memory of an item that was dropped, if there is one.
    if (size_ == kept_.size()) {
      Kept* more = kept_.Append();
      if (more == nullptr) return false;
      more->state = Allocate(walk.stride());
      more->low = Allocate(walk.stride());
      if (more->state == nullptr || more->low == nullptr) {
        kept_.RemoveLast();
        return false;
      }
    }
    Kept& kept = kept_[size_++];
    kept.block = block;
    Copy(walk.state(), walk.stride(), kept.state);
    Copy(walk.low(), walk.stride(), kept.low);
    return true;
  }

  void Thin() {
    int64_t size = 0;
    for (int64_t n = 0; n < size_; ++n) {
      if ((kept_[n].block - first_) % spacing_ != 0) continue;
      std::swap(kept_[size++], kept_[n]);
    }
    size_ = size;
  }

  T* Allocate(int64_t count) {
    return static_cast<T*>(
        workspace_->Allocate(static_cast<size_t>(count), sizeof(T)));
  }
  static void Copy(const T* from, int64_t count, T* to) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
  }

  const int64_t bytes_;
  Workspace* workspace_;
  BlockList<Kept> kept_;  // the first size_ are valid, blocks ascending
  int64_t size_ = 0;
  int64_t most_ = 0;
  int64_t first_ = 0;
  int64_t spacing_ = 1;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_CHECKPOINTS_H_
