// What an elimination does, whatever the weights are: the order of the phases
// and which numbers there will be.

#ifndef PHASIC_NATIVE_ELIMINATION_SYMBOLIC_TOPOLOGY_H_
#define PHASIC_NATIVE_ELIMINATION_SYMBOLIC_TOPOLOGY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "native/elimination/api/elimination.h"
#include "native/elimination/symbolic/fronts.h"

namespace phasic {

// Positions are places in the order of elimination. Components are ranges of
// positions; edges between them lead to later ones. A component of one phase
// has no front: there is nothing to eliminate.
struct Topology {
  int64_t num_phases = 0;
  int64_t num_edges = 0;
  std::vector<int32_t> indices;  // [2, m], as they came
  std::vector<int32_t> phases;   // [p], by position
  // Of both ends of the edges, [2, m], as they came; p is absorption.
  std::vector<int32_t> positions;

  int64_t num_components = 0;
  std::vector<int32_t> starts;        // of components, and p
  std::vector<int32_t> front_starts;  // of their fronts, and the number of all
  std::vector<Front> fronts;
  std::vector<int32_t> later;   // see FrontTree
  std::vector<int32_t> places;  // see FrontTree

  // Edges out of their component, by the position that they lead from.
  std::vector<int64_t> outer_offsets;  // [p + 1]
  std::vector<int32_t> outer_numbers;
  std::vector<int32_t> outer_targets;  // positions, or p
  // Edges within a component, by front, and where their weights go in its
  // matrix.
  std::vector<int64_t> inner_offsets;  // [fronts + 1]
  std::vector<int32_t> inner_numbers;
  std::vector<int32_t> inner_places;
  // Edges from a phase to itself.
  std::vector<int32_t> own_numbers;

  int64_t num_factors = 0;    // of all fronts
  int64_t num_working = 0;    // numbers in matrices that are there at once
  int64_t largest_front = 0;  // phases
  int64_t most_edges = 0;     // out of one component of one phase
  EliminationSize size = {};

  size_t bytes() const;
};

// The topology, or nullptr and a message; `within_limits`: a message also where
// it is too large, else only its size is sure to be known.
std::shared_ptr<const Topology> MakeTopology(int64_t num_phases,
                                             int64_t num_edges,
                                             const int32_t* indices,
                                             bool within_limits,
                                             const char** error);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SYMBOLIC_TOPOLOGY_H_
