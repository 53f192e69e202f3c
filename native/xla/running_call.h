// The calls of Python functions that are running, for an exit that is safe.
//
// A thread that is in Python when the interpreter goes is ended, with whatever
// C++ it was called from. So at exit no call begins, and running ones end.

#ifndef PHASIC_NATIVE_XLA_RUNNING_CALL_H_
#define PHASIC_NATIVE_XLA_RUNNING_CALL_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace phasic {

// One call, as long as it lives. Made first and asked then, so that no call
// slips through.
class RunningCall {
 public:
  RunningCall() {
    ++num_running_;
    ++num_running_here_;
  }
  ~RunningCall() {
    --num_running_;
    --num_running_here_;
  }
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

  // Of the calls that run, a forked process has those of one thread alone.
  static void CountInForks() {
    pthread_atfork(nullptr, nullptr, [] { num_running_ = num_running_here_; });
  }

  // Lets no call begin any more.
  static void Stop() { is_exiting_ = true; }
  static bool IsExiting() { return is_exiting_; }

  // How many calls there are in other threads than this one.
  static int64_t NumElsewhere() { return num_running_ - num_running_here_; }

 private:
  inline static std::atomic<bool> is_exiting_ = false;
  inline static std::atomic<int64_t> num_running_ = 0;
  inline static thread_local int64_t num_running_here_ = 0;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_XLA_RUNNING_CALL_H_
