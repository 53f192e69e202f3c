#include "native/kernel/runtime/work_limit.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "native/kernel/runtime/thread_memory.h"

namespace phasic {
namespace {

std::atomic<double> max_work{kDefaultMaxWork};
thread_local StoppableCall* current_call = nullptr;

constexpr std::chrono::milliseconds kBetweenQuestions{50};

}  // namespace

double MaxWork() { return max_work.load(std::memory_order_relaxed); }

bool SetMaxWork(double multiply_adds) {
  if (!(multiply_adds > 0.0)) return false;
  max_work.store(multiply_adds, std::memory_order_relaxed);
  return true;
}

bool MaySquare(int64_t p, double count, double cost, double size) {
  // Besides the squares there are some dozen other matrices.
  constexpr double kOthers = 16.0;
  constexpr double kOfDouble = sizeof(double);
  const auto limit = static_cast<double>(kMemoryLimitBytes);
  const double entries = static_cast<double>(p) * static_cast<double>(p);
  return 2.0 * cost * entries * static_cast<double>(p) * count <= MaxWork() &&
         kOfDouble * size * entries * (count + kOthers) <= limit;
}

StoppableCall::StoppableCall(MustStop must_stop)
    : must_stop_(must_stop),
      before_(current_call),
      thread_(std::this_thread::get_id()),
      last_asked_(std::chrono::steady_clock::now()) {
  current_call = this;
}

StoppableCall::~StoppableCall() { current_call = before_; }

StoppableCall* StoppableCall::Current() { return current_call; }

// Only the thread of the call itself asks; those that help see the answer.
bool StoppableCall::Ask() {
  if (is_stopped_.load(std::memory_order_relaxed)) return true;
  if (std::this_thread::get_id() != thread_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_asked_ < kBetweenQuestions) return false;
  const bool must_stop = must_stop_();
  last_asked_ = std::chrono::steady_clock::now();
  is_stopped_.store(must_stop, std::memory_order_relaxed);
  return must_stop;
}

HelpedCall::HelpedCall(StoppableCall* call) : before_(current_call) {
  current_call = call;
}

HelpedCall::~HelpedCall() { current_call = before_; }

bool IsStopped() { return current_call != nullptr && current_call->Ask(); }

}  // namespace phasic
