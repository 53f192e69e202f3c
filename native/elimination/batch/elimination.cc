#include "native/elimination/api/elimination.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "native/elimination/batch/model_runs.h"
#include "native/elimination/batch/system_layout.h"
#include "native/elimination/factors/factors.h"
#include "native/elimination/solver/solver.h"
#include "native/elimination/symbolic/topology.h"
#include "native/kernel/simd/float_environment.h"

namespace phasic {
namespace {

using PHASIC_ISA::Denormals;
using PHASIC_ISA::FloatEnvironment;

// Solves the linear systems of one call. This is the `Work` of ModelRuns.
template <class F>
class Systems {
 public:
  Systems(const Solver& solver, const Solver& wide_solver, Direction direction,
          const LinearSystem& system, const SystemLayout& layout,
          const Output& per_phase, const Output& per_edge, bool wants_edges)
      : solver_(solver),
        wide_solver_(wide_solver),
        direction_(direction),
        system_(system),
        layout_(layout),
        per_phase_(static_cast<F*>(per_phase.data)),
        per_edge_(wants_edges ? static_cast<F*>(per_edge.data) : nullptr) {}

  int64_t Numbers(const Topology& t) const {
    return t.num_edges + t.num_factors + t.num_working +
           t.num_phases * (2 + 5 * layout_.num_columns());
  }

  uint32_t SideBySide(int64_t first, int64_t last,
                      const std::shared_ptr<const Topology>& topology) const {
    const FloatEnvironment environment(Denormals::kKeep);
    const auto count = static_cast<int>(last - first);
    Task task = NewTask(count);
    Weights weights = {{}, count, sizeof(F)};
    for (int l = 0; l < kLanes; ++l) {
      Place(std::min(first + l, last - 1), l, &weights, &task);
    }
    const ThreadScratch scratch(*topology, kLanes, task.columns,
                                wants_differences());
    const auto factors =
        FindFactors(topology, weights, kLanes, solver_, scratch.arrays());
    solver_.solve_lanes(*topology, factors->arrays, task, scratch.arrays());
    return LeftRange(*factors) ? ~uint32_t{0} : factors->apart;
  }

  void Alone(int64_t model,
             const std::shared_ptr<const Topology>& topology) const {
    const FloatEnvironment environment(Denormals::kKeep);
    if (Stays(model, topology, solver_, 1)) return;
    Stays(model, topology, wide_solver_, kWideSize);
  }

 private:
  // Solves one model. Returns whether all its numbers stayed in the range of
  // doubles.
  bool Stays(int64_t model, const std::shared_ptr<const Topology>& topology,
             const Solver& solver, int lanes) const {
    Task task = NewTask(1);
    Weights weights = {{}, 1, sizeof(F)};
    Place(model, 0, &weights, &task);
    const ThreadScratch scratch(*topology, lanes, task.columns,
                                wants_differences());
    const auto factors =
        FindFactors(topology, weights, lanes, solver, scratch.arrays());
    if (factors->findings.is_invalid) {
      const F nan = std::numeric_limits<F>::quiet_NaN();
      std::fill_n(static_cast<F*>(task.phase_results[0]),
                  layout_.num_phases() * task.columns, nan);
      if (per_edge_ != nullptr) {
        std::fill_n(static_cast<F*>(task.edge_results[0]),
                    layout_.num_edges() * task.columns, nan);
      }
    } else {
      solver.solve(*topology, factors->arrays, factors->findings.has_traps,
                   task, scratch.arrays());
    }
    return !LeftRange(*factors);
  }

  static bool LeftRange(const Factors& factors) {
    return factors.left_range || FloatEnvironment::LeftRange();
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

  // Points one lane of `weights` and `task` to the arrays of a model.
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
  const Solver& wide_solver_;  // for numbers outside of the range of doubles
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
  const auto run = [&](const auto& work) {
    return RunModels(layout, system.indices, work, executor);
  };
  if (system.precision == Precision::kFloat32) {
    return run(Systems<float>(Solvers().for_float, kWideSolvers.for_float,
                              direction, system, layout, per_phase, per_edge,
                              wants_edges));
  }
  return run(Systems<double>(Solvers().for_double, kWideSolvers.for_double,
                             direction, system, layout, per_phase, per_edge,
                             wants_edges));
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
