#include "native/elimination/batch/model_runs.h"

#include <cstring>

#include "native/elimination/factors/recent.h"

namespace phasic {
namespace {

constexpr size_t kTopologyBytes = size_t{1} << 28;

}  // namespace

std::shared_ptr<const Topology> FindTopology(int64_t num_phases,
                                             int64_t num_edges,
                                             const int32_t* indices,
                                             const char** error) {
  auto* recent = RecentOfProcess<Topology, 16, kTopologyBytes>::Get();
  const size_t bytes = sizeof(int32_t) * 2 * static_cast<size_t>(num_edges);
  auto found = recent->Find(
      [&](const Topology& t) {
        return t.num_phases == num_phases && t.num_edges == num_edges;
      },
      [&](const Topology& t) {
        return bytes == 0 || std::memcmp(t.indices.data(), indices, bytes) == 0;
      });
  if (found != nullptr) return found;
  found = MakeTopology(num_phases, num_edges, indices, true, error);
  if (found != nullptr) recent->Keep(found);
  return found;
}

}  // namespace phasic
