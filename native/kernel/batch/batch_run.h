// Executes one call on a batch: gathers each model's operands and times as
// doubles, runs a sweep and scatters the results. Threads process ranges of
// models.
//
// Results do not depend on the ranges or on the threads: models that are
// computed together are in one range, whatever the threads, and sums over
// models are added in the order of the models. Sweeps flush denormals to zero,
// whatever the mode of the caller and of the thread.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_BATCH_RUN_H_
#define PHASIC_NATIVE_KERNEL_BATCH_BATCH_RUN_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/api/sweep.h"
#include "native/kernel/batch/batch_plan.h"
#include "native/kernel/batch/group_operands.h"
#include "native/kernel/batch/model_operands.h"
#include "native/kernel/batch/operand_cotangents.h"
#include "native/kernel/batch/statistics_outputs.h"
#include "native/kernel/batch/work_estimate.h"
#include "native/kernel/runtime/parallel.h"
#include "native/kernel/runtime/thread_memory.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/simd/float_environment.h"

namespace phasic {

using PHASIC_ISA::Denormals;
using PHASIC_ISA::FloatEnvironment;

// The largest number of cotangent terms that are stored before they are summed
// over the models.
constexpr int64_t kMaxTerms = int64_t{1} << 23;
// There are more ranges than threads, since the costs of models differ.
constexpr int64_t kRangesPerThread = 8;
constexpr double kLeastRangeMicroseconds = 5.0;

// Executes one call whose arrays have floating-point type F.
template <class F>
class BatchRun {
 public:
  // `small`, if not null, evaluates small models; `group`, if not null,
  // evaluates other models that have the same edges.
  BatchRun(const BatchPlan& plan, Sweep sweep, Executor* executor,
           GroupSweep group = nullptr, GroupSweep small = nullptr)
      : plan_(plan),
        sweep_(sweep),
        executor_(executor),
        takes_small_(small != nullptr && plan.HasSmallModels()),
        group_(takes_small_        ? small
               : MayBePacked(plan) ? group
                                   : nullptr) {
    if (plan.num_models() == 1) return;
    const int64_t num_threads = NumThreads(executor);
    if (num_threads == 1) return;
    const double work = BatchMicroseconds<F>(plan);
    if (!(work >= kWorthThreadsMicroseconds)) return;
    num_threads_ = num_threads;
    const double models =
        kLeastRangeMicroseconds * static_cast<double>(plan.num_models()) / work;
    least_length_ = 1 + static_cast<int64_t>(models);
    // Small models have the same bits in any company, so that threads may share
    // a few.
    least_multiple_ = MaxGroup();
    if (takes_small_) {
      least_multiple_ = std::min(
          least_multiple_, (plan.num_models() + num_threads - 1) / num_threads);
    }
  }

  // Computes the values or, if `status` is not null, the status codes of all
  // models. Returns nullptr or kOutOfMemory.
  const char* Forward(F* values, int32_t* status) {
    return OverRanges(0, plan_.num_models(), num_threads_,
                      [&](int64_t begin, int64_t end) {
                        return ForwardRange(begin, end, values, status);
                      });
  }

  const char* Adjoint(const Output* outputs) {
    const FloatEnvironment environment(Denormals::kKeep);
    const ThreadMemory memory(ThreadMemory::kCall);
    OperandCotangents<F> bars(plan_, outputs);
    // Computes the cotangents of as many models as fit into memory, adds the
    // cotangents of shared entries to the sums, and continues with the next
    // models.
    const int64_t size = bars.shared_size();
    if (size > kMaxTerms / kMaxGroup && !takes_small_) group_ = nullptr;
    const int64_t most = size == 0 ? INT64_MAX : kMaxTerms / size;
    const int64_t room = std::min(plan_.num_models(), most - most % MaxGroup());
    const bool alone = num_threads_ == 1 || room < 2;
    const int64_t places = alone ? MaxGroup() : room;
    if (!bars.Allocate(places, memory.get())) return kOutOfMemory;
    const int64_t step = alone ? plan_.num_models() : room;
    for (int64_t first = 0; first < plan_.num_models(); first += step) {
      const int64_t last = std::min(plan_.num_models(), first + step);
      const char* error = OverRanges(
          first, last, alone ? 1 : num_threads_,
          [&](int64_t begin, int64_t end) {
            return AdjointRange(begin, end, alone ? -1 : first, &bars);
          });
      if (error != nullptr) return error;
      if (!alone && size > 0) AddTerms(first, last, &bars);
    }
    bars.StoreSums();
    return nullptr;
  }

  const char* Statistics(const Output* outputs) {
    return OverRanges(0, plan_.num_models(), num_threads_,
                      [&](int64_t begin, int64_t end) {
                        return StatisticsRange(begin, end, outputs);
                      });
  }

 private:
  // Returns whether models may be computed in lanes: they have the same edges,
  // and kMaxGroup of them at once are within the memory limit.
  static bool MayBePacked(const BatchPlan& plan) {
    if (plan.call().discrete || !plan.SharesEdges() ||
        !ArePacked(plan.num_models(), plan.layout().num_phases)) {
      return false;
    }
    int64_t size = 4 * plan.times_per_model();  // results, kinds and more
    for (int32_t i = 0; i < plan.num_inputs(); ++i) {
      size += plan.ModelSize(plan.OperandOf(i));
    }
    return size + plan.NumConstants() + plan.NumCoefficients() <=
           kMaxTerms / kMaxGroup;
  }

  // Returns the largest number of models that one sweep evaluates.
  int MaxGroup() const {
    return group_ == nullptr ? 1
                             : static_cast<int>(std::min<int64_t>(
                                   kMaxGroup, plan_.num_models()));
  }

  // Calls function(begin, end) for ranges that partition [first, last), in
  // parallel. Returns nullptr or the first error message.
  template <class Function>
  const char* OverRanges(int64_t first, int64_t last, int64_t num_threads,
                         const Function& function) {
    if (num_threads == 1) return function(first, last);
    const int64_t count = last - first;
    const int64_t ranges = num_threads * kRangesPerThread;
    const int64_t parts =
        (std::max(least_length_, (count + ranges - 1) / ranges) +
         least_multiple_ - 1) /
        least_multiple_;
    const int64_t length = parts * least_multiple_;
    return ParallelFor(executor_, (count + length - 1) / length,
                       [&](int64_t chunk) {
                         const int64_t begin = first + chunk * length;
                         return function(begin, std::min(begin + length, last));
                       });
  }

  const char* ForwardRange(int64_t begin, int64_t end, F* values,
                           int32_t* status) const {
    const FloatEnvironment environment(Denormals::kKeep);
    const ThreadMemory memory(ThreadMemory::kRange);
    const ThreadMemory sweep_memory(ThreadMemory::kSweep, executor_);
    GroupOperands<F> operands(plan_, MaxGroup());
    const auto n = static_cast<size_t>(plan_.times_per_model());
    SweepOutput outputs[kMaxGroup];
    for (int l = 0; l < MaxGroup(); ++l) {
      outputs[l] = {};
      outputs[l].values =
          static_cast<double*>(memory.get()->Allocate(n, sizeof(double)));
      if (outputs[l].values == nullptr) return kOutOfMemory;
      if (status == nullptr) continue;
      outputs[l].status =
          static_cast<int32_t*>(memory.get()->Allocate(n, sizeof(int32_t)));
      if (outputs[l].status == nullptr) return kOutOfMemory;
    }
    if (!operands.Allocate(memory.get())) return kOutOfMemory;
    int64_t strides[kMaxRank];
    OutputStrides(strides);
    const auto store = [&](const BatchIndex& model,
                           const SweepOutput& results) {
      const int64_t base = model.Offset(strides);
      plan_.ForEachRun(strides, [&](int64_t offset, int64_t row) {
        for (int64_t i = 0; i < plan_.layout().num_times; ++i) {
          if (status != nullptr) {
            status[base + offset + i] = results.status[row + i];
          } else {
            values[base + offset + i] = static_cast<F>(results.values[row + i]);
          }
        }
      });
    };
    BatchIndex model = plan_.Model(begin);
    for (int64_t m = begin; m < end && !IsStopped(); m += operands.count()) {
      BatchIndex stored = model;
      if (operands.Gather(end - m, &model) == 0) return kOutOfMemory;
      RunSweep(operands, outputs, sweep_memory.get());
      for (int l = 0; l < operands.count(); ++l, stored.Next()) {
        store(stored, outputs[l]);
      }
    }
    return nullptr;
  }

  void RunSweep(const GroupOperands<F>& operands, const SweepOutput* outputs,
                Workspace* memory) const {
    if (takes_small_ || (group_ != nullptr && operands.count() > 1)) {
      group_(operands.inputs(), outputs, operands.count(), memory);
    } else {
      sweep_(operands.inputs()[0], outputs[0], memory);
    }
    memory->Reset();
  }

  const char* StatisticsRange(int64_t begin, int64_t end,
                              const Output* outputs) const {
    const FloatEnvironment environment(Denormals::kKeep);
    const ThreadMemory memory(ThreadMemory::kRange);
    const ThreadMemory sweep_memory(ThreadMemory::kSweep, executor_);
    SweepInput input;
    ModelOperands<F> operands(plan_, &input);
    StatisticsOutputs<F> statistics(plan_.layout(), outputs);
    if (!operands.Allocate(memory.get()) ||
        !statistics.Allocate(memory.get())) {
      return kOutOfMemory;
    }
    BatchIndex model = plan_.Model(begin);
    for (int64_t m = begin; m < end && !IsStopped(); ++m, model.Next()) {
      if (!operands.Gather(model)) return kOutOfMemory;
      sweep_(input, statistics.scratch(), sweep_memory.get());
      sweep_memory.get()->Reset();
      statistics.Store(m, input.exponent);
    }
    return nullptr;
  }

  // Computes the cotangents of the models `begin` to `end` - 1. For entries
  // that several models share, the cotangents of each model are terms of sums.
  // The terms of model m are stored in slot m - first_place. If first_place is
  // -1, they are added to the sums at once, and there is only one slot for each
  // model of a group.
  const char* AdjointRange(int64_t begin, int64_t end, int64_t first_place,
                           OperandCotangents<F>* bars) const {
    const FloatEnvironment environment(Denormals::kKeep);
    const ThreadMemory memory(ThreadMemory::kRange);
    const ThreadMemory sweep_memory(ThreadMemory::kSweep, executor_);
    GroupOperands<F> operands(plan_, MaxGroup());
    ModelCotangents model_bars[kMaxGroup] = {};
    if (!operands.Allocate(memory.get())) return kOutOfMemory;
    for (int l = 0; l < MaxGroup(); ++l) {
      if (!bars->AllocateScratch(memory.get(), &model_bars[l])) {
        return kOutOfMemory;
      }
    }
    const bool add_at_once = first_place < 0;
    SweepOutput outputs[kMaxGroup];
    for (int l = 0; l < MaxGroup(); ++l) outputs[l] = model_bars[l].AsOutput();
    BatchIndex model = plan_.Model(begin);
    for (int64_t m = begin; m < end && !IsStopped(); m += operands.count()) {
      BatchIndex stored = model;
      if (operands.Gather(end - m, &model) == 0) return kOutOfMemory;
      for (int l = 0; bars->shared_size() > 0 && l < operands.count(); ++l) {
        bars->PointAtTerms(add_at_once ? l : m + l - first_place,
                           &model_bars[l]);
        outputs[l] = model_bars[l].AsOutput();
      }
      RunSweep(operands, outputs, sweep_memory.get());
      for (int l = 0; l < operands.count(); ++l, stored.Next()) {
        operands.SwapEnds(l, model_bars[l].operands[kTimes]);
        bars->StoreOwn(stored, model_bars[l]);
        if (add_at_once) bars->AddTerms(stored, l);
      }
    }
    return nullptr;
  }

  void AddTerms(int64_t first, int64_t last, OperandCotangents<F>* bars) const {
    BatchIndex model = plan_.Model(first);
    for (int64_t m = first; m < last; ++m, model.Next()) {
      bars->AddTerms(model, m - first);
    }
  }

  // Computes the strides of an output that has the full batch dimensions.
  void OutputStrides(int64_t* strides) const {
    const Layout& layout = plan_.layout();
    int64_t dims[kMaxRank];
    std::copy(layout.batch, layout.batch + layout.batch_rank, dims);
    dims[layout.batch_rank] = layout.num_times;
    BatchStrides(layout, {dims, layout.batch_rank + 1}, layout.num_times,
                 strides);
  }

  const BatchPlan& plan_;
  const Sweep sweep_;
  Executor* const executor_;
  const bool takes_small_;
  GroupSweep group_;
  int64_t num_threads_ = 1;
  int64_t least_length_ = 1;    // least number of models in a range
  int64_t least_multiple_ = 1;  // lengths of ranges are multiples of it
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BATCH_BATCH_RUN_H_
