// Traps: phases from which absorption cannot be reached.

#ifndef PHASIC_NATIVE_QUANTILES_TRAPS_H_
#define PHASIC_NATIVE_QUANTILES_TRAPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace phasic {

class Traps {
 public:
  // Returns whether all edges, [2, m], have sources in [0, p) and targets in
  // [0, p].
  static bool AreValid(int64_t num_phases, int64_t num_edges,
                       const int32_t* indices) {
    for (int64_t e = 0; e < num_edges; ++e) {
      const int64_t source = indices[e];
      const int64_t target = indices[num_edges + e];
      if (source < 0 || source >= num_phases) return false;
      if (target < 0 || target > num_phases) return false;
    }
    return true;
  }

  // Finds the traps of a chain whose edges are those of positive weight.
  // Returns whether there are any.
  bool Find(int64_t num_phases, int64_t num_edges, const int32_t* indices,
            const double* weights) {
    const auto p = static_cast<size_t>(num_phases);
    const int32_t* targets = indices + num_edges;
    // Sorts sources by target: those of target j begin at ends_[j].
    ends_.assign(p + 2, 0);
    for (int64_t e = 0; e < num_edges; ++e) {
      if (weights[e] > 0.0) ++ends_[static_cast<size_t>(targets[e]) + 1];
    }
    for (size_t j = 0; j <= p; ++j) ends_[j + 1] += ends_[j];
    sources_.resize(static_cast<size_t>(ends_[p + 1]));
    next_.assign(ends_.begin(), ends_.end());
    for (int64_t e = 0; e < num_edges; ++e) {
      if (!(weights[e] > 0.0)) continue;
      int64_t& place = next_[static_cast<size_t>(targets[e])];
      sources_[static_cast<size_t>(place++)] = indices[e];
    }
    reaches_.assign(p + 1, 0);
    reaches_[p] = 1;
    open_.assign(1, static_cast<int32_t>(p));
    int64_t count = 0;
    while (!open_.empty()) {
      const auto j = static_cast<size_t>(open_.back());
      open_.pop_back();
      for (int64_t k = ends_[j]; k < ends_[j + 1]; ++k) {
        const int32_t i = sources_[static_cast<size_t>(k)];
        if (reaches_[static_cast<size_t>(i)] != 0) continue;
        reaches_[static_cast<size_t>(i)] = 1;
        open_.push_back(i);
        ++count;
      }
    }
    return count < num_phases;
  }

  // Returns whether a path leads from a phase to absorption.
  bool Reaches(int64_t phase) const {
    return reaches_[static_cast<size_t>(phase)] != 0;
  }

 private:
  std::vector<int64_t> ends_, next_;
  std::vector<int32_t> sources_, open_;
  std::vector<char> reaches_;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_TRAPS_H_
