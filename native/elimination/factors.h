// The elimination of one model's phases, recorded: -S = (I - L) (D - W), by
// components, with shares L below the diagonal, pivots D and weights W above.

#ifndef PHASIC_NATIVE_ELIMINATION_FACTORS_H_
#define PHASIC_NATIVE_ELIMINATION_FACTORS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "native/elimination/topology.h"

namespace phasic {

struct Factors {
  std::shared_ptr<const Topology> topology;
  std::vector<double> given;    // [m], the weights of the edges, as they came
  std::vector<double> shares;   // by topology->lower
  std::vector<double> weights;  // by topology->upper
  std::vector<double> pivots;   // [p]
  std::vector<double> leaving;  // [p]: weight out of the component
  bool is_valid = true;         // no weight is negative, infinite or NaN
  // Whether some phase cannot be left; shares of those are infinite.
  bool has_traps = false;

  size_t bytes() const;
};

// The factors for weights [m].
std::shared_ptr<const Factors> Factorize(
    const std::shared_ptr<const Topology>& topology, const double* weights);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_FACTORS_H_
