// What an elimination does, whatever the weights are: the order of the phases
// and which numbers there will be.

#ifndef PHASIC_NATIVE_ELIMINATION_TOPOLOGY_H_
#define PHASIC_NATIVE_ELIMINATION_TOPOLOGY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "native/elimination/elimination.h"

namespace phasic {

// Positions are places in the order of elimination. Components are ranges of
// positions; edges between them lead to later ones, and phases of one component
// are eliminated in an order that keeps the fill small.
struct Topology {
  int64_t num_phases = 0;
  int64_t num_edges = 0;
  std::vector<int32_t> indices;    // [2, m], as they came
  std::vector<int32_t> phases;     // [p], by position
  std::vector<int32_t> starts;     // of components, and p
  std::vector<int32_t> component;  // [p], by position
  // Edges by the position that they lead from.
  std::vector<int64_t> edge_offsets;  // [p + 1]
  std::vector<int32_t> edge_numbers;  // [m]
  std::vector<int32_t> edge_targets;  // [m], positions, or p
  // Which earlier (lower) and later (upper) positions of its component each is
  // connected with when it is eliminated, ascending.
  std::vector<int64_t> lower_offsets;  // [p + 1]
  std::vector<int32_t> lower;
  std::vector<int64_t> upper_offsets;  // [p + 1]
  std::vector<int32_t> upper;
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

#endif  // PHASIC_NATIVE_ELIMINATION_TOPOLOGY_H_
