// Checks of the values of parameters that are NumPy arrays: the functions
// meets_constraint and model_meets_constraints of the Python module.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "native/python/definitions.h"

namespace phasic {
namespace {

namespace py = pybind11;

enum class Constraint {
  kNonnegative,
  kPositive,
  kProbability,
  kPositiveProbability,
  kProbabilities,
  kSubprobabilities,
  kSubgenerator,
  kSubtransition,
};

Constraint ParseConstraint(const std::string& name) {
  // For "increasing" the order of the values is not checked, because no
  // distribution is NaN if the order is wrong.
  if (name == "positive" || name == "increasing") return Constraint::kPositive;
  if (name == "nonnegative") return Constraint::kNonnegative;
  if (name == "probability") return Constraint::kProbability;
  if (name == "positive probability") return Constraint::kPositiveProbability;
  if (name == "probabilities") return Constraint::kProbabilities;
  if (name == "subprobabilities") return Constraint::kSubprobabilities;
  if (name == "subgenerator") return Constraint::kSubgenerator;
  if (name == "subtransition") return Constraint::kSubtransition;
  throw py::value_error("constraint is '" + name +
                        "': it must be the name of a constraint");
}

// The rows of an array along its last axis, with functions that check them.
template <class T>
class Rows {
 public:
  // `exits` has one number for each row: the exit rate or probability of the
  // phase or, if rows are initial probabilities, the mass at zero. It is null
  // if these numbers are derived from the rows.
  Rows(const T* x, int64_t count, int64_t size, const T* exits)
      : x_(x), count_(count), size_(size), exits_(exits) {}

  // A matrix without any derived exit is rejected: its exits may be meant, but
  // so small that they count as rounding errors.
  bool Meet(Constraint constraint) const {
    const bool derives_exits =
        exits_ == nullptr && (constraint == Constraint::kSubgenerator ||
                              constraint == Constraint::kSubtransition);
    bool exits = false;
    for (int64_t i = 0; i < count_; ++i) {
      const T* row = x_ + i * size_;
      if (!Meets(constraint, row, i)) return false;
      if (!derives_exits) continue;
      exits = exits || Exits(constraint, row);
      if ((i + 1) % size_ != 0) continue;
      if (!exits) return false;
      exits = false;
    }
    return true;
  }

 private:
  bool Meets(Constraint constraint, const T* row, int64_t i) const {
    switch (constraint) {
      case Constraint::kNonnegative:
        return AreNonnegative(row);
      case Constraint::kPositive:
        return std::all_of(row, row + size_,
                           [](T x) { return x > T(0) && x < T(HUGE_VAL); });
      case Constraint::kProbability:
        return std::all_of(row, row + size_,
                           [](T x) { return x >= T(0) && x <= T(1); });
      case Constraint::kPositiveProbability:
        return std::all_of(row, row + size_,
                           [](T x) { return x > T(0) && x <= T(1); });
      case Constraint::kProbabilities:
        return AreNonnegative(row) && std::fabs(Sum(row) - 1.0) <= Tolerance();
      case Constraint::kSubprobabilities:
        // Initial probabilities may have any sum if the mass at zero is given.
        return AreNonnegative(row) && (exits_ != nullptr || SumFits(row));
      case Constraint::kSubtransition:
        return AreNonnegative(row) && StepFits(row, i);
      case Constraint::kSubgenerator:
        return RatesFit(row, i % size_);
    }
    return false;
  }

  bool AreNonnegative(const T* row) const {
    return std::all_of(row, row + size_,
                       [](T x) { return x >= T(0) && x < T(HUGE_VAL); });
  }

  double Sum(const T* row) const {
    double sum = 0.0;
    for (int64_t j = 0; j < size_; ++j) sum += static_cast<double>(row[j]);
    return sum;
  }

  // The tolerance for the sum of a row of p numbers. The constraints in Python
  // have the tolerance 4 p eps with the machine epsilon eps. This one is
  // slightly smaller, because the sum itself is rounded.
  double Tolerance() const {
    return 3.0 * static_cast<double>(size_) *
           static_cast<double>(std::numeric_limits<T>::epsilon());
  }

  // Returns whether a row of a valid matrix certainly has an exit.
  bool Exits(Constraint constraint, const T* row) const {
    const double sum = Sum(row);
    if (constraint == Constraint::kSubtransition) {
      return 1.0 - sum > 2.0 * Tolerance();
    }
    double scale = 0.0;
    for (int64_t j = 0; j < size_; ++j) {
      scale = std::max(scale, std::fabs(static_cast<double>(row[j])));
    }
    return -sum > 2.0 * Tolerance() * scale;
  }

  // Returns whether a row's sum is at most one. Rejects a sum that is below one
  // only because probabilities were rounded to float32: the missing mass is
  // then not an atom at zero.
  bool SumFits(const T* row) const {
    const double missing = 1.0 - Sum(row);
    if (missing < -Tolerance()) return false;
    const double single = 4.0 * static_cast<double>(size_) *
                          std::numeric_limits<float>::epsilon();
    if (missing <= Tolerance() || missing > single) return true;
    return std::any_of(row, row + size_, [](T x) {
      return static_cast<double>(static_cast<float>(x)) != x;
    });
  }

  bool StepFits(const T* row, int64_t i) const {
    const double sum = Sum(row);
    if (exits_ != nullptr) {
      return std::fabs(sum + static_cast<double>(exits_[i]) - 1.0) <=
             Tolerance();
    }
    // A phase that is never left may be an absorbing state that was included by
    // mistake.
    return sum <= 1.0 + Tolerance() && row[i % size_] != T(1);
  }

  bool RatesFit(const T* row, int64_t own) const {
    double sum = 0.0;
    double scale = 0.0;
    for (int64_t j = 0; j < size_; ++j) {
      const auto x = static_cast<double>(row[j]);
      if (j == own) {
        if (exits_ != nullptr) continue;
        if (!(std::fabs(x) < HUGE_VAL)) return false;
      } else if (!(x >= 0.0 && x < HUGE_VAL)) {
        return false;
      }
      sum += x;
      scale = std::max(scale, std::fabs(x));
    }
    if (exits_ != nullptr) return true;
    // A phase that is never left is rejected, too, as in StepFits.
    return sum <= Tolerance() * scale && scale > 0.0;
  }

  const T* x_;
  int64_t count_;
  int64_t size_;
  const T* exits_;
};

// Returns whether an object certainly meets a constraint; false if it is not an
// array of numbers.
template <class T>
bool Meets(const py::object& given, Constraint constraint,
           const py::object& exits) {
  using Contiguous = py::array_t<T, py::array::c_style | py::array::forcecast>;
  const Contiguous x = Contiguous::ensure(given);
  if (!x) {
    PyErr_Clear();
    return false;
  }
  const int64_t size = x.ndim() > 0 ? x.shape(x.ndim() - 1) : 1;
  const int64_t count = size > 0 ? x.size() / size : 0;
  if (exits.is_none()) {
    return Rows<T>(x.data(), count, size, nullptr).Meet(constraint);
  }
  const Contiguous beside = Contiguous::ensure(exits);
  if (!beside) {
    PyErr_Clear();
    return false;
  }
  // If exit probabilities are given, each row must have one. It is added to the
  // sum of the row.
  if (constraint == Constraint::kSubtransition && beside.size() != count) {
    return false;
  }
  return Rows<T>(x.data(), count, size, beside.data()).Meet(constraint);
}

// Returns whether initial masses and the mass at zero certainly sum to one.
template <class T>
bool SumToOne(const py::array_t<T>& alpha, const py::object& prob_zero) {
  using Contiguous = py::array_t<T, py::array::c_style | py::array::forcecast>;
  const Contiguous atom = Contiguous::ensure(prob_zero);
  if (!atom) {
    PyErr_Clear();
    return false;
  }
  const int64_t p = alpha.shape(alpha.ndim() - 1);
  const int64_t count = alpha.size() / p;
  if (atom.size() != 1 && atom.size() != count) return false;
  const double tolerance =
      3.0 * static_cast<double>(p) *
      static_cast<double>(std::numeric_limits<T>::epsilon());
  for (int64_t i = 0; i < count; ++i) {
    double sum = static_cast<double>(atom.data()[atom.size() == 1 ? 0 : i]);
    for (int64_t j = 0; j < p; ++j) {
      sum += static_cast<double>(alpha.data()[i * p + j]);
    }
    if (!(std::fabs(sum - 1.0) <= tolerance)) return false;
  }
  return true;
}

bool MeetsConstraint(const py::object& x, const std::string& constraint,
                     const py::object& exits) {
  const Constraint parsed = ParseConstraint(constraint);
  return py::isinstance<py::array_t<float>>(x)
             ? Meets<float>(x, parsed, exits)
             : Meets<double>(x, parsed, exits);
}

// Returns whether the four arrays of a model, any of which may be None, are
// certainly valid.
template <class T>
bool ModelMeets(const py::object& initial_probs, const py::object& matrix,
                const py::object& exits, const py::object& prob_zero,
                bool discrete) {
  using Contiguous = py::array_t<T, py::array::c_style | py::array::forcecast>;
  const Contiguous alpha = Contiguous::ensure(initial_probs);
  const Contiguous between = Contiguous::ensure(matrix);
  if (!alpha || !between || alpha.ndim() < 1 || between.ndim() < 2) {
    PyErr_Clear();
    return false;
  }
  const int64_t p = alpha.shape(alpha.ndim() - 1);
  const auto last = between.ndim() - 1;
  if (p == 0 || between.shape(last) != p || between.shape(last - 1) != p) {
    return false;
  }
  return Meets<T>(alpha, Constraint::kSubprobabilities, prob_zero) &&
         Meets<T>(
             between,
             discrete ? Constraint::kSubtransition : Constraint::kSubgenerator,
             exits) &&
         (exits.is_none() ||
          Meets<T>(exits, Constraint::kNonnegative, py::none())) &&
         (prob_zero.is_none() ||
          (Meets<T>(prob_zero, Constraint::kProbability, py::none()) &&
           SumToOne<T>(alpha, prob_zero)));
}

bool ModelMeetsConstraints(const py::object& initial_probs,
                           const py::object& matrix, const py::object& exits,
                           const py::object& prob_zero, bool discrete) {
  const bool single = py::isinstance<py::array_t<float>>(initial_probs) &&
                      py::isinstance<py::array_t<float>>(matrix);
  return single ? ModelMeets<float>(initial_probs, matrix, exits, prob_zero,
                                    discrete)
                : ModelMeets<double>(initial_probs, matrix, exits, prob_zero,
                                     discrete);
}

void DefineParameters(py::module_* module) {
  module->def(
      "meets_constraint", &MeetsConstraint, py::arg("x"), py::arg("constraint"),
      py::arg("exits") = py::none(),
      "Returns whether a parameter certainly meets a constraint, given the "
      "exits or the mass at zero if these are not derived from it.");
  module->def("model_meets_constraints", &ModelMeetsConstraints,
              py::arg("initial_probs"), py::arg("matrix"), py::arg("exits"),
              py::arg("prob_zero"), py::arg("discrete"),
              "Returns whether the four arrays of a model certainly meet their "
              "constraints.");
}

const AtImport kDefined(&DefineParameters);

}  // namespace
}  // namespace phasic
