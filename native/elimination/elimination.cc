#include "native/elimination/elimination.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "native/elimination/factors.h"
#include "native/elimination/recent.h"
#include "native/elimination/solver.h"
#include "native/elimination/system_layout.h"
#include "native/elimination/topology.h"
#include "native/kernel/float_environment.h"
#include "native/kernel/parallel.h"

namespace phasic {
namespace {

using PHASIC_ISA::Denormals;
using PHASIC_ISA::FloatEnvironment;

constexpr size_t kTopologyBytes = size_t{1} << 28;
constexpr double kOperationsWorthThreads = 4e4;
// Fewer models are solved one by one: side by side they would take as long as
// all lanes.
constexpr int64_t kMinLanes = 3;
// Numbers of a model; larger ones side by side would not stay in the cache.
constexpr int64_t kMaxSideBySide = int64_t{1} << 18;
// What all threads may take together; larger models are solved one at a time.
constexpr int64_t kMaxThreadBytes = int64_t{1} << 31;

constexpr const char* kNoMemory = "elimination: memory does not suffice";

std::shared_ptr<const Topology> FindTopology(int64_t num_phases,
                                             int64_t num_edges,
                                             const int32_t* indices,
                                             const char** error) {
  static auto* recent = new Recent<Topology>(16, kTopologyBytes);
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

// Numbers that a model takes while it is solved.
int64_t NumbersOf(const Topology& t, int64_t columns) {
  return t.num_edges + t.num_factors + t.num_working +
         t.num_phases * (2 + 5 * columns);
}

template <class F>
class Run {
 public:
  Run(const Solver& solver, Direction direction, const LinearSystem& system,
      const SystemLayout& layout, const Output& per_phase,
      const Output& per_edge, bool wants_edges)
      : solver_(solver),
        direction_(direction),
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
    if (size == 1) {
      Model(0, topology);
      return nullptr;
    }
    if (!layout_.shares_indices()) {
      for (int64_t n = 0; n < size; ++n) {
        topology = TopologyOf(n, &error);
        if (topology == nullptr) return error;
        Model(n, topology);
      }
      return nullptr;
    }
    const int64_t numbers = NumbersOf(*topology, layout_.num_columns());
    const int64_t together = numbers <= kMaxSideBySide ? kLanes : 1;
    const int64_t num_groups = (size + together - 1) / together;
    const auto run = [&](int64_t group) -> const char* {
      try {
        Group(group * together, std::min(size, (group + 1) * together),
              topology);
      } catch (const std::bad_alloc&) {
        return kNoMemory;
      }
      return nullptr;
    };
    const auto bytes = static_cast<int64_t>(sizeof(double)) * numbers;
    if (num_groups > 1 &&
        static_cast<double>(size) * topology->size.operations >
            kOperationsWorthThreads &&
        bytes * together <= kMaxThreadBytes / NumThreads(executor)) {
      return ParallelFor(executor, num_groups, run);
    }
    for (int64_t group = 0; group < num_groups; ++group) {
      if (const char* message = run(group)) return message;
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

  void Group(int64_t first, int64_t last,
             const std::shared_ptr<const Topology>& topology) const {
    uint32_t apart = ~uint32_t{0};
    if (last - first >= kMinLanes) apart = SideBySide(first, last, topology);
    for (int64_t n = first; n < last; ++n) {
      if ((apart >> (n - first) & 1U) != 0) Model(n, topology);
    }
  }

  // Returns which of the models have not been solved.
  uint32_t SideBySide(int64_t first, int64_t last,
                      const std::shared_ptr<const Topology>& topology) const {
    const FloatEnvironment environment(Denormals::kKeep);
    const auto count = static_cast<int>(last - first);
    Task task = NewTask(count);
    Weights weights = {{}, count, system_.precision};
    for (int l = 0; l < kLanes; ++l) {
      Place(std::min(first + l, last - 1), l, &weights, &task);
    }
    const ThreadScratch scratch(*topology, kLanes, task.columns,
                                wants_differences());
    const auto factors =
        FindFactors(topology, weights, kLanes, solver_, scratch.arrays());
    solver_.solve_lanes(*topology, factors->arrays, task, scratch.arrays());
    return factors->apart;
  }

  void Model(int64_t model,
             const std::shared_ptr<const Topology>& topology) const {
    const FloatEnvironment environment(Denormals::kKeep);
    Task task = NewTask(1);
    Weights weights = {{}, 1, system_.precision};
    Place(model, 0, &weights, &task);
    const ThreadScratch scratch(*topology, 1, task.columns,
                                wants_differences());
    const auto factors =
        FindFactors(topology, weights, 1, solver_, scratch.arrays());
    if (factors->findings.is_invalid) {
      const F nan = std::numeric_limits<F>::quiet_NaN();
      std::fill_n(static_cast<F*>(task.phase_results[0]),
                  layout_.num_phases() * task.columns, nan);
      if (per_edge_ != nullptr) {
        std::fill_n(static_cast<F*>(task.edge_results[0]),
                    layout_.num_edges() * task.columns, nan);
      }
      return;
    }
    solver_.solve(*topology, factors->arrays, factors->findings.has_traps, task,
                  scratch.arrays());
  }

  bool wants_differences() const {
    return per_edge_ != nullptr && direction_ == Direction::kSolve;
  }

  Task NewTask(int count) const {
    Task task = {};
    task.direction = direction_;
    task.columns = layout_.num_columns();
    task.count = count;
    return task;
  }

  // Puts a model in a lane.
  void Place(int64_t model, int lane, Weights* weights, Task* task) const {
    const auto at = [&](const Input& input, SystemLayout::Operand operand) {
      return static_cast<const F*>(input.data) + layout_.Offset(operand, model);
    };
    weights->arrays[lane] = at(system_.weights, SystemLayout::kWeights);
    task->per_phase[lane] = at(system_.per_phase, SystemLayout::kPerPhase);
    if (layout_.has_per_edge()) {
      task->per_edge[lane] = at(system_.per_edge, SystemLayout::kPerEdge);
    }
    const int64_t columns = layout_.num_columns();
    task->phase_results[lane] =
        per_phase_ + model * layout_.num_phases() * columns;
    if (per_edge_ != nullptr) {
      task->edge_results[lane] =
          per_edge_ + model * layout_.num_edges() * columns;
    }
  }

  const Solver& solver_;
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
      return Run<float>(Solvers().for_float, direction, system, layout,
                        per_phase, per_edge, wants_edges)
          .All(executor);
    }
    return Run<double>(Solvers().for_double, direction, system, layout,
                       per_phase, per_edge, wants_edges)
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
