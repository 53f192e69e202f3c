// One call of the elimination, as a fuzzer's bytes describe it.

#ifndef PHASIC_NATIVE_ELIMINATION_FUZZ_SYSTEM_CASE_H_
#define PHASIC_NATIVE_ELIMINATION_FUZZ_SYSTEM_CASE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/elimination/api/elimination.h"

namespace phasic {
namespace fuzz {

// `values` holds dims' product, or nothing where that is too much; `rank` is
// what the call is told.
struct SystemArray {
  std::vector<int64_t> dims;
  int32_t rank = 0;
  std::vector<double> values;
};

enum SystemOperand { kIndices, kWeights, kPerPhase, kPerEdge };

struct SystemCase {
  Direction direction = Direction::kSolve;
  Precision precision = Precision::kFloat64;
  bool wants_edges = true;
  bool well_formed = true;     // shapes fit, and indices are in range
  bool is_stored = true;       // what fits is not too much for a test
  bool good_weights = true;    // >= 0 and finite
  bool moderate = true;        // no number can overflow or vanish
  uint32_t pick = 0;           // which model is looked at alone
  std::vector<int64_t> batch;  // full
  int64_t num_phases = 1;
  int64_t num_edges = 0;
  int64_t num_columns = 1;
  SystemArray arrays[4];
};

SystemCase DecodeSystem(const uint8_t* data, size_t size);

// Product of the dims, or -1 where it is negative or too large to be stored.
int64_t NumNumbers(const std::vector<int64_t>& dims);

// One model of a well-formed call, by itself.
SystemCase ModelOf(const SystemCase& c, int64_t model);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_FUZZ_SYSTEM_CASE_H_
