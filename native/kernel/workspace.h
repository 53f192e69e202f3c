// Scratch memory of one call, with a bound. Not inline: shared by the builds
// for different instruction sets.

#ifndef PHASIC_NATIVE_KERNEL_WORKSPACE_H_
#define PHASIC_NATIVE_KERNEL_WORKSPACE_H_

#include <cstddef>

namespace phasic {

class Workspace {
 public:
  explicit Workspace(size_t limit_bytes);
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

  size_t limit_bytes_;
  size_t total_bytes_ = 0;
  Chunk* chunks_ = nullptr;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_WORKSPACE_H_
