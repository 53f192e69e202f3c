// The shape rules of the kernel's calls: checks of shapes, and the strides of
// batch dimensions.

#ifndef PHASIC_NATIVE_KERNEL_API_SHAPES_H_
#define PHASIC_NATIVE_KERNEL_API_SHAPES_H_

#include <cstdint>

#include "native/kernel/api/phase_type.h"

namespace phasic {

enum Operand : int32_t {
  kInitialProbs = 0,
  kSubgenerator = 1,
  kExitRates = 2,
  kProbZero = 3,
  kTimes = 4,
};

enum Statistic : int32_t {
  kStarts = 0,
  kSojourns = 1,
  kJumps = 2,
  kExits = 3,
  kAtom = 4,
};

// The sizes of a call whose shapes were checked.
struct Layout {
  int32_t batch_rank;
  int64_t batch[kMaxRank];  // the broadcast batch shape
  int64_t num_phases;
  int64_t num_times;
  bool has_exit_rates;
  bool has_prob_zero;
  bool has_edges;
  int64_t num_edges;
  int64_t num_parameters;
  bool has_constants;
  bool has_coefficients;
  bool has_kinds;
  int64_t batch_size;
};

inline bool IsWanted(const Call& call, int32_t operand) {
  return (call.wanted >> operand & 1) != 0;
}

// Returns the number of event dimensions of an operand: 2 for a subgenerator,
// otherwise 1.
inline int32_t EventRank(const Call& call, int32_t operand) {
  return operand == kSubgenerator && call.edges == nullptr ? 2 : 1;
}

inline int64_t EventSize(const Layout& layout, int32_t operand) {
  switch (operand) {
    case kSubgenerator:
      if (layout.has_edges) return layout.num_parameters;
      return layout.num_phases * layout.num_phases;
    case kExitRates:
      return layout.has_exit_rates ? layout.num_phases : 0;
    case kProbZero:
      return layout.has_prob_zero ? 1 : 0;
    case kTimes:
      return layout.num_times;
    default:
      return layout.num_phases;
  }
}

// Returns whether there are no models, or no times. Sums over them are zero.
inline bool IsEmpty(const Layout& layout) {
  return layout.batch_size == 0 || layout.num_times == 0;
}

inline int64_t NumElements(const Shape& shape) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < shape.rank; ++axis) count *= shape.dims[axis];
  return count;
}

// Returns how many elements statistic number `statistic` has for each batch
// index.
int64_t StatisticSize(const Layout& layout, int32_t statistic);

// Checks the shapes of a call with `num_inputs` inputs (five operands, groups
// of five tangents and, if `has_cotangent`, the cotangent), and computes
// `layout`. Returns nullptr or an error message.
const char* CheckLayout(const Call& call, const Shape* inputs,
                        int32_t num_inputs, bool has_cotangent, Layout* layout);

// Merges the first `rank` dimensions of an array into the broadcast shape
// `batch`, which consists of ones before the first array. Each dimension must
// be one or the size that it has in the other arrays. Returns nullptr or an
// error message.
const char* MergeBatch(const Shape& shape, int32_t rank, const char* name,
                       int64_t* batch);

// Computes the strides, in elements, of the batch dimensions of an array with
// this shape. Dimensions of size one have stride 0.
void BatchStrides(int32_t rank, const Shape& shape, int64_t event_size,
                  int64_t* strides);
inline void BatchStrides(const Layout& layout, const Shape& shape,
                         int64_t event_size, int64_t* strides) {
  BatchStrides(layout.batch_rank, shape, event_size, strides);
}

// Formats an error message into the thread's buffer; returns the buffer.
const char* Message(const char* format, ...)
    __attribute__((format(printf, 1, 2)));

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_API_SHAPES_H_
