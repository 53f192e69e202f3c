// The threads of our own, for callers that bring none, and how many threads a
// call may use.

#ifndef PHASIC_NATIVE_KERNEL_RUNTIME_THREAD_POOL_H_
#define PHASIC_NATIVE_KERNEL_RUNTIME_THREAD_POOL_H_

namespace phasic {

class Executor;  // See parallel.h.

constexpr int kMaxThreadsLimit = 256;

// How many threads one call may use, the calling one included, whichever
// executor it has. At first PHASIC_NUM_THREADS, or else the number of
// processors that this process may use, at most eight.
int MaxThreads();

// For calls that begin later. False, and nothing done, if not from 1 to
// kMaxThreadsLimit.
bool SetMaxThreads(int count);

// Our own pool. Threads are started when there is work for them, never stopped,
// and never waited for when the process ends. They take no signals. After
// fork, the child starts threads of its own.
Executor* OwnThreads();

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_RUNTIME_THREAD_POOL_H_
