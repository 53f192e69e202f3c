// Orders of elimination that keep the fill small.

#ifndef PHASIC_NATIVE_ELIMINATION_ORDERING_FILL_ORDER_H_
#define PHASIC_NATIVE_ELIMINATION_ORDERING_FILL_ORDER_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace phasic {

// The nodes 0 to size - 1 in an approximate minimum-degree order of the graph
// with these edges, whose directions do not matter.
std::vector<int32_t> MinimumDegreeOrder(
    int32_t size, const std::vector<std::pair<int32_t, int32_t>>& edges);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_ORDERING_FILL_ORDER_H_
