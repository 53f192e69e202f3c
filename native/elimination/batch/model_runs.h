// Computes the models of a batch one by one, or several at a time with one
// model per SIMD lane, on all threads.

#ifndef PHASIC_NATIVE_ELIMINATION_BATCH_MODEL_RUNS_H_
#define PHASIC_NATIVE_ELIMINATION_BATCH_MODEL_RUNS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#include "native/elimination/batch/batch_layout.h"
#include "native/elimination/solver/solver.h"
#include "native/elimination/symbolic/topology.h"
#include "native/kernel/runtime/parallel.h"

namespace phasic {

// Returns the symbolic elimination for these edges, taken from a cache if
// possible. Returns nullptr and sets `error` if the indices are invalid or the
// elimination is too large.
std::shared_ptr<const Topology> FindTopology(int64_t num_phases,
                                             int64_t num_edges,
                                             const int32_t* indices,
                                             const char** error);

// Computes all models of a call; returns nullptr or an error message. `Work`
// has the functions
//   int64_t Numbers(topology): returns how many numbers a model stores;
//   void Alone(model, topology): computes one model;
//   uint32_t SideBySide(first, last, topology): computes the models `first` to
//     `last` - 1, at most kLanes, in lanes; returns a mask of the models that
//     must be computed alone.
template <class Work>
class ModelRuns {
 public:
  ModelRuns(const BatchLayout& layout, const void* indices, const Work& work)
      : layout_(layout),
        indices_(static_cast<const int32_t*>(indices)),
        work_(work) {}

  const char* All(Executor* executor) const {
    const int64_t size = layout_.batch_size();
    if (size == 0) return nullptr;
    const char* error = nullptr;
    std::shared_ptr<const Topology> topology = TopologyOf(0, &error);
    if (topology == nullptr) return error;
    if (size == 1) {
      work_.Alone(0, topology);
      return nullptr;
    }
    if (!layout_.shares_indices()) {
      for (int64_t n = 0; n < size; ++n) {
        topology = TopologyOf(n, &error);
        if (topology == nullptr) return error;
        work_.Alone(n, topology);
      }
      return nullptr;
    }
    const int64_t numbers = work_.Numbers(*topology);
    const int64_t together = numbers <= kMaxSideBySide ? kLanes : 1;
    const int64_t num_groups = (size + together - 1) / together;
    const auto run = [&](int64_t group) -> const char* {
      try {
        Group(group * together, std::min(size, (group + 1) * together),
              topology);
      } catch (const std::bad_alloc&) {
        return kOutOfMemory;
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
  static constexpr double kOperationsWorthThreads = 4e4;
  // With fewer models than this, solving them one by one is faster, as lanes
  // take the same time whether or not all are in use.
  static constexpr int64_t kMinLanes = 3;
  // Models that need more numbers than this are solved one by one: eight of
  // them would not fit into the cache.
  static constexpr int64_t kMaxSideBySide = int64_t{1} << 18;
  // The memory limit for all threads together. One thread solves all models if
  // several threads would exceed it.
  static constexpr int64_t kMaxThreadBytes = int64_t{1} << 31;

  std::shared_ptr<const Topology> TopologyOf(int64_t model,
                                             const char** error) const {
    return FindTopology(layout_.num_phases(), layout_.num_edges(),
                        indices_ + layout_.Offset(BatchLayout::kIndices, model),
                        error);
  }

  void Group(int64_t first, int64_t last,
             const std::shared_ptr<const Topology>& topology) const {
    uint32_t apart = ~uint32_t{0};
    if (last - first >= kMinLanes) {
      apart = work_.SideBySide(first, last, topology);
    }
    for (int64_t n = first; n < last; ++n) {
      if ((apart >> (n - first) & 1U) != 0) work_.Alone(n, topology);
    }
  }

  const BatchLayout& layout_;
  const int32_t* const indices_;
  const Work& work_;
};

template <class Work>
const char* RunModels(const BatchLayout& layout, const Input& indices,
                      const Work& work, Executor* executor) {
  try {
    return ModelRuns<Work>(layout, indices.data, work).All(executor);
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  }
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_BATCH_MODEL_RUNS_H_
