#include "native/elimination/fuzz/checks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>
#include <vector>

#include "native/elimination/fuzz/system_case.h"

namespace phasic {
namespace fuzz {
namespace {

using Dims = std::vector<int64_t>;

// The largest error of a result, relative to the sum of the absolute values of
// its terms.
constexpr double kTolerance = 1e-11;

struct SystemResult {
  std::string error;
  std::vector<double> per_phase;
  std::vector<double> per_edge;
};

template <class F>
std::vector<F> Converted(const std::vector<double>& values) {
  return std::vector<F>(values.begin(), values.end());
}

template <class F>
SystemResult RunAs(const SystemCase& c) {
  SystemResult result;
  if (!c.is_stored) {
    result.error = "too large for a test";
    return result;
  }
  const std::vector<double>& kept = c.arrays[kIndices].values;
  std::vector<int32_t> indices;
  indices.reserve(kept.size());
  for (double x : kept) indices.push_back(static_cast<int32_t>(x));
  const std::vector<F> arrays[] = {{},
                                   Converted<F>(c.arrays[kWeights].values),
                                   Converted<F>(c.arrays[kPerPhase].values),
                                   Converted<F>(c.arrays[kPerEdge].values)};
  const auto input = [&](int i) {
    const SystemArray& array = c.arrays[i];
    const void* data = i == kIndices
                           ? static_cast<const void*>(indices.data())
                           : static_cast<const void*>(arrays[i].data());
    return Input{data, {array.dims.data(), array.rank}};
  };
  LinearSystem system;
  system.indices = input(kIndices);
  system.weights = input(kWeights);
  system.per_phase = input(kPerPhase);
  system.per_edge = input(kPerEdge);
  system.precision = c.precision;
  Dims phase_dims = c.batch;
  phase_dims.insert(phase_dims.end(), {c.num_phases, c.num_columns});
  Dims edge_dims = c.batch;
  edge_dims.push_back(c.wants_edges ? c.num_edges : 0);
  edge_dims.push_back(c.wants_edges ? c.num_columns : 0);
  const auto rank = static_cast<int32_t>(phase_dims.size());
  std::vector<F> phases(static_cast<size_t>(NumNumbers(phase_dims)), F(7));
  std::vector<F> edges(static_cast<size_t>(NumNumbers(edge_dims)), F(7));
  const char* error =
      Eliminate(c.direction, system, {phases.data(), {phase_dims.data(), rank}},
                {edges.data(), {edge_dims.data(), rank}});
  if (error != nullptr) {
    result.error = error;
    return result;
  }
  result.per_phase.assign(phases.begin(), phases.end());
  result.per_edge.assign(edges.begin(), edges.end());
  return result;
}

SystemResult Run(const SystemCase& c) {
  return c.precision == Precision::kFloat32 ? RunAs<float>(c)
                                            : RunAs<double>(c);
}

bool SameBits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() ||
          std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

// Checks the balance equation of each phase: outflow equals the right-hand side
// plus inflow.
class Balance {
 public:
  // `sizes` is the result for the absolute values of the data. It bounds the
  // absolute values of the terms.
  Balance(const SystemCase& c, const SystemResult& result,
          const SystemResult& sizes)
      : c_(c), result_(result), sizes_(sizes) {}

  std::string Check() const {
    for (int64_t column = 0; column < c_.num_columns; ++column) {
      std::string failure = CheckColumn(column);
      if (failure.empty()) failure = CheckEdges(column);
      if (!failure.empty()) return failure;
    }
    return "";
  }

 private:
  int64_t Source(int64_t e) const {
    return static_cast<int64_t>(
        c_.arrays[kIndices].values[static_cast<size_t>(e)]);
  }
  int64_t Target(int64_t e) const { return Source(c_.num_edges + e); }
  double At(const std::vector<double>& values, int64_t row,
            int64_t column) const {
    return values[static_cast<size_t>(row * c_.num_columns + column)];
  }
  // Returns the solution of a phase in one column; zero at absorption.
  double Solution(const SystemResult& from, int64_t phase,
                  int64_t column) const {
    return phase == c_.num_phases ? 0.0 : At(from.per_phase, phase, column);
  }

  std::string CheckColumn(int64_t column) const {
    const auto p = static_cast<size_t>(c_.num_phases);
    const bool solves = c_.direction == Direction::kSolve;
    std::vector<double> sums(p);  // inflows
    std::vector<double> bounds(p);
    std::vector<double> leaving(p);
    for (size_t i = 0; i < p; ++i) {
      sums[i] =
          At(c_.arrays[kPerPhase].values, static_cast<int64_t>(i), column);
    }
    const std::vector<double>& given = c_.arrays[kPerEdge].values;
    for (int64_t e = 0; e < c_.num_edges; ++e) {
      const int64_t i = Source(e);
      const int64_t j = Target(e);
      const double weight = c_.arrays[kWeights].values[static_cast<size_t>(e)];
      const double extra = given.empty() ? 0.0 : At(given, e, column);
      sums[static_cast<size_t>(i)] += extra;
      if (!solves && j < c_.num_phases) {
        sums[static_cast<size_t>(j)] -= extra;
      }
      if (i == j || weight == 0.0) continue;
      leaving[static_cast<size_t>(i)] += weight;
      const int64_t to = solves ? i : j;
      if (to == c_.num_phases) continue;
      const int64_t from = solves ? j : i;
      sums[static_cast<size_t>(to)] += weight * Solution(result_, from, column);
      bounds[static_cast<size_t>(to)] +=
          weight * Solution(sizes_, from, column);
    }
    for (size_t i = 0; i < p; ++i) {
      const double x = At(result_.per_phase, static_cast<int64_t>(i), column);
      const double size = At(sizes_.per_phase, static_cast<int64_t>(i), column);
      const double bound = bounds[i] + leaving[i] * size;
      if (!std::isfinite(bound) || !std::isfinite(size)) continue;
      if (std::isnan(x)) return "NaN where all data are good";
      if (std::fabs(leaving[i] * x - sums[i]) > kTolerance * bound) {
        return "what leaves a phase is not what comes there";
      }
    }
    return "";
  }

  std::string CheckEdges(int64_t column) const {
    for (int64_t e = 0; c_.wants_edges && e < c_.num_edges; ++e) {
      const int64_t i = Source(e);
      const double found = At(result_.per_edge, e, column);
      if (c_.direction == Direction::kSolveTransposed) {
        if (!(found == Solution(result_, i, column)) && !std::isnan(found)) {
          return "an edge has not its source's result";
        }
        continue;
      }
      const double bound =
          Solution(sizes_, i, column) + Solution(sizes_, Target(e), column);
      if (!std::isfinite(bound)) continue;
      const double difference =
          Solution(result_, i, column) - Solution(result_, Target(e), column);
      if (!(std::fabs(found - difference) <= kTolerance * bound)) {
        return "an edge has not the difference of its ends";
      }
    }
    return "";
  }

  const SystemCase& c_;
  const SystemResult& result_;
  const SystemResult& sizes_;
};

std::string CheckModel(const SystemCase& c, const SystemResult& result) {
  if (!c.good_weights || !c.moderate) return "";
  SystemCase sizes = c;
  for (SystemOperand operand : {kPerPhase, kPerEdge}) {
    for (double& x : sizes.arrays[operand].values) x = std::fabs(x);
  }
  if (c.direction == Direction::kSolveTransposed) {
    // The transposed system subtracts c at the target of each edge. For a
    // bound, |c| is added at the source and at the target instead.
    std::vector<double>& per_edge = sizes.arrays[kPerEdge].values;
    for (size_t k = 0; k < per_edge.size(); ++k) {
      const size_t e = k / static_cast<size_t>(c.num_columns);
      const auto target = static_cast<int64_t>(
          c.arrays[kIndices].values[static_cast<size_t>(c.num_edges) + e]);
      if (target < c.num_phases) {
        sizes.arrays[kPerPhase]
            .values[static_cast<size_t>(target * c.num_columns) +
                    k % static_cast<size_t>(c.num_columns)] += per_edge[k];
      }
      const auto source = static_cast<int64_t>(c.arrays[kIndices].values[e]);
      sizes.arrays[kPerPhase]
          .values[static_cast<size_t>(source * c.num_columns) +
                  k % static_cast<size_t>(c.num_columns)] += per_edge[k];
      per_edge[k] = 0.0;
    }
  }
  const SystemResult bounds = Run(sizes);
  if (!bounds.error.empty()) return "absolute values refused";
  for (double x : bounds.per_phase) {
    if (!(x >= 0.0)) return "a sum of what is not negative is negative or NaN";
  }
  return Balance(c, result, bounds).Check();
}

std::string Describe(const SystemCase& c) {
  constexpr const char* kNames[] = {"indices", "weights", "per_phase",
                                    "per_edge"};
  std::ostringstream out;
  out.precision(17);
  out << (c.direction == Direction::kSolve ? "Solve" : "SolveTransposed")
      << (c.precision == Precision::kFloat32 ? " float32" : " float64")
      << (c.wants_edges ? " with edges" : "") << " p = " << c.num_phases;
  for (int i = 0; i < 4; ++i) {
    out << "\n" << kNames[i] << " [";
    for (int64_t d : c.arrays[i].dims) out << d << ", ";
    out << "] = {";
    const std::vector<double>& values = c.arrays[i].values;
    for (size_t k = 0; k < std::min<size_t>(values.size(), 2000); ++k) {
      out << values[k] << ", ";
    }
    out << "}";
  }
  return out.str();
}

// Returns whether any edge that is not from a phase to itself has a negative,
// infinite or NaN weight.
bool HasBadEdge(const SystemCase& c) {
  const auto m = static_cast<size_t>(c.num_edges);
  const std::vector<double>& indices = c.arrays[kIndices].values;
  for (size_t e = 0; e < m; ++e) {
    const double weight = c.arrays[kWeights].values[e];
    if (indices[e] != indices[m + e] &&
        !(weight >= 0.0 && std::isfinite(weight))) {
      return true;
    }
  }
  return false;
}

std::string CheckParts(const SystemCase& c, const SystemResult& result) {
  int64_t size = 1;
  for (int64_t d : c.batch) size *= d;
  if (size == 0) return "";
  const int64_t model = c.pick % size;
  const SystemCase one = ModelOf(c, model);
  const SystemResult alone = Run(one);
  if (!alone.error.empty()) return "refused without the batch: " + alone.error;
  const auto part = [&](const std::vector<double>& whole,
                        const std::vector<double>& like) {
    const auto first =
        whole.begin() + model * static_cast<int64_t>(like.size());
    return std::vector<double>(first,
                               first + static_cast<int64_t>(like.size()));
  };
  if (!SameBits(part(result.per_phase, alone.per_phase), alone.per_phase) ||
      !SameBits(part(result.per_edge, alone.per_edge), alone.per_edge)) {
    return "bits depend on the rest of the batch";
  }
  SystemCase other = one;
  other.wants_edges = !one.wants_edges && one.num_columns > 0;
  if (!SameBits(Run(other).per_phase, alone.per_phase)) {
    return "bits depend on whether edges' results are wanted";
  }
  const bool is_bad = HasBadEdge(one);
  for (double x : alone.per_phase) {
    if (is_bad && !std::isnan(x)) {
      return "not NaN, although a weight is bad\n" + Describe(one);
    }
  }
  const std::string failure = CheckModel(one, alone);
  return failure.empty() ? "" : failure + "\n" + Describe(one);
}

std::string CheckSystem(const SystemCase& c) {
  const SystemResult result = Run(c);
  if (!c.well_formed) return "";
  if (!result.error.empty()) {
    return "a well-formed call was refused: " + result.error;
  }
  const SystemResult again = Run(c);
  if (!SameBits(result.per_phase, again.per_phase) ||
      !SameBits(result.per_edge, again.per_edge)) {
    return "bits differ on a second call";
  }
  return CheckParts(c, result);
}

}  // namespace

std::string CheckSystemBytes(const uint8_t* data, size_t size) {
  const SystemCase c = DecodeSystem(data, size);
  const std::string failure = CheckSystem(c);
  return failure.empty() ? failure : failure + "\n" + Describe(c);
}

}  // namespace fuzz
}  // namespace phasic
