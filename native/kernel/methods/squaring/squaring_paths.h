// Follows the paths of several times together, so that each squared power is
// read once for all of them: of hundreds of phases, the powers are larger than
// the caches.
//
// A state has the bits that its own path would have. Bounds on flushing errors
// are kept apart, too: a product in which anything underflowed is computed
// again for each state by itself.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_PATHS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_PATHS_H_

#include <algorithm>
#include <cstdint>
#include <new>

#include "native/kernel/matrix/dense_product.h"
#include "native/kernel/methods/squaring/squared_powers.h"
#include "native/kernel/methods/squaring/squaring_mixer.h"
#include "native/kernel/methods/squaring/squaring_path.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"

namespace phasic {
namespace PHASIC_ISA {

// Of models with tangents each path is followed by itself.
template <class T>
class SquaringPaths {
 public:
  SquaringPaths(SquaredPowers<T>*, Workspace*) {}
};

template <>
class SquaringPaths<double> {
 public:
  static constexpr int kMost = 32;

  SquaringPaths(SquaredPowers<double>* squared_powers, Workspace* workspace)
      : squared_powers_(*squared_powers),
        workspace_(workspace),
        stride_(squared_powers->stride()) {}

  // Follows the paths of `count` <= kMost functions and times. If the status is
  // not kOk, no path was followed.
  StatusCode Follow(const Base* bases, const double* xs, int count) {
    if (!Allocate(count)) return kMemoryLimit;
    int64_t num_squared = 0;
    for (int n = 0; n < count; ++n) {
      const StatusCode status = paths_[n]->Start(bases[n], xs[n]);
      if (status != kOk) return status;
      underflowed_[n] = FloatEnvironment::TakeUnderflow();
      num_squared = std::max(num_squared, paths_[n]->num_squared());
    }
    for (int64_t j = num_squared - 1; j >= 0; --j) Climb(j, count);
    return kOk;
  }

  // Returns F at the end of path n.
  Mixture<double> End(int n, Base base, double x) {
    FloatEnvironment::ClearUnderflow();
    if (underflowed_[n]) FloatEnvironment::NoteUnderflow();
    return SquaringMixer<double>(paths_[n]).End(base, x, false);
  }

 private:
  bool Allocate(int count) {
    if (states_ == nullptr) {
      states_ = AllocateZeros<double>(workspace_, kMost * stride_);
      products_ = AllocateZeros<double>(workspace_, kMost * stride_);
      if (!states_ || !products_ || !product_.Allocate(stride_, workspace_)) {
        return false;
      }
    }
    for (; num_paths_ < count; ++num_paths_) {
      void* room = workspace_->Allocate(1, sizeof(SquaringPath<double>));
      if (room == nullptr) return false;
      paths_[num_paths_] =
          new (room) SquaringPath<double>(&squared_powers_, 1, workspace_);
    }
    return true;
  }

  // Applies power j to those paths that take it.
  void Climb(int64_t j, int count) {
    int taking[kMost];
    int size = 0;
    for (int n = 0; n < count; ++n) {
      if (!paths_[n]->Takes(j)) continue;
      paths_[n]->CopyScaled(states_ + size * stride_);
      taking[size++] = n;
    }
    if (size == 0) return;
    const int rows = (size + kRows - 1) / kRows * kRows;
    std::fill(states_ + size * stride_, states_ + rows * stride_, 0.0);
    std::fill(products_, products_ + rows * stride_, 0.0);
    const double* matrix = squared_powers_.squared(j).matrix;
    FloatEnvironment::ClearUnderflow();
    product_.AddRows(rows, states_, matrix, products_);
    const bool underflowed = FloatEnvironment::TakeUnderflow();
    for (int m = 0; m < size; ++m) {
      const int n = taking[m];
      double* product = products_ + m * stride_;
      if (underflowed) {
        std::fill(product, product + stride_, 0.0);
        AddRowTimes(states_ + m * stride_, matrix, stride_, product);
      }
      const bool by_itself = FloatEnvironment::TakeUnderflow();
      if (underflowed_[n]) FloatEnvironment::NoteUnderflow();
      paths_[n]->Arrive(j, product, by_itself);
      underflowed_[n] = FloatEnvironment::TakeUnderflow();
    }
  }

  static constexpr int kRows = DenseProduct<double>::kRows;

  SquaredPowers<double>& squared_powers_;
  Workspace* workspace_;
  const int64_t stride_;
  DenseProduct<double> product_;
  SquaringPath<double>* paths_[kMost];
  bool underflowed_[kMost];
  int num_paths_ = 0;
  double* states_ = nullptr;  // [kMost, stride], of the paths that take a power
  double* products_ = nullptr;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_PATHS_H_
