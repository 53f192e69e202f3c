// The limit on the work that one model may take, and calls that can be stopped.

#ifndef PHASIC_NATIVE_KERNEL_RUNTIME_WORK_LIMIT_H_
#define PHASIC_NATIVE_KERNEL_RUNTIME_WORK_LIMIT_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace phasic {

// The default of MaxWork: about a minute on one core.
constexpr double kDefaultMaxWork = 1e11;

// Returns the most multiply-adds that the power sequence of one model may take.
double MaxWork();

// Sets MaxWork for sequences that begin later; infinity is no limit. Returns
// false, without changing it, unless it is positive.
bool SetMaxWork(double multiply_adds);

// Steps of more multiply-adds take their numbers, some 10 bytes for each, from
// memory and not from caches, and count twice.
constexpr double kWorkInCaches = 2e6;

// Returns the multiply-adds of one step of a power sequence of p phases with
// this number of cells, the transitions.
inline double WorkOfStep(double cells, int64_t p) {
  const double work = cells + 3.0 * static_cast<double>(p);
  return work > kWorkInCaches ? 2.0 * work : work;
}

// Returns whether `count` squarings of p x p matrices, all of which are kept,
// are within the limits of work and of memory. `cost` is that of a multiply-add
// relative to one of doubles, and `size` that of an entry.
bool MaySquare(int64_t p, double count, double cost, double size);

// While an object of this class exists, long computations of the thread that
// made it call `must_stop` about every 50 ms. Once it has returned true they
// end early, also those of threads that help, and their results are
// meaningless.
class StoppableCall {
 public:
  using MustStop = bool (*)();

  explicit StoppableCall(MustStop must_stop);
  ~StoppableCall();
  StoppableCall(const StoppableCall&) = delete;
  StoppableCall& operator=(const StoppableCall&) = delete;

  // The call of this thread, or nullptr.
  static StoppableCall* Current();

 private:
  friend bool IsStopped();

  bool Ask();

  const MustStop must_stop_;
  StoppableCall* const before_;
  const std::thread::id thread_;
  std::chrono::steady_clock::time_point last_asked_;
  std::atomic<bool> is_stopped_{false};
};

// While an object of this class exists, its thread helps with another thread's
// call, which may be nullptr and must live as long: it stops with that call.
class HelpedCall {
 public:
  explicit HelpedCall(StoppableCall* call);
  ~HelpedCall();
  HelpedCall(const HelpedCall&) = delete;
  HelpedCall& operator=(const HelpedCall&) = delete;

 private:
  StoppableCall* const before_;
};

// Returns whether the call of this thread has to end early. It takes some 30
// nanoseconds, and belongs after microseconds of work.
bool IsStopped();

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_RUNTIME_WORK_LIMIT_H_
