// Work split among threads of which only the calling one is sure to come.
//
// An atomic counter hands out chunks. The caller works too; other threads are
// offered the job and may come late or never. The caller waits only for chunks
// that another thread has begun, so it never waits for a thread that waits for
// it, however many calls there are and whatever pool they share.

#ifndef PHASIC_NATIVE_KERNEL_RUNTIME_PARALLEL_H_
#define PHASIC_NATIVE_KERNEL_RUNTIME_PARALLEL_H_

#include <cstdint>
#include <memory>

namespace phasic {

// Runs one chunk; returns nullptr or, as a literal, what went wrong.
using ChunkFunction = const char* (*)(const void* context, int64_t chunk);

// Chunks, and who has done them. Shared by all that were offered it; a helper
// that comes when all chunks are given out touches nothing but the job.
class Job;

// Works on chunks until there are none left. Never throws.
void Help(Job* job);

// Other threads. An object is called from many threads at once.
class Executor {
 public:
  Executor() = default;
  virtual ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // The largest number of threads that may come.
  virtual int64_t num_helpers() = 0;

  // Asks `count` threads to call Help(job) at any time, or never.
  virtual void Offer(const std::shared_ptr<Job>& job, int64_t count) = 0;
};

// The largest number of threads that work on one call on this executor, the
// calling one included: bounded by MaxThreads() too.
int64_t NumThreads(Executor* executor);

// Runs chunks 0 to num_chunks - 1, each once, in any order. Returns the message
// of the first chunk, by number, that has one; rethrows what a chunk threw if
// that was the first.
const char* ParallelFor(Executor* executor, int64_t num_chunks,
                        ChunkFunction function, const void* context);

// The same for `function(chunk)`.
template <class Function>
const char* ParallelFor(Executor* executor, int64_t num_chunks,
                        const Function& function) {
  return ParallelFor(
      executor, num_chunks,
      [](const void* context, int64_t chunk) -> const char* {
        return (*static_cast<const Function*>(context))(chunk);
      },
      &function);
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_RUNTIME_PARALLEL_H_
