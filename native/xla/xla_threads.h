// An executor that uses XLA's own threads for the duration of a call.

#ifndef PHASIC_NATIVE_XLA_XLA_THREADS_H_
#define PHASIC_NATIVE_XLA_XLA_THREADS_H_

#include <cstdint>
#include <memory>

#include "native/kernel/runtime/parallel.h"
#include "xla/ffi/api/ffi.h"

namespace phasic {

class XlaThreads final : public Executor {
 public:
  explicit XlaThreads(const xla::ffi::ThreadPool& pool) : pool_(pool) {}
  int64_t num_helpers() override { return pool_.num_threads(); }
  void Offer(const std::shared_ptr<Job>& job, int64_t count) override {
    for (; count > 0; --count) {
      pool_.Schedule([job] { Help(job.get()); });
    }
  }

 private:
  xla::ffi::ThreadPool pool_;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_XLA_XLA_THREADS_H_
