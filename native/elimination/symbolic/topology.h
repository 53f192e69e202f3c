// The symbolic elimination, which does not depend on the weights: the order of
// the phases and the structure of the factors.

#ifndef PHASIC_NATIVE_ELIMINATION_SYMBOLIC_TOPOLOGY_H_
#define PHASIC_NATIVE_ELIMINATION_SYMBOLIC_TOPOLOGY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "native/elimination/api/elimination.h"
#include "native/elimination/symbolic/fronts.h"

namespace phasic {

// The symbolic elimination of one graph. Positions are the phases' indices in
// the order of elimination. Components are ranges of positions, and edges
// between components lead to later positions. A component of one phase has no
// front, as it needs no elimination.
struct Topology {
  int64_t num_phases = 0;
  int64_t num_edges = 0;
  std::vector<int32_t> indices;  // [2, m], as given
  std::vector<int32_t> phases;   // [p], by position
  // The positions of both ends of each edge, [2, m], with edges in the given
  // order; p stands for absorption.
  std::vector<int32_t> positions;

  int64_t num_components = 0;
  std::vector<int32_t> starts;        // first positions of components, then p
  std::vector<int32_t> front_starts;  // first front of each component, then end
  std::vector<Front> fronts;
  std::vector<int32_t> later;   // see FrontTree
  std::vector<int32_t> places;  // see FrontTree

  // The edges that leave their component, sorted by source position.
  std::vector<int64_t> outer_offsets;  // [p + 1]
  std::vector<int32_t> outer_numbers;
  std::vector<int32_t> outer_targets;  // positions, or p
  // The edges within a component, sorted by front, and the indices of their
  // weights in the front's matrix.
  std::vector<int64_t> inner_offsets;  // [fronts + 1]
  std::vector<int32_t> inner_numbers;
  std::vector<int32_t> inner_places;
  // The edges from a phase to itself.
  std::vector<int32_t> own_numbers;

  int64_t num_factors = 0;    // total over all fronts
  int64_t num_working = 0;    // largest total size of matrices at a time
  int64_t largest_front = 0;  // in phases
  int64_t most_edges = 0;     // the most outer edges of one phase
  EliminationSize size = {};

  size_t bytes() const;
};

// Computes the symbolic elimination of the graph with these edges. Returns
// nullptr and sets `error` if the indices are invalid or, if within_limits is
// true, the elimination is too large. If within_limits is false, the result for
// an elimination that is too large may have only its sizes.
std::shared_ptr<const Topology> MakeTopology(int64_t num_phases,
                                             int64_t num_edges,
                                             const int32_t* indices,
                                             bool within_limits,
                                             const char** error);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SYMBOLIC_TOPOLOGY_H_
