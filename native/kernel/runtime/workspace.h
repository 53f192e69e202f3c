// Bounded scratch memory of one thread. The kernel is built for several
// instruction sets, and all these builds share this class. Each of its
// functions is either always inlined or never: otherwise the linker might use
// one build's copy of a function in another build.
//
// A workspace's limit does not depend on the number of threads, so that results
// do not depend on this number. To bound the memory of all threads together,
// only one thread at a time may have more than kOwnBytes in a workspace. A
// workspace that needs more waits for its turn, and keeps the turn until Reset.

#ifndef PHASIC_NATIVE_KERNEL_RUNTIME_WORKSPACE_H_
#define PHASIC_NATIVE_KERNEL_RUNTIME_WORKSPACE_H_

#include <cstddef>
#include <cstring>

#include "native/kernel/runtime/memory_guard.h"

namespace phasic {

class Executor;  // See parallel.h.

class Workspace {
 public:
  static constexpr size_t kOwnBytes = size_t{1} << 27;

  // If takes_turns is false, the workspace never waits for a turn. This is for
  // memory that a thread keeps while it waits for other threads, which may need
  // the turn.
  explicit Workspace(size_t limit_bytes, bool takes_turns = true);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Returns uninitialized memory aligned to 64 bytes, which is valid until
  // Reset. Returns nullptr if the limit would be exceeded or the system has no
  // memory.
  [[gnu::always_inline]] void* Allocate(size_t count, size_t item_bytes) {
    size_t bytes;
    if (__builtin_mul_overflow(count, item_bytes, &bytes) ||
        bytes > limit_bytes_) {
      return nullptr;
    }
    // Takes at least one byte, since distinct arrays must have distinct
    // addresses.
    const size_t taken = bytes / kAlignment * kAlignment + kAlignment;
    if (taken > room_ && !MakeRoom(taken)) return nullptr;
    void* result = next_;
    next_ += taken;
    room_ -= taken;
    OpenMemory(result, bytes);
    return result;
  }

  // Returns the size of the memory that is allocated, in use or not.
  size_t total_bytes() const { return total_bytes_; }

  // The threads that may help with work on this memory; nullptr if there are
  // none.
  Executor* helpers() const { return helpers_; }
  void SetHelpers(Executor* helpers) { helpers_ = helpers; }

  // Makes all memory available again. A few megabytes stay allocated for the
  // next use.
  void Reset();

  // Returns memory filled with zeros, otherwise like Allocate.
  [[gnu::always_inline]] void* AllocateZeros(size_t count, size_t item_bytes) {
    void* result = Allocate(count, item_bytes);
    if (result == nullptr) return nullptr;
    if (kGuardsMemory) return std::memset(result, 0, count * item_bytes);
    // Clears one cache line at a time, as most arrays have only a few lines.
    for (char* line = static_cast<char*>(result); line != next_;
         line += kAlignment) {
      std::memset(line, 0, kAlignment);
    }
    return result;
  }

 private:
  static constexpr size_t kAlignment = 64;
  struct Chunk {
    Chunk* next;
    size_t size;
  };
  // Adds a chunk with room for at least `bytes`. Returns false if there is no
  // memory.
  bool MakeRoom(size_t bytes);
  bool AddChunk(size_t size);
  void UseChunk();
  void FreeAll();
  void ReleaseTurn();

  const size_t limit_bytes_;
  const bool takes_turns_;
  bool has_turn_ = false;
  size_t total_bytes_ = 0;
  Chunk* chunks_ = nullptr;
  char* next_ = nullptr;  // free part of the first chunk
  size_t room_ = 0;
  Executor* helpers_ = nullptr;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_RUNTIME_WORKSPACE_H_
