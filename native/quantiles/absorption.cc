#include "native/quantiles/absorption.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "native/elimination/api/elimination.h"
#include "native/elimination/moments/matrix_weights.h"
#include "native/kernel/api/shapes.h"
#include "native/quantiles/traps.h"

namespace phasic {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// The largest number of weights that are eliminated in one call.
constexpr int64_t kMaxTogether = int64_t{1} << 18;

// Returns the exponent of a power of two to divide weights by, so that the
// largest is near one and the least positive one does not underflow.
int ScaleOf(const double* weights, int64_t count) {
  constexpr int kLowest = std::numeric_limits<double>::min_exponent - 1 + 24;
  double largest = 0.0;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t e = 0; e < count; ++e) {
    if (weights[e] > 0.0) least = std::min(least, weights[e]);
    largest = std::max(largest, weights[e]);
  }
  if (largest == 0.0) return 0;
  const int high = std::max(std::ilogb(largest), kLowest);
  const int low = std::max(std::ilogb(least), kLowest);
  return std::min({high, low - kLowest, 1022});
}

template <class F>
class AbsorptionRun {
 public:
  AbsorptionRun(const BatchPlan& plan, Executor* executor,
                std::vector<Absorption>* found)
      : plan_(plan),
        layout_(plan.layout()),
        executor_(executor),
        found_(*found),
        ones_(static_cast<size_t>(layout_.num_phases), 1.0) {
    num_edges_ = layout_.num_edges;
    if (layout_.has_edges) return;
    num_edges_ = layout_.num_phases * (layout_.num_phases + 1);
    matrix_edges_ = MatrixEdges(layout_.num_phases);
  }

  const char* All() {
    found_.assign(static_cast<size_t>(plan_.num_models()),
                  {false, kNaN, kNaN, kNaN, kNaN});
    for (int64_t n = 0; n < plan_.num_models(); ++n) {
      const BatchIndex model = plan_.Model(n);
      const int32_t* indices = layout_.has_edges
                                   ? At<int32_t>(plan_.call().edges->indices,
                                                 plan_.edge_strides(0), model)
                                   : matrix_edges_.data();
      const auto together =
          static_cast<int64_t>(pending_.size() + 1) * num_edges_;
      if (indices != indices_ || together > kMaxTogether) {
        if (const char* error = Flush()) return error;
        indices_ = indices;
      }
      if (!ReadWeights(model)) continue;
      const int64_t first = static_cast<int64_t>(pending_.size()) * num_edges_;
      double* weights = weights_.data() + first;
      const double rate = LargestRate(weights);
      const int exponent =
          plan_.call().discrete ? 0 : ScaleOf(weights, num_edges_);
      for (int64_t e = 0; e < num_edges_; ++e) {
        weights[e] = std::ldexp(weights[e], -exponent);
      }
      const Pending one = {n, exponent, rate,
                           At<F>(plan_.input(kInitialProbs),
                                 plan_.strides(kInitialProbs), model)};
      if (traps_.Find(layout_.num_phases, num_edges_, indices_, weights)) {
        if (const char* error = SolveWithTraps(one, weights)) return error;
        weights_.resize(static_cast<size_t>(first));
      } else {
        pending_.push_back(one);
      }
    }
    return Flush();
  }

 private:
  // A model whose weights are the next ones in `weights_`.
  struct Pending {
    int64_t number;
    int exponent;
    double rate;  // see Absorption
    const F* initial;
  };

  template <class T>
  static const T* At(const Input& input, const int64_t* strides,
                     const BatchIndex& model) {
    return static_cast<const T*>(input.data) + model.Offset(strides);
  }

  // Returns the largest sum of the weights of a phase's edges; in discrete time
  // one, as each step is one of the power sequence.
  double LargestRate(const double* weights) const {
    if (plan_.call().discrete) return 1.0;
    std::vector<double> leaving(ones_.size(), 0.0);
    for (int64_t e = 0; e < num_edges_; ++e) {
      leaving[static_cast<size_t>(indices_[e])] += weights[e];
    }
    return *std::max_element(leaving.begin(), leaving.end());
  }

  // Appends a model's weights. Returns false, and appends nothing, if one is
  // invalid.
  bool ReadWeights(const BatchIndex& model) {
    const size_t first = weights_.size();
    weights_.resize(first + static_cast<size_t>(num_edges_));
    double* weights = weights_.data() + first;
    bool is_good = true;
    const F* rates =
        At<F>(plan_.input(kSubgenerator), plan_.strides(kSubgenerator), model);
    if (layout_.has_edges) {
      const Edges& edges = *plan_.call().edges;
      const F* constants = At<F>(edges.constants, plan_.edge_strides(1), model);
      const F* coefficients =
          At<F>(edges.coefficients, plan_.edge_strides(2), model);
      const int64_t d = layout_.num_parameters;
      for (int64_t e = 0; e < num_edges_; ++e) {
        double sum =
            layout_.has_constants ? static_cast<double>(constants[e]) : 0.0;
        if (!layout_.has_coefficients) {
          sum += static_cast<double>(rates[e]);
        } else {
          for (int64_t c = 0; c < d; ++c) {
            sum += static_cast<double>(coefficients[e * d + c]) *
                   static_cast<double>(rates[c]);
          }
        }
        weights[e] = sum;
      }
      is_good = traps_.AreValid(layout_.num_phases, num_edges_, indices_);
    } else {
      const F* exits =
          At<F>(plan_.input(kExitRates), plan_.strides(kExitRates), model);
      const double epsilon = std::numeric_limits<F>::epsilon();
      const MatrixRows<F> rows = {
          rates, layout_.has_exit_rates ? exits : nullptr, layout_.num_phases,
          plan_.call().discrete,
          4.0 * static_cast<double>(layout_.num_phases) * epsilon};
      stay_.resize(ones_.size());
      is_good = ReadMatrix(rows, weights, stay_.data());
    }
    for (int64_t e = 0; is_good && e < num_edges_; ++e) {
      is_good = weights[e] >= 0.0 &&
                weights[e] < std::numeric_limits<double>::infinity();
    }
    if (!is_good) weights_.resize(first);
    return is_good;
  }

  // Computes the models that are pending, which have no traps.
  const char* Flush() {
    const auto count = static_cast<int64_t>(pending_.size());
    if (count == 0) return nullptr;
    const char* error =
        Solve(num_edges_, indices_, weights_.data(), count, ones_.data(), 1);
    if (error != nullptr) return error;
    const int64_t p = layout_.num_phases;
    for (int64_t k = 0; k < count; ++k) {
      const Pending& one = pending_[static_cast<size_t>(k)];
      double time = 0.0;
      double entered = 0.0;
      for (int64_t i = 0; i < p; ++i) {
        const auto mass = static_cast<double>(one.initial[i]);
        // The time in a phase that is not entered may be infinite.
        if (mass == 0.0) continue;
        entered += mass;
        time += mass * solution_[static_cast<size_t>(k * p + i)];
      }
      found_[static_cast<size_t>(one.number)] = {
          true, entered, 0.0, std::ldexp(time, -one.exponent), one.rate};
    }
    pending_.clear();
    weights_.clear();
    return nullptr;
  }

  // Computes a model in whose traps paths end as if they were absorbed.
  const char* SolveWithTraps(const Pending& one, const double* weights) {
    const int64_t p = layout_.num_phases;
    std::vector<int32_t> sources(indices_, indices_ + num_edges_);
    std::vector<int32_t> targets(indices_ + num_edges_,
                                 indices_ + 2 * num_edges_);
    std::vector<double> with_ends(weights, weights + num_edges_);
    std::vector<double> given(static_cast<size_t>(3 * p));
    for (int64_t i = 0; i < p; ++i) {
      const bool is_trap = !traps_.Reaches(i);
      given[static_cast<size_t>(3 * i + (is_trap ? 1 : 2))] = 1.0;
      if (!is_trap) continue;
      sources.push_back(static_cast<int32_t>(i));
      targets.push_back(static_cast<int32_t>(p));
      with_ends.push_back(1.0);
    }
    for (int64_t e = 0; e < num_edges_; ++e) {
      if (targets[static_cast<size_t>(e)] != p) continue;
      given[3 * static_cast<size_t>(sources[static_cast<size_t>(e)])] +=
          weights[e];
    }
    const auto m = static_cast<int64_t>(sources.size());
    sources.insert(sources.end(), targets.begin(), targets.end());
    const char* error =
        Solve(m, sources.data(), with_ends.data(), 1, given.data(), 3);
    if (error != nullptr) return error;
    double sums[3] = {};
    for (int64_t i = 0; i < p; ++i) {
      const auto mass = static_cast<double>(one.initial[i]);
      if (mass == 0.0) continue;
      for (size_t c = 0; c < 3; ++c) {
        sums[c] += mass * solution_[static_cast<size_t>(3 * i) + c];
      }
    }
    found_[static_cast<size_t>(one.number)] = {
        true, sums[0], sums[1], std::ldexp(sums[2], -one.exponent), one.rate};
    return nullptr;
  }

  // Solves the linear systems of `count` models with the same edges and the
  // same right-hand sides, [p, columns], for `solution_`.
  const char* Solve(int64_t num_edges, const int32_t* indices,
                    const double* weights, int64_t count, const double* given,
                    int64_t columns) {
    const int64_t p = layout_.num_phases;
    const int64_t index_dims[] = {1, 2, num_edges};
    const int64_t weight_dims[] = {count, num_edges};
    const int64_t given_dims[] = {1, p, columns};
    const int64_t none_dims[] = {1, 0, columns};
    const int64_t result_dims[] = {count, p, columns};
    const int64_t no_result_dims[] = {count, 0, 0};
    LinearSystem system;
    system.indices = {indices, {index_dims, 3}};
    system.weights = {weights, {weight_dims, 2}};
    system.per_phase = {given, {given_dims, 3}};
    system.per_edge = {nullptr, {none_dims, 3}};
    solution_.resize(static_cast<size_t>(count * p * columns));
    return Eliminate(Direction::kSolve, system,
                     {solution_.data(), {result_dims, 3}},
                     {nullptr, {no_result_dims, 3}}, executor_);
  }

  const BatchPlan& plan_;
  const Layout& layout_;
  Executor* const executor_;
  std::vector<Absorption>& found_;
  std::vector<double> ones_;
  std::vector<int32_t> matrix_edges_;
  int64_t num_edges_;
  const int32_t* indices_ = nullptr;  // of the models that are pending
  std::vector<Pending> pending_;
  std::vector<double> weights_, stay_, solution_;
  Traps traps_;
};

}  // namespace

const char* FindAbsorption(const BatchPlan& plan, Executor* executor,
                           std::vector<Absorption>* found) {
  const Layout& layout = plan.layout();
  const int64_t p = layout.num_phases;
  if (!layout.has_edges && p > kMaxFill / p) {
    return Message(
        "subgenerator: %lld phases are too many to eliminate; pass "
        "the rates of edges instead of a matrix",
        static_cast<long long>(p));
  }
  if (plan.call().precision == Precision::kFloat32) {
    return AbsorptionRun<float>(plan, executor, found).All();
  }
  return AbsorptionRun<double>(plan, executor, found).All();
}

}  // namespace phasic
