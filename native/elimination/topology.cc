#include "native/elimination/topology.h"

#include <algorithm>
#include <utility>

#include "native/elimination/components.h"
#include "native/elimination/ordering/fill_order.h"
#include "native/kernel/shapes.h"

namespace phasic {
namespace {

constexpr int64_t kMaxPhases = int64_t{1} << 28;
constexpr int64_t kMaxEdges = int64_t{1} << 29;
// Beyond the limit the fill is still counted, but not for ever.
constexpr int64_t kMaxCounted = 8 * kMaxFill;

const char* CheckIndices(int64_t num_phases, int64_t num_edges,
                         const int32_t* indices) {
  if (num_phases < 1 || num_phases > kMaxPhases || num_edges > kMaxEdges) {
    return Message(
        "elimination: %lld phases and %lld edges: must be 1 to %lld "
        "and at most %lld",
        static_cast<long long>(num_phases), static_cast<long long>(num_edges),
        static_cast<long long>(kMaxPhases), static_cast<long long>(kMaxEdges));
  }
  for (int64_t e = 0; e < num_edges; ++e) {
    const int64_t i = indices[e];
    const int64_t j = indices[num_edges + e];
    if (i < 0 || i >= num_phases || j < 0 || j > num_phases) {
      return Message(
          "indices: edge %lld leads from %lld to %lld; with %lld phases it "
          "must "
          "lead from a phase to a phase or to %lld, absorption",
          static_cast<long long>(e), static_cast<long long>(i),
          static_cast<long long>(j), static_cast<long long>(num_phases),
          static_cast<long long>(num_phases));
    }
  }
  return nullptr;
}

class Builder {
 public:
  explicit Builder(Topology* topology) : t_(*topology) {}

  void Order() {
    const int64_t p = t_.num_phases;
    const int32_t* targets = t_.indices.data() + t_.num_edges;
    const OutEdges edges = GroupBySource(p, t_.indices.data(), t_.num_edges);
    Components found = StronglyConnected(p, edges, targets);
    t_.starts = std::move(found.starts);
    t_.phases = std::move(found.phases);
    position_.resize(p + 1);
    position_[p] = static_cast<int32_t>(p);
    t_.component.resize(p);
    const int64_t count = static_cast<int64_t>(t_.starts.size()) - 1;
    for (int64_t c = 0; c < count; ++c) {
      for (int32_t n = t_.starts[c]; n < t_.starts[c + 1]; ++n) {
        t_.component[n] = static_cast<int32_t>(c);
        position_[t_.phases[n]] = n;
      }
    }
    for (int64_t c = 0; c < count; ++c) {
      OrderComponent(t_.starts[c], t_.starts[c + 1], edges, targets);
    }
    PlaceEdges(edges, targets);
  }

  // Counts, then lists, what each phase is connected with when it is
  // eliminated: by the elimination tree of the symmetric pattern (J. W. H. Liu,
  // SIAM J. Matrix Anal. Appl. 11, 1990).
  bool Connect() {
    const int64_t p = t_.num_phases;
    ListEarlierNeighbours();
    t_.upper_offsets.assign(p + 1, 0);
    int64_t total = 0;
    Walk([&](int32_t, int32_t k) {
      ++t_.upper_offsets[k + 1];
      return ++total <= kMaxCounted;
    });
    double operations = static_cast<double>(t_.num_edges);
    int64_t largest = 0;
    for (int64_t n = 0; n < p; ++n) {
      const auto later = static_cast<double>(t_.upper_offsets[n + 1]);
      operations += later * later;
      t_.upper_offsets[n + 1] += t_.upper_offsets[n];
    }
    for (size_t c = 0; c + 1 < t_.starts.size(); ++c) {
      largest = std::max<int64_t>(largest, t_.starts[c + 1] - t_.starts[c]);
    }
    t_.size = {static_cast<int64_t>(t_.starts.size()) - 1, largest, 2 * total,
               operations};
    if (2 * total > kMaxFill || operations > kMaxOperations) return false;
    t_.upper.resize(total);
    std::vector<int64_t> next(t_.upper_offsets.begin(),
                              t_.upper_offsets.end() - 1);
    t_.lower_offsets.assign(p + 1, 0);
    Walk([&](int32_t n, int32_t k) {
      t_.upper[next[k]++] = n;
      ++t_.lower_offsets[n + 1];
      return true;
    });
    for (int64_t n = 0; n < p; ++n) {
      t_.lower_offsets[n + 1] += t_.lower_offsets[n];
    }
    t_.lower.resize(total);
    next.assign(t_.lower_offsets.begin(), t_.lower_offsets.end() - 1);
    for (int64_t k = 0; k < p; ++k) {
      for (int64_t s = t_.upper_offsets[k]; s < t_.upper_offsets[k + 1]; ++s) {
        t_.lower[next[t_.upper[s]]++] = static_cast<int32_t>(k);
      }
    }
    return true;
  }

 private:
  void OrderComponent(int32_t first, int32_t last, const OutEdges& edges,
                      const int32_t* targets) {
    if (last - first < 3) return;
    std::vector<std::pair<int32_t, int32_t>> inner;
    for (int32_t n = first; n < last; ++n) {
      const int32_t i = t_.phases[n];
      for (int64_t s = edges.offsets[i]; s < edges.offsets[i + 1]; ++s) {
        const int32_t other = position_[targets[edges.numbers[s]]];
        if (other >= first && other < last && other != n) {
          inner.emplace_back(n - first, other - first);
        }
      }
    }
    const std::vector<int32_t> order = MinimumDegreeOrder(last - first, inner);
    const std::vector<int32_t> phases(t_.phases.begin() + first,
                                      t_.phases.begin() + last);
    for (int32_t n = first; n < last; ++n) {
      t_.phases[n] = phases[order[n - first]];
    }
    for (int32_t n = first; n < last; ++n) position_[t_.phases[n]] = n;
  }

  void PlaceEdges(const OutEdges& edges, const int32_t* targets) {
    const int64_t p = t_.num_phases;
    t_.edge_offsets.reserve(p + 1);
    t_.edge_numbers.reserve(t_.num_edges);
    t_.edge_targets.reserve(t_.num_edges);
    t_.edge_offsets.push_back(0);
    for (int64_t n = 0; n < p; ++n) {
      const int32_t i = t_.phases[n];
      for (int64_t s = edges.offsets[i]; s < edges.offsets[i + 1]; ++s) {
        t_.edge_numbers.push_back(edges.numbers[s]);
        t_.edge_targets.push_back(position_[targets[edges.numbers[s]]]);
      }
      t_.edge_offsets.push_back(static_cast<int64_t>(t_.edge_numbers.size()));
    }
  }

  // Of each position: those of its component before it that an edge, in either
  // direction, connects it with.
  void ListEarlierNeighbours() {
    const int64_t p = t_.num_phases;
    const auto for_each = [&](const auto& visit) {
      for (int64_t n = 0; n < p; ++n) {
        for (int64_t s = t_.edge_offsets[n]; s < t_.edge_offsets[n + 1]; ++s) {
          const int64_t other = t_.edge_targets[s];
          if (other == n || other == p ||
              t_.component[other] != t_.component[n]) {
            continue;
          }
          visit(std::max(n, other), std::min(n, other));
        }
      }
    };
    earlier_offsets_.assign(p + 1, 0);
    for_each([&](int64_t n, int64_t) { ++earlier_offsets_[n + 1]; });
    for (int64_t n = 0; n < p; ++n) {
      earlier_offsets_[n + 1] += earlier_offsets_[n];
    }
    earlier_.resize(earlier_offsets_[p]);
    std::vector<int64_t> next(earlier_offsets_.begin(),
                              earlier_offsets_.end() - 1);
    for_each([&](int64_t n, int64_t k) {
      earlier_[next[n]++] = static_cast<int32_t>(k);
    });
  }

  // Calls visit(n, k) for each n, ascending, and each earlier k that it is
  // connected with when k is eliminated, until that gives false.
  template <class Visit>
  void Walk(const Visit& visit) {
    const int64_t p = t_.num_phases;
    constexpr int32_t kNone = -1;
    std::vector<int32_t> parent(p, kNone);
    std::vector<int32_t> seen_by(p, kNone);
    for (int32_t n = 0; n < p; ++n) {
      seen_by[n] = n;
      for (int64_t s = earlier_offsets_[n]; s < earlier_offsets_[n + 1]; ++s) {
        for (int32_t k = earlier_[s]; seen_by[k] != n; k = parent[k]) {
          seen_by[k] = n;
          if (!visit(n, k)) return;
          if (parent[k] == kNone) parent[k] = n;
        }
      }
    }
  }

  Topology& t_;
  std::vector<int32_t> position_;  // of a phase; p of absorption
  std::vector<int64_t> earlier_offsets_;
  std::vector<int32_t> earlier_;
};

}  // namespace

size_t Topology::bytes() const {
  const auto size_of = [](const auto& v) { return v.size() * sizeof(v[0]); };
  return sizeof(*this) + size_of(indices) + size_of(phases) + size_of(starts) +
         size_of(component) + size_of(edge_offsets) + size_of(edge_numbers) +
         size_of(edge_targets) + size_of(lower_offsets) + size_of(lower) +
         size_of(upper_offsets) + size_of(upper);
}

std::shared_ptr<const Topology> MakeTopology(int64_t num_phases,
                                             int64_t num_edges,
                                             const int32_t* indices,
                                             bool within_limits,
                                             const char** error) {
  *error = CheckIndices(num_phases, num_edges, indices);
  if (*error != nullptr) return nullptr;
  auto topology = std::make_shared<Topology>();
  topology->num_phases = num_phases;
  topology->num_edges = num_edges;
  topology->indices.assign(indices, indices + 2 * num_edges);
  Builder builder(topology.get());
  builder.Order();
  if (!builder.Connect() && within_limits) {
    const EliminationSize& size = topology->size;
    *error = Message(
        "elimination: a component of %lld phases needs %s%lld numbers and %.1e "
        "multiply-adds; at most %lld and %.0e are allowed",
        static_cast<long long>(size.largest_component),
        size.fill > 2 * kMaxCounted ? "more than " : "",
        static_cast<long long>(size.fill), size.operations,
        static_cast<long long>(kMaxFill), kMaxOperations);
    return nullptr;
  }
  return topology;
}

}  // namespace phasic
