// Evaluates an expansion at sixteen times at once, which uses the processor
// better than eight.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_LANES_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_LANES_H_

#include <cstdint>

#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/channels.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int kNodeLanes = 16;

struct NodePack {
  static constexpr int kParts = kNodeLanes / 8;
  Pack<8> parts[kParts];
};

// Returns a register with values[indices[l]] in lane l, and with `pad` in the
// lanes from `count` on.
inline Pack<8> Gather(const double* values, const int64_t* indices,
                      int64_t count, double pad) {
  constexpr int kPart = Pack<8>::kPart;
  Pack<8> result(pad);
  if (count >= 8) {
    for (int l = 0; l < 8; ++l) {
      result.parts[l / kPart][l % kPart] = values[indices[l]];
    }
  } else {
    for (int l = 0; l < count; ++l) {
      result.parts[l / kPart][l % kPart] = values[indices[l]];
    }
  }
  return result;
}

// Returns the derivative of F in x = q t, up to the factor exp(-d), given the
// second series of an expansion: for a survival function, that series is minus
// its derivative.
inline Pack<8> SlopeOf(Kind kind, const Pack<8>& next) {
  return BaseOf(kind) == Base::kSurvival ? -1.0 * next : next;
}

// The distances of up to sixteen times from an expansion point. Their
// subtraction is exact, since x and the point are near each other or the point
// is 0.
class NodeLanes {
 public:
  NodeLanes(const double* times, const int64_t* indices, int64_t count,
            double q, double start) {
    for (int i = 0; i < NodePack::kParts; ++i) {
      const Pack<8> some =
          Gather(times, indices + 8 * i, count - 8 * i, times[indices[0]]);
      distances_.parts[i] = q * some - Pack<8>(start);
    }
  }

  const Pack<8>& distance(int i) const { return distances_.parts[i]; }

  // Returns sum_j terms[j] distance^j for each time. The number of terms must
  // be even.
  NodePack Sum(const double* terms, int num_terms) const {
    constexpr int kParts = NodePack::kParts;
    Pack<8> even[kParts];
    Pack<8> odd[kParts];
    Pack<8> square[kParts];
    for (int i = 0; i < kParts; ++i) {
      even[i] = Pack<8>(terms[num_terms - 2]);
      odd[i] = Pack<8>(terms[num_terms - 1]);
      square[i] = distance(i) * distance(i);
    }
    for (int j = num_terms - 4; j >= 0; j -= 2) {
      for (int i = 0; i < kParts; ++i) {
        even[i] = even[i] * square[i] + Pack<8>(terms[j]);
        odd[i] = odd[i] * square[i] + Pack<8>(terms[j + 1]);
      }
    }
    NodePack result;
    for (int i = 0; i < kParts; ++i) {
      result.parts[i] = even[i] + odd[i] * distance(i);
    }
    return result;
  }

  // Returns the lanes whose sums are far from overflow and underflow; near
  // these, intermediate results may be wrong.
  static Pack<8>::Mask IsOrdinary(const Pack<8>& sum) {
    return (Pack<8>(0x1p-500) < sum) & (sum < Pack<8>(0x1p500));
  }

 private:
  NodePack distances_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_LANES_H_
