// Objects of which a process has one.

#ifndef PHASIC_NATIVE_KERNEL_RUNTIME_OF_PROCESS_H_
#define PHASIC_NATIVE_KERNEL_RUNTIME_OF_PROCESS_H_

#include <pthread.h>

#include <atomic>
#include <memory>

namespace phasic {

// The object of this process, made at its first use and never destroyed, as
// threads may outlive static objects. A forked child makes its own: its copy
// may be half changed, or locked by a thread that the child does not have.
template <class T>
class OfProcess {
 public:
  static T* Get() {
    static_cast<void>(kForkHandler);
    T* found = current_.load(std::memory_order_acquire);
    if (found != nullptr) return found;
    auto created = std::make_unique<T>();
    if (current_.compare_exchange_strong(found, created.get(),
                                         std::memory_order_acq_rel)) {
      return created.release();
    }
    return found;
  }

 private:
  static void Forget() { current_.store(nullptr, std::memory_order_release); }

  inline static std::atomic<T*> current_{nullptr};
  inline static const int kForkHandler =
      pthread_atfork(nullptr, nullptr, Forget);
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_RUNTIME_OF_PROCESS_H_
