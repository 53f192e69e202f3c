// The library's own threads, for callers that provide none, and the limit on
// threads per call.

#ifndef PHASIC_NATIVE_KERNEL_RUNTIME_THREAD_POOL_H_
#define PHASIC_NATIVE_KERNEL_RUNTIME_THREAD_POOL_H_

namespace phasic {

class Executor;  // See parallel.h.

constexpr int kMaxThreadsLimit = 256;

// Returns how many threads one call may use, including the calling one, with
// any executor. The default is the environment variable PHASIC_NUM_THREADS, or
// else the number of processors that this process may use, at most eight.
int MaxThreads();

// Sets the limit for calls that begin later. Returns false, without changing
// it, if count is not from 1 to kMaxThreadsLimit.
bool SetMaxThreads(int count);

// Returns the library's own thread pool. Threads are started when there is work
// for them. They are never stopped or waited for when the process exits, and
// they block signals. After a fork the child starts its own threads.
Executor* OwnThreads();

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_RUNTIME_THREAD_POOL_H_
