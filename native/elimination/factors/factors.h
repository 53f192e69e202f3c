// The numeric factors of one model, or of several models in SIMD lanes, and the
// scratch memory for factorization and solution.

#ifndef PHASIC_NATIVE_ELIMINATION_FACTORS_FACTORS_H_
#define PHASIC_NATIVE_ELIMINATION_FACTORS_FACTORS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "native/elimination/factors/buffer.h"
#include "native/elimination/solver/solver.h"
#include "native/elimination/symbolic/topology.h"

namespace phasic {

// The edge weights of `count` models, an array [m] for each. All arrays have
// the same number type.
struct Weights {
  const void* arrays[kLanes];
  int count;  // lanes from `count` on repeat a model
  size_t number_size;
};

struct Factors {
  std::shared_ptr<const Topology> topology;  // set for cached factors
  std::vector<char> weights;                 // copied, only for cached factors
  int lanes = 0;           // 1 or kLanes, or kWideSize for a wide model
  size_t number_size = 0;  // of the weights
  Buffer memory;
  FactorArrays arrays = {};
  Findings findings = {};   // special cases of one model
  uint32_t apart = 0;       // mask of models to compute alone
  bool left_range = false;  // the range of doubles, in the factorization

  size_t bytes() const {
    return sizeof(*this) + weights.size() + memory.bytes();
  }
};

// Returns the factors of one model (if `lanes` is 1), of kLanes models in lanes
// (kLanes), or of one model in numbers of type Wide (kWideSize). The factors
// are computed, or taken from a cache if that is faster, and are valid until
// the thread's next call. This function clears the flags of `FloatEnvironment`.
// So afterwards the flags show whether later computations leave the range of
// doubles.
std::shared_ptr<const Factors> FindFactors(
    const std::shared_ptr<const Topology>& topology, const Weights& weights,
    int lanes, const Solver& solver, const Scratch& scratch);

// Owns this thread's scratch memory. Only one object per thread may exist at a
// time.
class ThreadScratch {
 public:
  ThreadScratch(const Topology& topology, int lanes, int64_t columns,
                bool wants_differences);
  ~ThreadScratch();
  ThreadScratch(const ThreadScratch&) = delete;
  ThreadScratch& operator=(const ThreadScratch&) = delete;

  const Scratch& arrays() const { return arrays_; }

 private:
  Buffer* const memory_;
  Scratch arrays_ = {};
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_FACTORS_FACTORS_H_
