// Scratch memory for calls, one per thread.

#ifndef PHASIC_NATIVE_KERNEL_RUNTIME_THREAD_MEMORY_H_
#define PHASIC_NATIVE_KERNEL_RUNTIME_THREAD_MEMORY_H_

#include <cstddef>

#include "native/kernel/runtime/workspace.h"

namespace phasic {

// The bound for a model, and for a thread; see workspace.h.
constexpr size_t kMemoryLimitBytes = size_t{1} << 30;

// Scratch memory that is kept between calls: fresh pages cost more than a small
// model's sweep.
class ThreadMemory {
 public:
  // `kCall` is for the calling thread's share of a call, `kRange` and `kSweep`
  // are for a range of models: a thread may use all three at once.
  enum Use { kCall, kRange, kSweep };

  // Helpers do not get this memory: it belongs to this thread.
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
