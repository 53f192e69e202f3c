// A growing list of blocks in a workspace. Appending never moves the blocks.

#ifndef PHASIC_NATIVE_KERNEL_SIMD_BLOCK_LIST_H_
#define PHASIC_NATIVE_KERNEL_SIMD_BLOCK_LIST_H_

#include <cstdint>

#include "native/kernel/runtime/workspace.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

template <class B>
class BlockList {
 public:
  explicit BlockList(Workspace* workspace) : workspace_(workspace) {}

  int64_t size() const { return size_; }
  B& operator[](int64_t i) const { return *blocks_[i]; }

  // Appends an uninitialized block and returns it; returns nullptr if memory
  // does not suffice.
  B* Append() {
    if (size_ == capacity_ && !Grow()) return nullptr;
    B* block = static_cast<B*>(workspace_->Allocate(1, sizeof(B)));
    if (block != nullptr) blocks_[size_++] = block;
    return block;
  }

  void RemoveLast() { --size_; }

 private:
  bool Grow() {
    const int64_t capacity = capacity_ == 0 ? 64 : 2 * capacity_;
    B** blocks = static_cast<B**>(
        workspace_->Allocate(static_cast<size_t>(capacity), sizeof(B*)));
    if (blocks == nullptr) return false;
    for (int64_t i = 0; i < size_; ++i) blocks[i] = blocks_[i];
    blocks_ = blocks;
    capacity_ = capacity;
    return true;
  }

  Workspace* workspace_;
  B** blocks_ = nullptr;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SIMD_BLOCK_LIST_H_
