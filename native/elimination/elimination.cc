#include "native/elimination/elimination.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#include "native/elimination/differences.h"
#include "native/elimination/factors.h"
#include "native/elimination/recent.h"
#include "native/elimination/substitution.h"
#include "native/elimination/system_layout.h"
#include "native/elimination/topology.h"
#include "native/kernel/float_environment.h"
#include "native/kernel/parallel.h"

namespace phasic {
namespace {

using PHASIC_ISA::Denormals;
using PHASIC_ISA::FloatEnvironment;

constexpr size_t kTopologyBytes = size_t{1} << 28;
constexpr size_t kFactorBytes = size_t{1} << 28;
// Below this a model is sooner eliminated again than found.
constexpr double kWorthKeeping = 2e4;
constexpr double kOperationsWorthThreads = 4e4;

constexpr const char* kNoMemory = "elimination: memory does not suffice";

std::shared_ptr<const Topology> FindTopology(int64_t num_phases,
                                             int64_t num_edges,
                                             const int32_t* indices,
                                             const char** error) {
  static auto* recent = new Recent<Topology>(16, kTopologyBytes);
  const size_t bytes = sizeof(int32_t) * 2 * static_cast<size_t>(num_edges);
  auto found = recent->Find([&](const Topology& t) {
    return t.num_phases == num_phases && t.num_edges == num_edges &&
           std::memcmp(t.indices.data(), indices, bytes) == 0;
  });
  if (found != nullptr) return found;
  found = MakeTopology(num_phases, num_edges, indices, true, error);
  if (found != nullptr) recent->Keep(found);
  return found;
}

std::shared_ptr<const Factors> FindFactors(
    const std::shared_ptr<const Topology>& topology, const double* weights) {
  if (topology->size.operations < kWorthKeeping) {
    return Factorize(topology, weights);
  }
  static auto* recent = new Recent<Factors>(4, kFactorBytes);
  const size_t bytes =
      sizeof(double) * static_cast<size_t>(topology->num_edges);
  auto found = recent->Find([&](const Factors& f) {
    return f.topology == topology &&
           std::memcmp(f.given.data(), weights, bytes) == 0;
  });
  if (found != nullptr) return found;
  found = Factorize(topology, weights);
  recent->Keep(found);
  return found;
}

template <class F>
class Run {
 public:
  Run(Direction direction, const LinearSystem& system,
      const SystemLayout& layout, const Output& per_phase,
      const Output& per_edge, bool wants_edges)
      : direction_(direction),
        system_(system),
        layout_(layout),
        per_phase_(static_cast<F*>(per_phase.data)),
        per_edge_(wants_edges ? static_cast<F*>(per_edge.data) : nullptr) {}

  const char* All(Executor* executor) const {
    const int64_t size = layout_.batch_size();
    if (size == 0) return nullptr;
    const char* error = nullptr;
    std::shared_ptr<const Topology> topology = TopologyOf(0, &error);
    if (topology == nullptr) return error;
    if (size > 1 && layout_.shares_indices() &&
        static_cast<double>(size) * topology->size.operations >
            kOperationsWorthThreads) {
      return ParallelFor(executor, size, [&](int64_t n) -> const char* {
        try {
          Model(n, topology);
        } catch (const std::bad_alloc&) {
          return kNoMemory;
        }
        return nullptr;
      });
    }
    for (int64_t n = 0; n < size; ++n) {
      if (!layout_.shares_indices()) topology = TopologyOf(n, &error);
      if (topology == nullptr) return error;
      Model(n, topology);
    }
    return nullptr;
  }

 private:
  std::shared_ptr<const Topology> TopologyOf(int64_t model,
                                             const char** error) const {
    return FindTopology(layout_.num_phases(), layout_.num_edges(),
                        static_cast<const int32_t*>(system_.indices.data) +
                            layout_.Offset(SystemLayout::kIndices, model),
                        error);
  }

  void Model(int64_t model,
             const std::shared_ptr<const Topology>& topology) const {
    const FloatEnvironment environment(Denormals::kKeep);
    const int64_t m = layout_.num_edges();
    const F* given = static_cast<const F*>(system_.weights.data) +
                     layout_.Offset(SystemLayout::kWeights, model);
    const std::vector<double> weights(given, given + m);
    const auto factors = FindFactors(topology, weights.data());
    const int64_t columns = layout_.num_columns();
    F* per_phase = per_phase_ + model * layout_.num_phases() * columns;
    F* per_edge =
        per_edge_ == nullptr ? nullptr : per_edge_ + model * m * columns;
    if (!factors->is_valid) {
      const F nan = std::numeric_limits<F>::quiet_NaN();
      std::fill(per_phase, per_phase + layout_.num_phases() * columns, nan);
      if (per_edge != nullptr) std::fill(per_edge, per_edge + m * columns, nan);
      return;
    }
    std::vector<double> rest = RightHandSides(*topology, model);
    if (direction_ == Direction::kSolve) {
      Solve(*factors, &rest, per_phase, per_edge);
    } else {
      SubstituteTransposed(*factors, columns, rest.data());
      StorePhases(*topology, rest, per_phase);
      if (per_edge != nullptr) StoreAtSources(*topology, rest, per_edge);
    }
  }

  // By position.
  std::vector<double> RightHandSides(const Topology& t, int64_t model) const {
    const int64_t columns = layout_.num_columns();
    const F* per_phase = static_cast<const F*>(system_.per_phase.data) +
                         layout_.Offset(SystemLayout::kPerPhase, model);
    std::vector<double> rest(t.num_phases * columns);
    for (int64_t n = 0; n < t.num_phases; ++n) {
      for (int64_t c = 0; c < columns; ++c) {
        rest[n * columns + c] = per_phase[t.phases[n] * columns + c];
      }
    }
    if (!layout_.has_per_edge()) return rest;
    const F* per_edge = static_cast<const F*>(system_.per_edge.data) +
                        layout_.Offset(SystemLayout::kPerEdge, model);
    for (int64_t n = 0; n < t.num_phases; ++n) {
      for (int64_t s = t.edge_offsets[n]; s < t.edge_offsets[n + 1]; ++s) {
        const F* mine = per_edge + t.edge_numbers[s] * columns;
        const int64_t target = t.edge_targets[s];
        for (int64_t c = 0; c < columns; ++c) {
          rest[n * columns + c] += mine[c];
          if (direction_ == Direction::kSolveTransposed &&
              target < t.num_phases) {
            rest[target * columns + c] -= mine[c];
          }
        }
      }
    }
    return rest;
  }

  void Solve(const Factors& factors, std::vector<double>* rest, F* per_phase,
             F* per_edge) const {
    const Topology& t = *factors.topology;
    const int64_t columns = layout_.num_columns();
    std::vector<double> solution(rest->size());
    std::vector<double> given;
    if (per_edge != nullptr) given = *rest;
    Substitute(factors, columns, rest->data(), solution.data());
    StorePhases(t, solution, per_phase);
    if (per_edge == nullptr) return;
    std::vector<double> differences(t.num_edges * columns);
    SubtractAlongEdges(factors, columns, given.data(), rest->data(),
                       solution.data(), differences.data());
    std::transform(differences.begin(), differences.end(), per_edge,
                   [](double x) { return static_cast<F>(x); });
  }

  void StorePhases(const Topology& t, const std::vector<double>& x,
                   F* per_phase) const {
    const int64_t columns = layout_.num_columns();
    for (int64_t n = 0; n < t.num_phases; ++n) {
      for (int64_t c = 0; c < columns; ++c) {
        per_phase[t.phases[n] * columns + c] =
            static_cast<F>(x[n * columns + c]);
      }
    }
  }

  void StoreAtSources(const Topology& t, const std::vector<double>& x,
                      F* per_edge) const {
    const int64_t columns = layout_.num_columns();
    for (int64_t n = 0; n < t.num_phases; ++n) {
      for (int64_t s = t.edge_offsets[n]; s < t.edge_offsets[n + 1]; ++s) {
        for (int64_t c = 0; c < columns; ++c) {
          per_edge[t.edge_numbers[s] * columns + c] =
              static_cast<F>(x[n * columns + c]);
        }
      }
    }
  }

  const Direction direction_;
  const LinearSystem& system_;
  const SystemLayout& layout_;
  F* const per_phase_;
  F* const per_edge_;
};

}  // namespace

const char* Eliminate(Direction direction, const LinearSystem& system,
                      const Output& per_phase, const Output& per_edge,
                      Executor* executor) {
  const Shape& shape = per_edge.shape;
  const bool wants_edges = shape.rank > 0 && shape.dims[shape.rank - 1] != 0;
  SystemLayout layout;
  const char* error = layout.Check(system, wants_edges, per_phase, per_edge);
  if (error != nullptr) return error;
  try {
    if (system.precision == Precision::kFloat32) {
      return Run<float>(direction, system, layout, per_phase, per_edge,
                        wants_edges)
          .All(executor);
    }
    return Run<double>(direction, system, layout, per_phase, per_edge,
                       wants_edges)
        .All(executor);
  } catch (const std::bad_alloc&) {
    return kNoMemory;
  }
}

const char* MeasureElimination(int64_t num_phases, const Input& indices,
                               EliminationSize* size) {
  if (indices.shape.rank != 2 || indices.shape.dims[0] != 2) {
    return "indices: must be [2, m]";
  }
  const char* error = nullptr;
  const auto topology =
      MakeTopology(num_phases, indices.shape.dims[1],
                   static_cast<const int32_t*>(indices.data), false, &error);
  if (topology != nullptr) *size = topology->size;
  return error;
}

}  // namespace phasic
