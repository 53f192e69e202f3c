#include "native/kernel/runtime/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "native/kernel/runtime/thread_pool.h"
#include "native/kernel/runtime/work_limit.h"

namespace phasic {
namespace {

// The outcome of a job: success, or the failure with the lowest chunk number.
struct Outcome {
  int64_t chunk = INT64_MAX;
  const char* error = nullptr;
  std::exception_ptr exception;

  void Merge(Outcome&& other) {
    if (other.chunk < chunk) *this = std::move(other);
  }
  const char* Report() const {
    if (exception != nullptr) std::rethrow_exception(exception);
    return error;
  }
};

}  // namespace

class Job {
 public:
  Job(int64_t num_chunks, ChunkFunction function, const void* context)
      : num_chunks_(num_chunks),
        function_(function),
        context_(context),
        call_(StoppableCall::Current()) {}

  void Work() noexcept {
    Outcome outcome;
    int64_t done = 0;
    int64_t chunk;
    while ((chunk = next_.fetch_add(1, std::memory_order_relaxed)) <
           num_chunks_) {
      Run(chunk, &outcome);
      ++done;
    }
    if (done == 0) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    outcome_.Merge(std::move(outcome));
    num_done_ += done;
    // Notifies while holding the lock. Without the lock, the waiting caller
    // might already have destroyed the job.
    if (num_done_ == num_chunks_) all_done_.notify_one();
  }

  // Waits until all chunks are done. Every chunk must have begun. Returns the
  // outcome's message or rethrows its exception.
  const char* Wait() {
    constexpr std::chrono::milliseconds kBetweenQuestions{50};
    const auto are_done = [this] { return num_done_ == num_chunks_; };
    std::unique_lock<std::mutex> lock(mutex_);
    while (!all_done_.wait_for(lock, kBetweenQuestions, are_done)) {
      lock.unlock();
      IsStopped();  // If so, the threads that still work see it, too.
      lock.lock();
    }
    // Moves the outcome out of the job. Otherwise a helper that is the last
    // owner of the job might free an exception that the caller still uses.
    const Outcome outcome = std::move(outcome_);
    return outcome.Report();
  }

 private:
  void Run(int64_t chunk, Outcome* outcome) noexcept {
    const HelpedCall call(call_);
    if (IsStopped()) return;
    Outcome result;
    try {
      result.error = function_(context_, chunk);
    } catch (...) {
      result.exception = std::current_exception();
    }
    if (result.error == nullptr && result.exception == nullptr) return;
    result.chunk = chunk;
    outcome->Merge(std::move(result));
  }

  const int64_t num_chunks_;
  const ChunkFunction function_;
  // Valid while a chunk is left or being run.
  const void* const context_;
  StoppableCall* const call_;
  std::atomic<int64_t> next_{0};
  std::mutex mutex_;
  std::condition_variable all_done_;
  int64_t num_done_ = 0;
  Outcome outcome_;
};

namespace {

// Returns a new job, or nullptr if memory does not suffice; then the caller
// works alone.
std::shared_ptr<Job> MakeJob(int64_t num_chunks, ChunkFunction function,
                             const void* context) {
  try {
    return std::make_shared<Job>(num_chunks, function, context);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void Offer(const std::shared_ptr<Job>& job, int64_t count, Executor* executor) {
  try {
    executor->Offer(job, count);
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace

Executor::~Executor() = default;

void Help(Job* job) { job->Work(); }

int64_t NumThreads(Executor* executor) {
  const int64_t limit = MaxThreads();
  if (limit == 1) return 1;
  return std::min(limit, executor->num_helpers() + 1);
}

const char* ParallelFor(Executor* executor, int64_t num_chunks,
                        ChunkFunction function, const void* context) {
  if (num_chunks <= 0) return nullptr;
  const int64_t helpers = std::min(NumThreads(executor), num_chunks) - 1;
  if (helpers > 0) {
    const std::shared_ptr<Job> job = MakeJob(num_chunks, function, context);
    if (job != nullptr) {
      Offer(job, helpers, executor);
      job->Work();
      return job->Wait();
    }
  }
  Job alone(num_chunks, function, context);
  alone.Work();
  return alone.Wait();
}

}  // namespace phasic
