// The recorded elimination of one model, or of several side by side, and the
// memory that making and using it takes.

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

// Of `count` models as they came, [m] each; arrays of one type.
struct Weights {
  const void* arrays[kLanes];
  int count;  // lanes beyond it repeat one of them
  size_t number_size;
};

struct Factors {
  std::shared_ptr<const Topology> topology;  // where they are kept
  std::vector<char> weights;                 // the same
  int lanes = 0;           // 1 or kLanes, or kWideSize for a wide model
  size_t number_size = 0;  // of the weights
  Buffer memory;
  FactorArrays arrays = {};
  Findings findings = {};   // of one model
  uint32_t apart = 0;       // of several: see Solver
  bool left_range = false;  // of doubles: see FloatEnvironment

  size_t bytes() const {
    return sizeof(*this) + weights.size() + memory.bytes();
  }
};

// Those of one model, of kLanes models, or with kWideSize lanes of one model on
// wide numbers: made, or found among the last ones where that is quicker. They
// last until the thread's next call. From then on `FloatEnvironment` tells of
// what is made of them whether it left the range of doubles.
std::shared_ptr<const Factors> FindFactors(
    const std::shared_ptr<const Topology>& topology, const Weights& weights,
    int lanes, const Solver& solver, const Scratch& scratch);

// Memory of this thread. There is one at a time.
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
