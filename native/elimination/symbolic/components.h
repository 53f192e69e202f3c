// Computes the strongly connected components of a graph.

#ifndef PHASIC_NATIVE_ELIMINATION_SYMBOLIC_COMPONENTS_H_
#define PHASIC_NATIVE_ELIMINATION_SYMBOLIC_COMPONENTS_H_

#include <cstdint>
#include <vector>

namespace phasic {

// Edge numbers grouped by source phase. The edges with source i begin at
// numbers[offsets[i]].
struct OutEdges {
  std::vector<int64_t> offsets;  // [p + 1]
  std::vector<int32_t> numbers;  // [m]
};

// Groups the edges by their source. Sources must be in [0, num_phases).
OutEdges GroupBySource(int64_t num_phases, const int32_t* sources,
                       int64_t num_edges);

// The strongly connected components in topological order: `phases` lists the
// phases component by component, and component k begins at starts[k].
struct Components {
  std::vector<int32_t> phases;  // [p]
  std::vector<int32_t> starts;  // [number of components + 1]
};

Components StronglyConnected(int64_t num_phases, const OutEdges& edges,
                             const int32_t* targets);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SYMBOLIC_COMPONENTS_H_
