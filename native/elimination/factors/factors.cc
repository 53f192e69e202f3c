#include "native/elimination/factors/factors.h"

#include <algorithm>
#include <cstring>

#include "native/elimination/factors/recent.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/simd/float_environment.h"

namespace phasic {
namespace {

using PHASIC_ISA::FloatEnvironment;

constexpr size_t kRecentBytes = size_t{1} << 28;
constexpr size_t kRecentItems = 64;
// With fewer operations than this, a new elimination is faster than a lookup in
// the cache.
constexpr double kWorthKeeping = 2e4;
// The most bytes of scratch memory that a thread keeps between calls.
constexpr size_t kThreadBytes = size_t{1} << 25;

void Make(const Topology& t, const Weights& weights, int lanes,
          const Solver& solver, const Scratch& scratch, Factors* factors) {
  factors->lanes = lanes;
  factors->findings = {};
  factors->apart = 0;
  factors->number_size = weights.number_size;
  FactorArrays& arrays = factors->arrays;
  factors->memory.Divide(
      {{&arrays.outer, lanes * static_cast<int64_t>(t.outer_numbers.size())},
       {&arrays.leaving, lanes * t.num_phases},
       {&arrays.pivots, lanes * t.num_phases},
       {&arrays.fronts, lanes * t.num_factors}});
  FloatEnvironment::ClearRange();
  if (lanes != kLanes) {
    factors->findings = solver.factorize(t, weights.arrays[0], arrays, scratch);
  } else {
    factors->apart = solver.factorize_lanes(t, weights.arrays, arrays, scratch);
  }
  factors->left_range = FloatEnvironment::LeftRange();
  FloatEnvironment::ClearRange();
}

}  // namespace

std::shared_ptr<const Factors> FindFactors(
    const std::shared_ptr<const Topology>& topology, const Weights& weights,
    int lanes, const Solver& solver, const Scratch& scratch) {
  if (topology->size.operations < kWorthKeeping) {
    thread_local std::shared_ptr<Factors> own;
    if (own == nullptr || own->memory.bytes() > kThreadBytes) {
      own = std::make_shared<Factors>();
    }
    Make(*topology, weights, lanes, solver, scratch, own.get());
    return own;
  }
  auto* recent = RecentOfProcess<Factors, kRecentItems, kRecentBytes>::Get();
  const size_t bytes =
      static_cast<size_t>(topology->num_edges) * weights.number_size;
  const size_t all_bytes = bytes * static_cast<size_t>(weights.count);
  auto found = recent->Find(
      [&](const Factors& f) {
        return f.topology == topology && f.number_size == weights.number_size &&
               f.lanes == lanes && f.weights.size() == all_bytes;
      },
      [&](const Factors& f) {
        for (int l = 0; l < weights.count; ++l) {
          const char* mine = f.weights.data() + static_cast<size_t>(l) * bytes;
          if (std::memcmp(mine, weights.arrays[l], bytes) != 0) return false;
        }
        return true;
      });
  if (found != nullptr) {
    FloatEnvironment::ClearRange();
    return found;
  }
  auto made = std::make_shared<Factors>();
  made->topology = topology;
  for (int l = 0; l < weights.count; ++l) {
    const char* mine = static_cast<const char*>(weights.arrays[l]);
    made->weights.insert(made->weights.end(), mine, mine + bytes);
  }
  Make(*topology, weights, lanes, solver, scratch, made.get());
  if (!IsStopped()) recent->Keep(made);
  return made;
}

ThreadScratch::ThreadScratch(const Topology& topology, int lanes,
                             int64_t columns, bool wants_differences)
    : memory_([] {
        thread_local Buffer memory;
        return &memory;
      }()) {
  const int64_t by_position = lanes * (topology.num_phases + 1) * columns;
  // The factorization uses `local` as scratch memory of one column, even if
  // there are no right-hand sides.
  const int64_t local_columns = std::max<int64_t>(columns, 1);
  memory_->Divide(
      {{&arrays_.matrices, lanes * topology.num_working},
       {&arrays_.local, lanes * LocalSize(topology) * local_columns},
       {&arrays_.given, wants_differences ? by_position : 0},
       {&arrays_.rest, by_position},
       {&arrays_.solution, by_position},
       {&arrays_.above, by_position},
       {&arrays_.bases, by_position}});
}

ThreadScratch::~ThreadScratch() {
  if (memory_->bytes() > kThreadBytes) memory_->Release();
}

}  // namespace phasic
