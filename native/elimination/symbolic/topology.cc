#include "native/elimination/symbolic/topology.h"

#include <algorithm>
#include <utility>

#include "native/elimination/symbolic/components.h"
#include "native/kernel/api/shapes.h"

namespace phasic {
namespace {

constexpr int64_t kMaxPhases = int64_t{1} << 28;
constexpr int64_t kMaxEdges = int64_t{1} << 29;
// Fill beyond the limit is still counted for the error message, but only up to
// this number.
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
          "must lead from a phase to a phase or to %lld, absorption",
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

  // Computes the symbolic elimination. Returns false if it is too large.
  bool Build() {
    const int64_t p = t_.num_phases;
    const int32_t* targets = t_.indices.data() + t_.num_edges;
    const OutEdges edges = GroupBySource(p, t_.indices.data(), t_.num_edges);
    Components found = StronglyConnected(p, edges, targets);
    t_.starts = std::move(found.starts);
    t_.phases = std::move(found.phases);
    t_.num_components = static_cast<int64_t>(t_.starts.size()) - 1;
    position_.resize(p + 1);
    position_[p] = static_cast<int32_t>(p);
    component_.resize(p + 1);
    component_[p] = static_cast<int32_t>(t_.num_components);
    for (int64_t c = 0; c < t_.num_components; ++c) {
      for (int32_t n = t_.starts[c]; n < t_.starts[c + 1]; ++n) {
        component_[t_.phases[n]] = static_cast<int32_t>(c);
        position_[t_.phases[n]] = n;
      }
    }
    t_.size.num_components = t_.num_components;
    t_.size.operations = static_cast<double>(t_.num_edges);
    t_.front_starts.push_back(0);
    for (int64_t c = 0; c < t_.num_components; ++c) {
      MakeComponent(c, edges, targets);
      t_.front_starts.push_back(static_cast<int32_t>(t_.fronts.size()));
    }
    t_.size.working = t_.num_working;
    if (t_.size.fill > kMaxFill || t_.num_working > kMaxFill ||
        t_.size.operations > kMaxOperations) {
      return false;
    }
    PlaceOuterEdges(edges, targets);
    PlaceInnerEdges();
    return true;
  }

 private:
  void MakeComponent(int64_t c, const OutEdges& edges, const int32_t* targets) {
    const int32_t first = t_.starts[c];
    const int32_t last = t_.starts[c + 1];
    t_.size.largest_component =
        std::max<int64_t>(t_.size.largest_component, last - first);
    if (last - first == 1) return;
    std::vector<std::pair<int32_t, int32_t>> inner;
    for (int32_t n = first; n < last; ++n) {
      const int32_t i = t_.phases[n];
      for (int64_t s = edges.offsets[i]; s < edges.offsets[i + 1]; ++s) {
        const int32_t other = targets[edges.numbers[s]];
        if (other != i && component_[other] == c) {
          inner.emplace_back(n - first, position_[other] - first);
        }
      }
    }
    FrontTree tree =
        MakeFronts(last - first, inner, kMaxCounted - t_.size.fill / 2);
    t_.size.fill += 2 * tree.num_connections;
    t_.size.operations += tree.operations;
    if (tree.fronts.empty()) return;
    const std::vector<int32_t> phases(t_.phases.begin() + first,
                                      t_.phases.begin() + last);
    for (int32_t n = first; n < last; ++n) {
      t_.phases[n] = phases[tree.order[n - first]];
      position_[t_.phases[n]] = n;
    }
    Append(first, &tree);
  }

  // Appends the fronts of one component, whose phases begin at position
  // `first`.
  void Append(int32_t first, FrontTree* tree) {
    const auto num_fronts = static_cast<int32_t>(t_.fronts.size());
    const auto num_later = static_cast<int64_t>(t_.later.size());
    for (Front& front : tree->fronts) {
      front.first += first;
      if (front.parent != kNoFront) front.parent += num_fronts;
      front.later += num_later;
      front.factors += t_.num_factors;
      t_.largest_front = std::max<int64_t>(t_.largest_front, front.size);
      t_.fronts.push_back(front);
    }
    for (int32_t& n : tree->later) n += first;
    t_.later.insert(t_.later.end(), tree->later.begin(), tree->later.end());
    t_.places.insert(t_.places.end(), tree->places.begin(), tree->places.end());
    t_.num_factors += tree->num_factors;
    t_.num_working = std::max(t_.num_working, tree->num_working);
  }

  void PlaceOuterEdges(const OutEdges& edges, const int32_t* targets) {
    const int64_t p = t_.num_phases;
    const int64_t m = t_.num_edges;
    t_.positions.resize(2 * m);
    for (int64_t e = 0; e < 2 * m; ++e) {
      t_.positions[e] = position_[t_.indices[e]];
    }
    t_.outer_offsets.assign(1, 0);
    for (int64_t n = 0; n < p; ++n) {
      const int32_t i = t_.phases[n];
      for (int64_t s = edges.offsets[i]; s < edges.offsets[i + 1]; ++s) {
        const int32_t e = edges.numbers[s];
        if (targets[e] == i) {
          t_.own_numbers.push_back(e);
        } else if (component_[targets[e]] != component_[i]) {
          t_.outer_numbers.push_back(e);
          t_.outer_targets.push_back(position_[targets[e]]);
        }
      }
      t_.outer_offsets.push_back(static_cast<int64_t>(t_.outer_numbers.size()));
      t_.most_edges = std::max(t_.most_edges,
                               t_.outer_offsets[n + 1] - t_.outer_offsets[n]);
    }
  }

  void PlaceInnerEdges() {
    const int64_t m = t_.num_edges;
    std::vector<int32_t> front_of(t_.num_phases, kNoFront);
    for (size_t f = 0; f < t_.fronts.size(); ++f) {
      const Front& front = t_.fronts[f];
      std::fill_n(front_of.begin() + front.first, front.num_own,
                  static_cast<int32_t>(f));
    }
    const auto front_at = [&](int64_t e) {
      const int32_t source = t_.indices[e];
      const int32_t target = t_.indices[m + e];
      if (source == target || component_[source] != component_[target]) {
        return kNoFront;
      }
      return front_of[std::min(t_.positions[e], t_.positions[m + e])];
    };
    t_.inner_offsets.assign(t_.fronts.size() + 1, 0);
    for (int64_t e = 0; e < m; ++e) {
      const int32_t f = front_at(e);
      if (f != kNoFront) ++t_.inner_offsets[f + 1];
    }
    for (size_t f = 0; f < t_.fronts.size(); ++f) {
      t_.inner_offsets[f + 1] += t_.inner_offsets[f];
    }
    t_.inner_numbers.resize(t_.inner_offsets.back());
    t_.inner_places.resize(t_.inner_offsets.back());
    std::vector<int64_t> next(t_.inner_offsets.begin(),
                              t_.inner_offsets.end() - 1);
    for (int64_t e = 0; e < m; ++e) {
      const int32_t f = front_at(e);
      if (f == kNoFront) continue;
      const Front& front = t_.fronts[f];
      t_.inner_numbers[next[f]] = static_cast<int32_t>(e);
      t_.inner_places[next[f]++] =
          static_cast<int32_t>(PlaceOf(front, t_.positions[e]) * front.size +
                               PlaceOf(front, t_.positions[m + e]));
    }
  }

  int64_t PlaceOf(const Front& front, int32_t position) const {
    if (position < front.first + front.num_own) return position - front.first;
    const auto begin = t_.later.begin() + front.later;
    const auto end = begin + front.num_later();
    return front.num_own + (std::lower_bound(begin, end, position) - begin);
  }

  Topology& t_;
  std::vector<int32_t> position_;   // position of each phase; p: absorption
  std::vector<int32_t> component_;  // of each phase, and of absorption
};

}  // namespace

size_t Topology::bytes() const {
  const auto size_of = [](const auto& v) { return v.size() * sizeof(v[0]); };
  return sizeof(*this) + size_of(indices) + size_of(phases) +
         size_of(positions) + size_of(starts) + size_of(front_starts) +
         size_of(fronts) + size_of(later) + size_of(places) +
         size_of(outer_offsets) + size_of(outer_numbers) +
         size_of(outer_targets) + size_of(inner_offsets) +
         size_of(inner_numbers) + size_of(inner_places) + size_of(own_numbers);
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
  if (!Builder(topology.get()).Build() && within_limits) {
    const EliminationSize& size = topology->size;
    *error = Message(
        "elimination: a component of %lld phases needs %s%lld numbers, %lld "
        "more at once and %.1e multiply-adds; at most %lld, as many and %.0e "
        "are allowed",
        static_cast<long long>(size.largest_component),
        size.fill > 2 * kMaxCounted ? "more than " : "",
        static_cast<long long>(size.fill), static_cast<long long>(size.working),
        size.operations, static_cast<long long>(kMaxFill), kMaxOperations);
    return nullptr;
  }
  return topology;
}

}  // namespace phasic
