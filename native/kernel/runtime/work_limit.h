// The limit on the work that one model may take, and calls that can be stopped.

#ifndef PHASIC_NATIVE_KERNEL_RUNTIME_WORK_LIMIT_H_
#define PHASIC_NATIVE_KERNEL_RUNTIME_WORK_LIMIT_H_

#include <cstdint>

namespace phasic {

// The default of MaxWork: about a minute on one core.
constexpr double kDefaultMaxWork = 1e11;

// Returns the most multiply-adds that the power sequence of one model may take.
double MaxWork();

// Sets MaxWork for sequences that begin later; infinity is no limit. Returns
// false, without changing it, unless it is positive.
bool SetMaxWork(double multiply_adds);

// Returns whether `count` squarings of p x p matrices, all of which are kept,
// are within the limits of work and of memory. `cost` is that of a multiply-add
// relative to one of doubles, and `size` that of an entry.
bool MaySquare(int64_t p, double count, double cost, double size);

// While an object of this class exists, long computations of the thread that
// made it call `must_stop` now and then. Once it has returned true they end
// early, and their results are NaN.
class StoppableCall {
 public:
  using MustStop = bool (*)();

  explicit StoppableCall(MustStop must_stop);
  ~StoppableCall();
  StoppableCall(const StoppableCall&) = delete;
  StoppableCall& operator=(const StoppableCall&) = delete;

 private:
  friend bool IsStopped();

  const MustStop must_stop_;
  StoppableCall* const before_;
  bool is_stopped_ = false;
};

// Returns whether the call of this thread has to end early. It takes up to some
// microseconds, and belongs after some milliseconds of work.
bool IsStopped();

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_RUNTIME_WORK_LIMIT_H_
