#include "native/elimination/differences.h"

#include <algorithm>
#include <vector>

namespace phasic {
namespace {

// Phases with more edges than these in a component of their own have their
// differences by subtraction: the sums below take the square of the number.
constexpr int64_t kMaxSummedEdges = 64;

class Subtraction {
 public:
  Subtraction(const Factors& factors, int64_t columns, const double* given,
              const double* rest, const double* solution, double* differences)
      : f_(factors),
        t_(*factors.topology),
        columns_(columns),
        given_(given),
        rest_(rest),
        solution_(solution),
        differences_(differences),
        zeros_(columns, 0.0),
        upper_(t_.upper.size() * columns),
        place_(t_.num_phases, kNowhere) {}

  void Run() {
    for (size_t c = 0; c + 1 < t_.starts.size(); ++c) {
      const int64_t first = t_.starts[c];
      const int64_t last = t_.starts[c + 1];
      for (int64_t n = last - 1; n >= first; --n) SubtractUpper(n);
      for (int64_t n = first; n < last; ++n) {
        if (last - first == 1 &&
            t_.edge_offsets[n + 1] - t_.edge_offsets[n] <= kMaxSummedEdges) {
          SumEdges(n);
        } else {
          PlaceEdges(n);
        }
      }
    }
  }

 private:
  static constexpr int32_t kNowhere = -1;

  const double* SolutionAt(int64_t position) const {
    return position == t_.num_phases ? zeros_.data()
                                     : solution_ + position * columns_;
  }
  double* DifferenceOf(int64_t slot) {
    return differences_ + t_.edge_numbers[slot] * columns_;
  }

  // x_n - x_j for all later j that n is connected with.
  void SubtractUpper(int64_t n) {
    const int64_t begin = t_.upper_offsets[n];
    const int64_t end = t_.upper_offsets[n + 1];
    const double* rest = rest_ + n * columns_;
    for (int64_t u = begin; u < end; ++u) {
      place_[t_.upper[u]] = static_cast<int32_t>(u - begin);
      const double* x = SolutionAt(t_.upper[u]);
      for (int64_t c = 0; c < columns_; ++c) {
        upper_[u * columns_ + c] = rest[c] - f_.leaving[n] * x[c];
      }
    }
    for (int64_t u = begin; u < end; ++u) {
      const int64_t i = t_.upper[u];
      double* of_i = &upper_[u * columns_];
      for (int64_t v = t_.upper_offsets[i]; v < t_.upper_offsets[i + 1]; ++v) {
        const int32_t place = place_[t_.upper[v]];
        if (place == kNowhere) continue;
        const double* difference = &upper_[v * columns_];  // x_i - x_j
        double* of_j = &upper_[(begin + place) * columns_];
        for (int64_t c = 0; c < columns_; ++c) {
          of_j[c] += f_.weights[u] * difference[c];
          of_i[c] -= f_.weights[begin + place] * difference[c];
        }
      }
    }
    for (int64_t u = begin; u < end; ++u) {
      place_[t_.upper[u]] = kNowhere;
      for (int64_t c = 0; c < columns_; ++c) {
        upper_[u * columns_ + c] /= f_.pivots[n];
      }
    }
  }

  // The edges of a phase that is a component: the formula above with its own
  // edges in the place of W.
  void SumEdges(int64_t n) {
    const int64_t begin = t_.edge_offsets[n];
    const int64_t end = t_.edge_offsets[n + 1];
    for (int64_t s = begin; s < end; ++s) {
      double* difference = DifferenceOf(s);
      const double* x = SolutionAt(t_.edge_targets[s]);
      const bool is_own = t_.edge_targets[s] == n;
      for (int64_t c = 0; c < columns_; ++c) {
        if (is_own) {
          difference[c] = 0.0;
          continue;
        }
        double sum = given_[n * columns_ + c];
        for (int64_t i = begin; i < end; ++i) {
          if (t_.edge_targets[i] == n) continue;
          sum += f_.given[t_.edge_numbers[i]] *
                 (SolutionAt(t_.edge_targets[i])[c] - x[c]);
        }
        difference[c] = sum / f_.pivots[n];
      }
    }
  }

  void PlaceEdges(int64_t n) {
    for (int64_t s = t_.edge_offsets[n]; s < t_.edge_offsets[n + 1]; ++s) {
      const int64_t j = t_.edge_targets[s];
      double* difference = DifferenceOf(s);
      if (j < t_.num_phases && t_.component[j] == t_.component[n]) {
        if (j == n) {
          std::fill(difference, difference + columns_, 0.0);
          continue;
        }
        const double* found =
            &upper_[SlotOf(std::min(n, j), std::max(n, j)) * columns_];
        for (int64_t c = 0; c < columns_; ++c) {
          difference[c] = n < j ? found[c] : -found[c];
        }
        continue;
      }
      const double* x = SolutionAt(j);
      for (int64_t c = 0; c < columns_; ++c) {
        difference[c] = solution_[n * columns_ + c] - x[c];
      }
    }
  }

  int64_t SlotOf(int64_t earlier, int64_t later) const {
    const auto begin = t_.upper.begin() + t_.upper_offsets[earlier];
    const auto end = t_.upper.begin() + t_.upper_offsets[earlier + 1];
    return std::lower_bound(begin, end, later) - t_.upper.begin();
  }

  const Factors& f_;
  const Topology& t_;
  const int64_t columns_;
  const double* given_;
  const double* rest_;
  const double* solution_;
  double* differences_;
  const std::vector<double> zeros_;
  std::vector<double> upper_;   // by t_.upper
  std::vector<int32_t> place_;  // of a position among those looked at
};

}  // namespace

void SubtractAlongEdges(const Factors& factors, int64_t columns,
                        const double* given, const double* rest,
                        const double* solution, double* differences) {
  Subtraction(factors, columns, given, rest, solution, differences).Run();
}

}  // namespace phasic
