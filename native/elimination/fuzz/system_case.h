// One call of the elimination, decoded from a fuzzer's bytes.

#ifndef PHASIC_NATIVE_ELIMINATION_FUZZ_SYSTEM_CASE_H_
#define PHASIC_NATIVE_ELIMINATION_FUZZ_SYSTEM_CASE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/elimination/api/elimination.h"

namespace phasic {
namespace fuzz {

// An array of the call. `values` has as many numbers as the product of dims, or
// is empty if that is too large; `rank` is the rank that the call receives.
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
  bool is_stored = true;       // arrays and results fit into memory
  bool good_weights = true;    // >= 0 and finite
  bool moderate = true;        // no number can overflow or underflow
  uint32_t pick = 0;           // chooses a model for single evaluation
  std::vector<int64_t> batch;  // full
  int64_t num_phases = 1;
  int64_t num_edges = 0;
  int64_t num_columns = 1;
  SystemArray arrays[4];
};

SystemCase DecodeSystem(const uint8_t* data, size_t size);

// Returns the product of the dims, or -1 if a dimension is negative or the
// product is too large to store.
int64_t NumNumbers(const std::vector<int64_t>& dims);

// Returns a call that solves one model of the batch in the well-formed call c.
SystemCase ModelOf(const SystemCase& c, int64_t model);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_FUZZ_SYSTEM_CASE_H_
