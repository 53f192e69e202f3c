// Checks the shapes of a call that solves linear systems, and stores its sizes.

#ifndef PHASIC_NATIVE_ELIMINATION_BATCH_SYSTEM_LAYOUT_H_
#define PHASIC_NATIVE_ELIMINATION_BATCH_SYSTEM_LAYOUT_H_

#include <cstdint>

#include "native/elimination/api/elimination.h"
#include "native/elimination/batch/batch_layout.h"

namespace phasic {

class SystemLayout : public BatchLayout {
 public:
  enum Operand { kWeights = kIndices + 1, kPerPhase, kPerEdge };

  // Checks the shapes of all operands and results. Returns nullptr or an error
  // message.
  const char* Check(const LinearSystem& system, bool wants_edges,
                    const Output& per_phase, const Output& per_edge);

  int64_t num_columns() const { return num_columns_; }
  bool has_per_edge() const { return has_per_edge_; }

 private:
  const char* CheckEvents(const LinearSystem& system);

  int64_t num_columns_ = 0;
  bool has_per_edge_ = false;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_BATCH_SYSTEM_LAYOUT_H_
