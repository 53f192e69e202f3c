// Orders of elimination with little fill.

#ifndef PHASIC_NATIVE_ELIMINATION_ORDERING_FILL_ORDER_H_
#define PHASIC_NATIVE_ELIMINATION_ORDERING_FILL_ORDER_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace phasic {

// Returns the nodes 0 to size - 1 in an approximate minimum-degree order of the
// graph with these edges, ignoring directions.
std::vector<int32_t> MinimumDegreeOrder(
    int32_t size, const std::vector<std::pair<int32_t, int32_t>>& edges);

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_ORDERING_FILL_ORDER_H_
