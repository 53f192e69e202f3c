// Keeps the evaluation of the last model that was expensive to evaluate, or
// whose caller has said that it comes again. Computations of quantiles,
// entropies and hazards call the kernel many times with one model. Without the
// kept evaluation, each call would compute the steps and squared powers of the
// model again.
//
// Results do not depend on what is kept: the values at the times of a call do
// not depend on times that were evaluated before.

#ifndef PHASIC_NATIVE_KERNEL_SWEEPS_KEPT_MODEL_H_
#define PHASIC_NATIVE_KERNEL_SWEEPS_KEPT_MODEL_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>

#include "native/kernel/api/sweep.h"
#include "native/kernel/runtime/thread_memory.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/evaluation.h"

namespace phasic {
namespace PHASIC_ISA {

// A copy of all numbers that define a model, so that the same model is
// recognized in a later call. The times of the calls are not included.
class ModelKey {
 public:
  static size_t Bytes(const SweepInput& in) {
    size_t total = 0;
    ForEach(in,
            [&](const void*, size_t bytes) { return total += bytes, true; });
    return total;
  }

  // Copies the numbers; returns false if memory does not suffice.
  bool Set(const SweepInput& in, Workspace* workspace) {
    bytes_ = Bytes(in);
    copy_ = static_cast<char*>(workspace->Allocate(bytes_, 1));
    if (copy_ == nullptr) return false;
    char* next = copy_;
    return ForEach(in, [&](const void* x, size_t bytes) {
      std::memcpy(next, x, bytes);
      next += bytes;
      return true;
    });
  }

  // Returns whether `in` has the same numbers. Compares bits, since with
  // flushed denormals a subnormal number would equal zero.
  bool IsOf(const SweepInput& in) const {
    size_t place = 0;
    return ForEach(in,
                   [&](const void* x, size_t bytes) {
                     place += bytes;
                     return place <= bytes_ &&
                            std::memcmp(x, copy_ + place - bytes, bytes) == 0;
                   }) &&
           place == bytes_;
  }

 private:
  // Calls function(array, bytes) for each array of the model until a call
  // returns false. Returns whether all calls returned true.
  template <class Function>
  static bool ForEach(const SweepInput& in, const Function& function) {
    const auto take = [&](const auto* x, int64_t count) {
      return x == nullptr ||
             function(x, static_cast<size_t>(count) * sizeof(*x));
    };
    const int64_t p = in.num_phases;
    const EdgeView& edges = in.edges;
    const double of_call[] = {
        MaxWork(),
        static_cast<double>(p),
        in.epsilon,
        static_cast<double>(in.discrete),
        static_cast<double>(in.has_exit_rates),
        static_cast<double>(in.has_prob_zero),
        static_cast<double>(in.has_edges() ? edges.count : -1),
        static_cast<double>(edges.constants != nullptr),
        static_cast<double>(edges.coefficients != nullptr),
    };
    const int64_t parameters = in.has_edges() ? edges.num_parameters : p * p;
    return take(of_call, std::size(of_call)) &&
           take(in.initial_probs.value, p) &&
           take(in.subgenerator.value, parameters) &&
           (!in.has_exit_rates || take(in.exit_rates.value, p)) &&
           (!in.has_prob_zero || take(in.prob_zero.value, 1)) &&
           (!in.has_edges() ||
            (take(edges.sources, edges.count) &&
             take(edges.targets, edges.count) &&
             take(edges.constants, edges.count) &&
             take(edges.coefficients, edges.count * edges.num_parameters)));
  }

  char* copy_ = nullptr;
  size_t bytes_ = 0;
};

// T is double. A template, as the methods are not defined here.
template <class T>
class KeptModel {
 public:
  // Returns the only object of this class for large or for small models, with
  // an evaluation of the model that `in` defines. If the kept model is this
  // model, its evaluation is used; otherwise a new one is created. Returns
  // nullptr while another thread uses the object.
  static KeptModel* Borrow(const SweepInput& in, Workspace* workspace) {
    // Never destroyed, as threads may outlive static objects.
    static auto* const large = new KeptModel(kMostBytes);
    static auto* const small = new KeptModel(kMostBytes >> 4);
    auto* const kept = in.num_phases >= kLeastKeptPhases ? large : small;
    if (kept->is_borrowed_.exchange(true)) return nullptr;
    kept->memory_.SetHelpers(workspace->helpers());
    if (!kept->is_known_ || !kept->key_.IsOf(in)) {
      kept->Clear();
      kept->evaluation_.emplace(in, &kept->memory_);
    }
    return kept;
  }

  // Returns the evaluation, which exists from Borrow until GiveBack.
  Evaluation<T>* get() { return &*evaluation_; }  // NOLINT

  // Keeps the evaluation for later calls if it was expensive or the call says
  // that the model comes again, and if it does not need too much memory.
  // Otherwise frees it.
  void GiveBack(const SweepInput& in) {
    const double dear =
        std::min(kDear * static_cast<double>(ModelKey::Bytes(in)), kDearest);
    const double least = in.repeats ? 0.0 : dear;
    const bool is_kept = !IsStopped() && get()->status == kOk &&
                         get()->Spent() >= least &&
                         (is_known_ || key_.Set(in, &memory_)) &&
                         memory_.total_bytes() <= MostBytes(in);
    is_known_ = is_kept;
    if (!is_kept) Clear();
    memory_.SetHelpers(nullptr);
    is_borrowed_ = false;
  }

 private:
  // The least cost of evaluations that are kept, in half nanoseconds: for each
  // byte of the key, which takes about a hundredth of it to copy and to
  // compare, and the most for any model.
  static constexpr double kDear = 40.0;
  static constexpr double kDearest = 2e8;
  static constexpr size_t kMostBytes = size_t{1} << 28;

  // Searches, whose calls say that the model comes again, and calls between
  // them would otherwise take all steps of the largest models each time.
  size_t MostBytes(const SweepInput& in) const {
    const bool comes_again = in.repeats || is_known_;
    return comes_again && most_bytes_ == kMostBytes ? kMemoryLimitBytes
                                                    : most_bytes_;
  }

  explicit KeptModel(size_t most_bytes) : most_bytes_(most_bytes) {}

  void Clear() {
    is_known_ = false;
    evaluation_.reset();
    memory_.Reset();
  }

  const size_t most_bytes_;
  std::atomic<bool> is_borrowed_{false};
  // There are only two such workspaces, so that their memory is bounded without
  // taking turns; see workspace.h.
  Workspace memory_{kMemoryLimitBytes, /*takes_turns=*/false};
  std::optional<Evaluation<T>> evaluation_;
  ModelKey key_;
  bool is_known_ = false;  // key_ is the key of evaluation_
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SWEEPS_KEPT_MODEL_H_
