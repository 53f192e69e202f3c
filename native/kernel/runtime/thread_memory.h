// Scratch memory for calls; each thread has its own.

#ifndef PHASIC_NATIVE_KERNEL_RUNTIME_THREAD_MEMORY_H_
#define PHASIC_NATIVE_KERNEL_RUNTIME_THREAD_MEMORY_H_

#include <cstddef>

#include "native/kernel/runtime/workspace.h"

namespace phasic {

// The memory limit for one model, and for the scratch memory of one thread; see
// workspace.h.
constexpr size_t kMemoryLimitBytes = size_t{1} << 30;

// Scratch memory that a thread keeps between calls. Allocating fresh pages in
// each call would cost more than the sweep over a small model.
class ThreadMemory {
 public:
  // The purpose of the memory: kCall is for the calling thread's part of a
  // call, kRange and kSweep are for a range of models. A thread may use all
  // three at once.
  enum Use { kCall, kRange, kSweep };

  // `helpers` are threads that may help with work on this memory. The memory
  // belongs to this thread, not to the helpers.
  explicit ThreadMemory(Use use, Executor* helpers = nullptr)
      : workspace_(Of(use)) {
    workspace_->SetHelpers(helpers);
  }
  ~ThreadMemory() {
    workspace_->SetHelpers(nullptr);
    workspace_->Reset();
  }
  ThreadMemory(const ThreadMemory&) = delete;
  ThreadMemory& operator=(const ThreadMemory&) = delete;

  Workspace* get() const { return workspace_; }

 private:
  static Workspace* Of(Use use) {
    struct Workspaces {
      Workspace call{kMemoryLimitBytes, /*takes_turns=*/false};
      Workspace range{kMemoryLimitBytes};
      Workspace sweep{kMemoryLimitBytes};
    };
    thread_local Workspaces own;
    return use == kCall ? &own.call : use == kRange ? &own.range : &own.sweep;
  }

  Workspace* const workspace_;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_RUNTIME_THREAD_MEMORY_H_
