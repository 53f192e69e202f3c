// Two functions of the Python module. `eliminate` solves the linear systems of
// Markov chains, given as NumPy arrays. `measure_elimination` computes the
// memory and the number of operations that this needs.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "native/elimination/api/elimination.h"
#include "native/python/arrays.h"
#include "native/python/definitions.h"
#include "native/python/without_gil.h"

namespace py = pybind11;

namespace phasic {
namespace {

// Computes the dimensions of a result: the broadcast batch dimensions, then
// rows and columns. The kernel checks whether the shapes broadcast.
class ResultShape {
 public:
  ResultShape(const LinearSystem& system, int64_t rows, int64_t columns)
      : rank_(system.weights.shape.rank + 1) {
    std::fill_n(dims_, rank_, 1);
    const int32_t batch_rank = rank_ - 2;
    for (const Shape& shape : {system.weights.shape, system.indices.shape,
                               system.per_phase.shape, system.per_edge.shape}) {
      const int32_t rank = std::min(batch_rank, shape.rank);
      for (int32_t axis = 0; axis < rank; ++axis) {
        if (shape.dims[axis] != 1) dims_[axis] = shape.dims[axis];
      }
    }
    dims_[batch_rank] = rows;
    dims_[batch_rank + 1] = columns;
  }

  Shape get() const { return {dims_, rank_}; }

 private:
  int64_t dims_[kMaxRank + 1];
  int32_t rank_;
};

// Solves linear systems given as NumPy arrays; returns the results as arrays.
// `per_edge` may be None, which stands for zeros.
py::object EliminateArrays(bool transposed, const py::array& indices,
                           const py::array& weights, const py::array& per_phase,
                           const py::object& per_edge, bool wants_edges) {
  const Precision precision = PrecisionOf(weights, "weights");
  const HeldArray index = HeldArray::Of<int32_t>(indices, "indices");
  const HeldArray weight = HeldArray::OfFloats(weights, precision, "weights");
  const HeldArray phases =
      HeldArray::OfFloats(per_phase, precision, "per_phase");
  const Shape& b = phases.shape();
  const Shape& w = weight.shape();
  if (w.rank < 1 || w.rank > kMaxRank || b.rank < 2 || b.rank > kMaxRank) {
    throw py::value_error("weights and per_phase: too few dimensions");
  }
  const int64_t columns = b.dims[b.rank - 1];
  LinearSystem system = {
      index.input(), weight.input(), phases.input(), {}, precision};
  std::optional<HeldArray> edges;
  int64_t none[kMaxRank];
  if (per_edge.is_none()) {
    std::fill_n(none, b.rank, 1);
    none[b.rank - 2] = 0;
    none[b.rank - 1] = columns;
    system.per_edge = {nullptr, {none, b.rank}};
  } else {
    edges.emplace(HeldArray::OfFloats(per_edge, precision, "per_edge"));
    system.per_edge = edges->input();
  }
  const ResultShape phase_shape(system, b.dims[b.rank - 2], columns);
  const ResultShape edge_shape(system, wants_edges ? w.dims[w.rank - 1] : 0,
                               wants_edges ? columns : 0);
  py::array phase_result = NewArray(phase_shape.get(), precision);
  const Output phase_output = {phase_result.mutable_data(), phase_shape.get()};
  py::object edge_result = py::none();
  Output edge_output = {nullptr, edge_shape.get()};
  if (wants_edges) {
    py::array result = NewArray(edge_shape.get(), precision);
    edge_output.data = result.mutable_data();
    edge_result = std::move(result);
  }
  Check(WithoutGil([&] {
    return Eliminate(
        transposed ? Direction::kSolveTransposed : Direction::kSolve, system,
        phase_output, edge_output);
  }));
  if (!wants_edges) return std::move(phase_result);
  return py::make_tuple(phase_result, edge_result);
}

py::dict Measure(int64_t num_phases, const py::array& indices) {
  const HeldArray index = HeldArray::Of<int32_t>(indices, "indices");
  EliminationSize size = {};
  Check(WithoutGil(
      [&] { return MeasureElimination(num_phases, index.input(), &size); }));
  py::dict result;
  result["num_components"] = size.num_components;
  result["largest_component"] = size.largest_component;
  result["fill"] = size.fill;
  result["working"] = size.working;
  result["operations"] = size.operations;
  return result;
}

void DefineElimination(py::module_* module) {
  module->def("eliminate", &EliminateArrays, py::arg("transposed"),
              py::arg("indices"), py::arg("weights"), py::arg("per_phase"),
              py::arg("per_edge"), py::arg("wants_edges"),
              "Solves the linear system of a chain, or its transpose. Returns "
              "the results for phases or, if wants_edges is True, a pair of "
              "the results for phases and the results for edges.");
  module->def("measure_elimination", &Measure, py::arg("num_phases"),
              py::arg("indices"),
              "Returns the memory and the number of operations that an "
              "elimination needs.");
}

const AtImport kDefined(&DefineElimination);

}  // namespace
}  // namespace phasic
