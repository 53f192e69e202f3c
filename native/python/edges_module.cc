// Checks and moments of one sparse model whose NumPy arrays need no conversion:
// the functions edges_meet_constraints and moments_of_edges of the Python
// module.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "native/elimination/api/moments.h"
#include "native/python/arrays.h"
#include "native/python/definitions.h"
#include "native/python/without_gil.h"

namespace phasic {
namespace {

namespace py = pybind11;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// The checks of values leave larger models out, as those in Python do.
constexpr int64_t kMostNumbers = 100000;

// The elements of an array.
template <class T>
struct View {
  const T* data;
  int64_t size;

  const T* begin() const { return data; }
  const T* end() const { return data + size; }
};

// Finds the elements of an array that needs no conversion: of NumPy's own class
// with elements of type T and `rank` dimensions, aligned and C-contiguous.
// Returns whether the object is one.
template <class T>
bool FindElements(const py::handle& object, int64_t rank, View<T>* found) {
  const auto& api = py::detail::npy_api::get();
  if (Py_TYPE(object.ptr()) != api.PyArray_Type_ ||
      !py::isinstance<py::array_t<T>>(object)) {
    return false;
  }
  const auto array = py::reinterpret_borrow<py::array>(object);
  constexpr int kWanted =
      static_cast<int>(py::array::c_style) |
      static_cast<int>(py::detail::npy_api::NPY_ARRAY_ALIGNED_);
  if (array.ndim() != rank || (array.flags() & kWanted) != kWanted) {
    return false;
  }
  *found = {static_cast<const T*>(array.data()), array.size()};
  return true;
}

bool AreNonnegative(View<double> values) {
  return std::all_of(values.begin(), values.end(),
                     [](double x) { return x >= 0.0 && x < HUGE_VAL; });
}

// The arrays of one sparse model.
class EdgeModel {
 public:
  // Reads the fields of EdgeRates or EdgeProbs. Returns false if an array needs
  // conversion, shapes do not fit, or an index is out of range.
  bool Read(const py::object& initial_probs, const py::tuple& edges,
            const py::object& prob_zero) {
    if (edges.size() != 5 || !FindElements(initial_probs, 1, &initial_) ||
        !FindElements(edges[0], 1, &sources_) ||
        !FindElements(edges[1], 1, &targets_) ||
        !FindElements(edges[2], 1, &parameters_)) {
      return false;
    }
    const py::object coefficients = edges[3];
    const py::object constants = edges[4];
    const int64_t m = sources_.size;
    const int64_t d = parameters_.size;
    if (targets_.size != m || initial_.size == 0) return false;
    if (!constants.is_none() &&
        (!FindElements(constants, 1, &constants_) || constants_.size != m)) {
      return false;
    }
    if (coefficients.is_none()) {
      if (d != m) return false;
    } else if (d == 0 || !FindElements(coefficients, 2, &coefficients_) ||
               coefficients_.size != m * d ||
               py::reinterpret_borrow<py::array>(coefficients).shape(0) != m) {
      return false;
    }
    return ReadAtom(prob_zero) && AreInRange(sources_, initial_.size) &&
           AreInRange(targets_, initial_.size + 1);
  }

  int64_t num_numbers() const {
    return initial_.size + 2 * sources_.size + parameters_.size +
           coefficients_.size + constants_.size + 1;
  }

  // Returns whether all values certainly are valid. Sums that are too close to
  // a bound for a decision count as invalid.
  bool Meets(bool discrete) const {
    if (!AreNonnegative(initial_) || !StartFits()) return false;
    const int64_t m = sources_.size;
    std::vector<double> sums;
    if (discrete) sums.resize(static_cast<size_t>(initial_.size));
    for (int64_t e = 0; e < m; ++e) {
      double weight = 0.0;
      double error = 0.0;
      if (!FindWeight(e, &weight, &error)) return false;
      if (!discrete) continue;
      sums[static_cast<size_t>(sources_.data[e])] += weight + error;
    }
    const double most =
        1.0 + 3.0 * static_cast<double>(initial_.size) * kEpsilon;
    return std::all_of(sums.begin(), sums.end(),
                       [most](double sum) { return sum <= most; });
  }

  // Computes the weights of the edges, as NumPy does. Returns false if they are
  // sums over several parameters.
  bool FindWeights(std::vector<double>* weights) const {
    const bool is_linear = coefficients_.data != nullptr;
    if (is_linear && parameters_.size != 1) return false;
    weights->resize(static_cast<size_t>(sources_.size));
    for (int64_t e = 0; e < sources_.size; ++e) {
      const double term = is_linear ? coefficients_.data[e] * *parameters_.data
                                    : parameters_.data[e];
      (*weights)[static_cast<size_t>(e)] = term + Constant(e);
    }
    return true;
  }

  bool HasLoops() const {
    return !std::equal(
        sources_.begin(), sources_.end(), targets_.begin(),
        [](int32_t source, int32_t target) { return source != target; });
  }

  View<double> initial() const { return initial_; }
  View<int32_t> sources() const { return sources_; }
  View<int32_t> targets() const { return targets_; }
  bool has_atom() const { return has_atom_; }
  const double* atom() const { return &atom_; }

 private:
  // Reads the mass at zero: None, a number, or an array of one number.
  bool ReadAtom(const py::object& prob_zero) {
    if (prob_zero.is_none()) return true;
    has_atom_ = true;
    if (PyFloat_Check(prob_zero.ptr()) != 0) {
      atom_ = PyFloat_AS_DOUBLE(prob_zero.ptr());
      return true;
    }
    View<double> one = {};
    if (!FindElements(prob_zero, 0, &one)) return false;
    atom_ = *one.data;
    return true;
  }

  // Loops of checks do not stop early, so that they are vectorized.
  static bool AreInRange(View<int32_t> indices, int64_t end) {
    const auto limit = static_cast<int32_t>(
        std::min<int64_t>(end, std::numeric_limits<int32_t>::max()));
    bool fit = true;
    for (const int32_t index : indices) fit &= index >= 0 && index < limit;
    return fit;
  }

  // Returns whether the initial masses and the mass at zero sum to one.
  bool StartFits() const {
    if (!(atom_ >= 0.0 && atom_ <= 1.0)) return false;
    double sum = atom_;
    for (const double x : initial_) sum += x;
    return std::fabs(sum - 1.0) <=
           3.0 * static_cast<double>(initial_.size) * kEpsilon;
  }

  // Computes the weight of edge e, and a bound on the difference of its sums in
  // other orders. Returns whether the weight certainly is finite and not
  // negative.
  bool FindWeight(int64_t e, double* weight, double* error) const {
    const int64_t d = parameters_.size;
    double sum = 0.0;
    double size = 0.0;
    if (coefficients_.data == nullptr) {
      sum = parameters_.data[e];
      size = std::fabs(sum);
    } else {
      const double* row = coefficients_.data + e * d;
      for (int64_t c = 0; c < d; ++c) {
        const double term = row[c] * parameters_.data[c];
        sum += term;
        size += std::fabs(term);
      }
    }
    *weight = sum + Constant(e);
    size += std::fabs(Constant(e));
    // With one term there is one order.
    const bool is_sum = coefficients_.data != nullptr && d > 1;
    *error = is_sum ? 2.0 * static_cast<double>(d + 1) * kEpsilon * size : 0.0;
    if (!(size < HUGE_VAL && *weight < HUGE_VAL)) return false;
    return is_sum ? *weight > *error || size == 0.0 : *weight >= 0.0;
  }

  double Constant(int64_t e) const {
    return constants_.data == nullptr ? 0.0 : constants_.data[e];
  }

  View<double> initial_ = {};
  View<int32_t> sources_ = {};
  View<int32_t> targets_ = {};
  View<double> parameters_ = {};
  View<double> coefficients_ = {};
  View<double> constants_ = {};
  bool has_atom_ = false;
  double atom_ = 0.0;
};

bool EdgesMeetConstraints(const py::object& initial_probs,
                          const py::tuple& edges, const py::object& prob_zero,
                          bool discrete) {
  EdgeModel model;
  return model.Read(initial_probs, edges, prob_zero) &&
         model.num_numbers() <= kMostNumbers && model.Meets(discrete);
}

Input InputOf(const void* data, const int64_t* dims, int32_t rank) {
  return {data, {dims, rank}};
}

py::object MomentsOfEdges(const py::object& initial_probs,
                          const py::tuple& edges, const py::object& weights,
                          const py::object& prob_zero, bool discrete,
                          bool gives_variance, bool gives_root,
                          double epsilon) {
  EdgeModel model;
  if (!model.Read(initial_probs, edges, prob_zero) ||
      (discrete && model.HasLoops())) {
    return py::none();
  }
  View<double> values = {};
  std::vector<double> own;
  if (weights.is_none()) {
    if (!model.FindWeights(&own)) return py::none();
    values = {own.data(), static_cast<int64_t>(own.size())};
  } else if (!FindElements(weights, 1, &values) ||
             values.size != model.sources().size) {
    return py::none();
  }
  std::vector<int32_t> indices(model.sources().begin(), model.sources().end());
  indices.insert(indices.end(), model.targets().begin(), model.targets().end());
  const int64_t index_dims[] = {2, values.size};
  const int64_t atom_dims[] = {model.has_atom() ? 1 : 0};
  const int64_t none[] = {0};
  MomentsCall call = {};
  call.precision = Precision::kFloat64;
  call.indices = InputOf(indices.data(), index_dims, 2);
  call.weights = InputOf(values.data, &values.size, 1);
  call.exits = InputOf(&epsilon, none, 1);
  const View<double> initial = model.initial();
  call.initial = InputOf(initial.data, &initial.size, 1);
  call.atom = InputOf(model.atom(), atom_dims, 1);
  call.stay = InputOf(&epsilon, none, 1);
  call.is_discrete = discrete;
  call.wants_variance = gives_variance;
  call.wants_root = gives_root;
  call.epsilon = epsilon;
  const Shape scalar = {none, 0};
  MomentResults results[2] = {};
  py::tuple arrays(gives_variance ? 2 : 1);
  for (size_t i = 0; i < arrays.size(); ++i) {
    py::array array = NewArray(scalar, call.precision);
    results[i].value = {array.mutable_data(), scalar};
    arrays[i] = std::move(array);
  }
  Check(
      WithoutGil([&] { return ComputeMoments(call, results[0], results[1]); }));
  return std::move(arrays);
}

void DefineEdges(py::module_* module) {
  module->def("edges_meet_constraints", &EdgesMeetConstraints,
              py::arg("initial_probs"), py::arg("edges"), py::arg("prob_zero"),
              py::arg("discrete"),
              "Returns whether the arrays of one sparse model need no "
              "conversion and certainly meet their constraints.");
  module->def(
      "moments_of_edges", &MomentsOfEdges, py::arg("initial_probs"),
      py::arg("edges"), py::arg("weights"), py::arg("prob_zero"),
      py::arg("discrete"), py::arg("gives_variance"), py::arg("gives_root"),
      py::arg("epsilon"),
      "Computes `moments` of one sparse model; the weights of its edges "
      "may be None if these have at most one parameter each. Returns "
      "None if an array needs conversion, shapes do not fit, or edges "
      "of a discrete model have loops.");
}

const AtImport kDefined(&DefineEdges);

}  // namespace
}  // namespace phasic
