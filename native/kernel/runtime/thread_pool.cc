#include "native/kernel/runtime/thread_pool.h"

#include <pthread.h>
#include <signal.h>
#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "native/kernel/runtime/of_process.h"
#include "native/kernel/runtime/parallel.h"

namespace phasic {
namespace {

constexpr int kMaxDefaultThreads = 8;
// The largest number of pending offers. Further ones are dropped, and their
// callers work alone.
constexpr size_t kMaxOffers = 1024;

int NumProcessors() {
#if defined(__linux__)
  // Counts only the processors that this process may use. In containers these
  // are often fewer than the machine has.
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    return std::max(1, CPU_COUNT(&allowed));
  }
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int InitialMaxThreads() {
  const int fallback = std::min(NumProcessors(), kMaxDefaultThreads);
  const char* text = std::getenv("PHASIC_NUM_THREADS");
  if (text == nullptr || *text == '\0') return fallback;
  char* end = nullptr;
  const int64_t count = std::strtoll(text, &end, 10);
  if (*end == '\0' && count >= 1 && count <= kMaxThreadsLimit) {
    return static_cast<int>(count);
  }
  // This runs while the library is loaded, when no caller can receive an error.
  // So it prints a warning, as OpenMP does.
  std::fprintf(stderr,
               "phasic: PHASIC_NUM_THREADS is '%s': it must be an integer from "
               "1 to %d; %d is used\n",
               text, kMaxThreadsLimit, fallback);
  return fallback;
}

std::atomic<int> max_threads{InitialMaxThreads()};

// The pool of helper threads of one process.
class Pool {
 public:
  void Offer(const std::shared_ptr<Job>& job, int64_t count) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (; count > 0 && offers_.size() < kMaxOffers; --count) {
      offers_.push_back(job);
      if (num_idle_ < offers_.size()) StartThread();
      offered_.notify_one();
    }
  }

 private:
  void StartThread() {
    if (num_threads_ + 1 >= MaxThreads()) return;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    ++num_threads_;
    try {
      std::thread([this] { Serve(); }).detach();
    } catch (const std::exception&) {
      --num_threads_;  // The offer stays for another thread.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  [[noreturn]] void Serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      ++num_idle_;
      offered_.wait(lock, [this] { return !offers_.empty(); });
      --num_idle_;
      std::shared_ptr<Job> job = std::move(offers_.front());
      offers_.pop_front();
      lock.unlock();
      Help(job.get());
      job.reset();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable offered_;
  std::deque<std::shared_ptr<Job>> offers_;
  size_t num_idle_ = 0;
  int num_threads_ = 0;
};

class OwnExecutor final : public Executor {
 public:
  int64_t num_helpers() override { return MaxThreads() - 1; }
  void Offer(const std::shared_ptr<Job>& job, int64_t count) override {
    OfProcess<Pool>::Get()->Offer(job, count);
  }
};

// The executor is never destroyed, as threads may make calls while the process
// exits.
Executor* const own_threads = new OwnExecutor;

}  // namespace

int MaxThreads() { return max_threads.load(std::memory_order_relaxed); }

bool SetMaxThreads(int count) {
  if (count < 1 || count > kMaxThreadsLimit) return false;
  max_threads.store(count, std::memory_order_relaxed);
  return true;
}

Executor* OwnThreads() { return own_threads; }

}  // namespace phasic
