// Distributes the chunks of a job among threads. Only the calling thread is
// certain to run.
//
// An atomic counter hands out chunks. The caller takes chunks, and offers the
// job to other threads, which may help late or never. The caller waits only for
// chunks that another thread has begun. So calls that share a pool never wait
// for each other in a circle.

#ifndef PHASIC_NATIVE_KERNEL_RUNTIME_PARALLEL_H_
#define PHASIC_NATIVE_KERNEL_RUNTIME_PARALLEL_H_

#include <cstdint>
#include <memory>

namespace phasic {

// Runs one chunk; returns nullptr or a string literal that describes the error.
using ChunkFunction = const char* (*)(const void* context, int64_t chunk);

// The chunks of one ParallelFor and their state. All threads to which the job
// was offered share it. A helper that comes after all chunks were handed out
// accesses only the Job, since the caller's data may no longer exist.
class Job;

// Runs chunks of the job until none are left. Never throws.
void Help(Job* job);

// An interface to other threads that may help. Its methods are called from many
// threads at once.
class Executor {
 public:
  Executor() = default;
  virtual ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Returns the largest number of threads that may help the calling one.
  virtual int64_t num_helpers() = 0;

  // Asks `count` threads to call Help(job), which they may do at any time or
  // never.
  virtual void Offer(const std::shared_ptr<Job>& job, int64_t count) = 0;
};

// Returns the largest number of threads that work on one call with this
// executor, including the calling one. It is at most MaxThreads().
int64_t NumThreads(Executor* executor);

// Runs the chunks 0 to num_chunks - 1, each once, in any order. If chunks fail,
// the one with the lowest number counts: returns its message or rethrows its
// exception. If none fails, returns nullptr.
const char* ParallelFor(Executor* executor, int64_t num_chunks,
                        ChunkFunction function, const void* context);

// Runs `function(chunk)` for each chunk, like the other ParallelFor.
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
