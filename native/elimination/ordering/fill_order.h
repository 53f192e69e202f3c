// Orders of elimination that cause little fill.

#ifndef PHASIC_NATIVE_ELIMINATION_ORDERING_FILL_ORDER_H_
#define PHASIC_NATIVE_ELIMINATION_ORDERING_FILL_ORDER_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace phasic {

// Returns an approximate minimum-degree ordering of the nodes 0 to size - 1 of
// the undirected graph with these edges.
std::vector<int32_t> MinimumDegreeOrder(
    int32_t size, const std::vector<std::pair<int32_t, int32_t>>& edges);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_ORDERING_FILL_ORDER_H_
