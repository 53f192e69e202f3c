#include "native/kernel/runtime/work_limit.h"

#include <atomic>

#include "native/kernel/runtime/thread_memory.h"

namespace phasic {
namespace {

std::atomic<double> max_work{kDefaultMaxWork};
thread_local StoppableCall* current_call = nullptr;

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
    : must_stop_(must_stop), before_(current_call) {
  current_call = this;
}

StoppableCall::~StoppableCall() { current_call = before_; }

bool IsStopped() {
  StoppableCall* const call = current_call;
  if (call == nullptr) return false;
  if (!call->is_stopped_) call->is_stopped_ = call->must_stop_();
  return call->is_stopped_;
}

}  // namespace phasic
