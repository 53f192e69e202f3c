// Counts the running calls of Python functions, so that the process can exit
// safely.
//
// When the interpreter exits, it terminates threads that are in Python, and
// with them the C++ code that called Python. So at exit no new call may begin,
// and the process waits for running ones.

#ifndef PHASIC_NATIVE_XLA_RUNNING_CALL_H_
#define PHASIC_NATIVE_XLA_RUNNING_CALL_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace phasic {

// Counts one call during its lifetime. A caller must create this object before
// it tests whether the process exits. Otherwise a running call could be missed.
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

  // Corrects the count in forked children, where only the calls of the forking
  // thread still run.
  static void CountInForks() {
    pthread_atfork(nullptr, nullptr, [] { num_running_ = num_running_here_; });
  }

  // Refuses new calls from now on.
  static void Stop() { is_exiting_ = true; }
  static bool IsExiting() { return is_exiting_; }

  // Returns the number of running calls in other threads.
  static int64_t NumElsewhere() { return num_running_ - num_running_here_; }

 private:
  inline static std::atomic<bool> is_exiting_ = false;
  inline static std::atomic<int64_t> num_running_ = 0;
  inline static thread_local int64_t num_running_here_ = 0;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_XLA_RUNNING_CALL_H_
