// An array of doubles, aligned for vector instructions, that grows on demand.

#ifndef PHASIC_NATIVE_ELIMINATION_FACTORS_BUFFER_H_
#define PHASIC_NATIVE_ELIMINATION_FACTORS_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>

namespace phasic {

class Buffer {
 public:
  // A pointer to be set to a part of the memory, and the part's number of
  // entries.
  struct Part {
    double** array;
    int64_t count;
  };

  // Allocates memory for all parts at once, and points each part's array to its
  // aligned and uninitialized range; old contents are lost. Throws
  // std::bad_alloc.
  void Divide(std::initializer_list<Part> parts) {
    size_t total = 0;
    for (const Part& part : parts) total += Padded(part.count);
    if (total > size_) {
      memory_.reset();
      size_ = 0;
      memory_.reset(static_cast<double*>(
          ::operator new(total * sizeof(double), kAlignment)));
      size_ = total;
    }
    double* next = memory_.get();
    for (const Part& part : parts) {
      *part.array = next;
      next += Padded(part.count);
    }
  }

  void Release() {
    memory_.reset();
    size_ = 0;
  }
  size_t bytes() const { return size_ * sizeof(double); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Delete {
    void operator()(double* memory) const {
      ::operator delete(memory, kAlignment);
    }
  };

  static size_t Padded(int64_t count) {
    return (static_cast<size_t>(count) + 7) / 8 * 8;
  }

  std::unique_ptr<double, Delete> memory_;
  size_t size_ = 0;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_FACTORS_BUFFER_H_
