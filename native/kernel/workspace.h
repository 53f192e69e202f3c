// Scratch memory of one thread, with a bound. Not inline: shared by the builds
// for different instruction sets.
//
// A workspace's own bound does not depend on how many threads there are, or
// results would. So that many threads stay within a bound together, all but
// one have kOwnBytes at most: for more a workspace waits until no other thread
// has more, and keeps that turn until Reset.

#ifndef PHASIC_NATIVE_KERNEL_WORKSPACE_H_
#define PHASIC_NATIVE_KERNEL_WORKSPACE_H_

#include <cstddef>

namespace phasic {

class Workspace {
 public:
  static constexpr size_t kOwnBytes = size_t{1} << 27;

  // A workspace that does not take turns is for memory that is kept while its
  // thread waits for others.
  explicit Workspace(size_t limit_bytes, bool takes_turns = true);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Uninitialised memory aligned to 64 bytes, or nullptr above the limit or
  // when the system has none. Valid until Reset.
  void* Allocate(size_t count, size_t item_bytes);

  // Makes all memory available again; keeps a few megabytes for the next use.
  void Reset();

 private:
  struct Chunk {
    Chunk* next;
    size_t size;
    size_t used;
  };
  Chunk* NewChunk(size_t size);
  void FreeAll();
  void ReleaseTurn();

  const size_t limit_bytes_;
  const bool takes_turns_;
  bool has_turn_ = false;
  size_t total_bytes_ = 0;
  Chunk* chunks_ = nullptr;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_WORKSPACE_H_
