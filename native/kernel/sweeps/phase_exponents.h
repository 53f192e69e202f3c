// Exponents e_i of the phases. A vector y is represented by a vector z:
//   y_i = 2^e_i z_i.
// To multiply y by P, z is multiplied by D^-1 P D, where D = diag(2^e_i).
// Scaling by powers of two is exact, so that the results are the same.

#ifndef PHASIC_NATIVE_KERNEL_SWEEPS_PHASE_EXPONENTS_H_
#define PHASIC_NATIVE_KERNEL_SWEEPS_PHASE_EXPONENTS_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "native/kernel/matrix/operator.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

class PhaseExponents {
 public:
  // A jump from phase i to phase j adds P_ij y_j to y_i. The exponent e_i must
  // not be more than kSlope below the exponent of this number. So, apart from
  // sums, an entry of z grows by at most 2^kSlope in a step, and by at most
  // 2^640 in a block.
  static constexpr int64_t kSlope = 40;
  static constexpr int64_t kOfZero = -(int64_t{1} << 40);

  explicit PhaseExponents(const Model<double>& model)
      : model_(model), backward_(model.backward) {}

  bool Allocate(Workspace* workspace) {
    const int64_t stride = model_.stride;
    exponents_ = AllocateZeros<int64_t>(workspace, stride);
    next_ = AllocateZeros<int64_t>(workspace, stride);
    queue_ = AllocateZeros<int64_t>(workspace, stride);
    is_queued_ = AllocateZeros<uint8_t>(workspace, stride);
    weights_ =
        AllocateZeros<double>(workspace, model_.backward.pattern.num_cells());
    backward_.weights = weights_;
    return exponents_ && next_ && queue_ && is_queued_ && weights_;
  }

  // Clears the exponents, for a vector z of zeros.
  void Clear() {
    std::fill(exponents_, exponents_ + model_.stride, kOfZero);
    are_chosen_ = false;
  }

  bool are_chosen() const { return are_chosen_; }
  int64_t operator[](int64_t i) const { return exponents_[i]; }
  // Returns the operator z -> D^-1 P D z.
  const Operator<double>& backward() const { return backward_; }
  // Returns whether an entry of D^-1 P D was flushed to zero.
  bool lost_weights() const { return lost_weights_; }

  // Returns the array of the next exponents. To change the exponents, the
  // caller first sets each next exponent to the largest exponent of the entry
  // of y and of the terms that will be added to it, or to kOfZero if all of
  // these are zero. Then it calls Raise and Take.
  int64_t* next() { return next_; }
  const int64_t* next() const { return next_; }

  // Raises the next exponents until they satisfy the condition of kSlope for
  // all jumps. Returns false if that takes too long.
  bool Raise() {
    const int64_t p = model_.size;
    // Phases whose exponent may raise other exponents are in a queue.
    int64_t size = 0;
    for (int64_t i = p - 1; i >= 0; --i) {
      is_queued_[i] = next_[i] != kOfZero;
      if (is_queued_[i]) queue_[size++] = i;
    }
    const TilePattern& pattern = model_.forward.pattern;
    const int64_t width = pattern.width;
    int64_t first = 0;
    for (int64_t left = kMostVisits * p; size > 0; --left) {
      if (left == 0) return false;
      const int64_t j = queue_[first];
      first = first + 1 < p ? first + 1 : 0;
      --size;
      is_queued_[j] = 0;
      const int64_t group = j / width;
      for (int64_t t = pattern.offsets[group]; t < pattern.offsets[group + 1];
           ++t) {
        const double weight = model_.forward.weights[t * width + j % width];
        if (weight == 0.0) continue;
        const int64_t i = pattern.rows[t];
        const int64_t least = next_[j] + ExponentOf(weight) - kSlope;
        if (least <= next_[i]) continue;
        next_[i] = least;
        if (is_queued_[i]) continue;
        is_queued_[i] = 1;
        queue_[first + size < p ? first + size : first + size - p] = i;
        ++size;
      }
    }
    return true;
  }

  // Replaces the exponents by the next ones, and scales the matrix. Leaves the
  // underflow flag as it was.
  void Take() {
    std::swap(exponents_, next_);
    are_chosen_ = true;
    const bool underflowed = FloatEnvironment::TakeUnderflow();
    for (int64_t g = 0; g < model_.backward.pattern.num_groups; ++g) {
      ForEachJump(g, [&](int64_t i, int64_t j, int64_t cell) {
        weights_[cell] = ScaleBy(model_.backward.weights[cell],
                                 exponents_[j] - exponents_[i]);
      });
    }
    lost_weights_ = FloatEnvironment::Underflowed();
    if (underflowed) FloatEnvironment::NoteUnderflow();
  }

  // Calls visit(i, j, cell) for each jump from a phase i of the group.
  template <class Visit>
  void ForEachJump(int64_t group, const Visit& visit) const {
    const TilePattern& pattern = model_.backward.pattern;
    const int64_t width = pattern.width;
    for (int64_t t = pattern.offsets[group]; t < pattern.offsets[group + 1];
         ++t) {
      for (int64_t l = 0; l < width; ++l) {
        if (model_.backward.weights[t * width + l] == 0.0) continue;
        visit(group * width + l, pattern.rows[t], t * width + l);
      }
    }
  }

 private:
  // How many times Raise may take a phase from the queue, on average over the
  // phases.
  static constexpr int64_t kMostVisits = 64;

  const Model<double>& model_;
  Operator<double> backward_;
  double* weights_ = nullptr;
  int64_t* exponents_ = nullptr;
  int64_t* next_ = nullptr;
  int64_t* queue_ = nullptr;  // ring buffer of phases
  uint8_t* is_queued_ = nullptr;
  bool are_chosen_ = false;
  bool lost_weights_ = false;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SWEEPS_PHASE_EXPONENTS_H_
