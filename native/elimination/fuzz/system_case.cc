#include "native/elimination/fuzz/system_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "native/kernel/fuzz/byte_source.h"

namespace phasic {
namespace fuzz {
namespace {

using Dims = std::vector<int64_t>;

constexpr int64_t kMaxNumbers = int64_t{1} << 20;
constexpr int kEventRanks[] = {2, 1, 2, 2};

class SystemFiller {
 public:
  SystemFiller(ByteSource* bytes, SystemCase* c)
      : case_(*c),
        random_(bytes->Word()),
        style_(bytes->Below(5)),
        log2_spread_(bytes->OneIn(4) ? 300.0 : 6.0),
        zero_chance_(bytes->OneIn(3) ? 0.2 : 0.0),
        signed_chance_(bytes->OneIn(3) ? 0.4 : 0.0),
        is_special_(bytes->OneIn(6)) {
    case_.moderate = log2_spread_ < 10.0;
  }

  void Fill() {
    FillIndices();
    for (double& x : values(kWeights)) {
      x = random_.Chance(zero_chance_) ? 0.0 : Positive();
    }
    for (SystemOperand operand : {kPerPhase, kPerEdge}) {
      for (double& x : values(operand)) {
        x = random_.Chance(0.3) ? 0.0 : Positive();
        if (random_.Chance(signed_chance_)) x = -x;
      }
    }
    if (is_special_) MakeSpecial();
    if (case_.precision == Precision::kFloat32) {
      case_.moderate = false;
      for (double& x : values(kWeights)) x = static_cast<float>(x);
      CheckWeights();
    }
  }

 private:
  std::vector<double>& values(SystemOperand operand) {
    return case_.arrays[operand].values;
  }

  double Positive() {
    return std::exp2(log2_spread_ * (random_.Uniform() - 0.5));
  }

  // Draws the target of an edge, depending on the kind of graph: among
  // neighbors (series), later phases (acyclic graphs), all phases (random
  // graphs), few phases (stars), or within blocks (components).
  int64_t Target(int64_t source) {
    const int64_t p = case_.num_phases;
    const auto any = static_cast<int64_t>(random_.Next() >> 1);
    switch (style_) {
      case 0:
        return any % (p + 1);
      case 1:
        return std::clamp<int64_t>(source + (any % 2 == 0 ? 1 : -1), 0, p);
      case 2:
        return source + 1 + any % (p - source);
      case 3:
        return any % 4 == 0 ? p : any % std::min<int64_t>(p, 2);
      default:
        return random_.Chance(0.2) ? std::min(p, source + 4)
                                   : std::min(p, source / 4 * 4 + any % 4);
    }
  }

  void FillIndices() {
    std::vector<double>& indices = values(kIndices);
    const int64_t m = case_.num_edges;
    if (m == 0) return;
    const auto sets = static_cast<int64_t>(indices.size()) / (2 * m);
    for (int64_t set = 0; set < sets; ++set) {
      for (int64_t e = 0; e < m; ++e) {
        const auto source = static_cast<int64_t>(
            random_.Next() % static_cast<uint64_t>(case_.num_phases));
        indices[static_cast<size_t>(2 * m * set + e)] =
            static_cast<double>(source);
        indices[static_cast<size_t>(2 * m * set + m + e)] =
            static_cast<double>(Target(source));
      }
    }
  }

  void MakeSpecial() {
    constexpr double kSpecial[] = {-1.0,
                                   std::numeric_limits<double>::quiet_NaN(),
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   -0.0,
                                   5e-324,
                                   1e-310,
                                   1.7976931348623157e308};
    const SystemOperand operand =
        random_.Chance(0.5) ? kWeights
                            : (random_.Chance(0.5) ? kPerPhase : kPerEdge);
    std::vector<double>& chosen = values(operand);
    if (chosen.empty()) return;
    chosen[random_.Next() % chosen.size()] = kSpecial[random_.Next() % 8];
    case_.moderate = false;
    CheckWeights();
  }

  void CheckWeights() {
    const std::vector<double>& weights = values(kWeights);
    case_.good_weights =
        std::all_of(weights.begin(), weights.end(),
                    [](double x) { return x >= 0.0 && std::isfinite(x); });
  }

  SystemCase& case_;
  Generator random_;
  const int32_t style_;
  const double log2_spread_;
  const double zero_chance_;
  const double signed_chance_;
  const bool is_special_;
};

Dims EventDims(const SystemCase& c, int operand, bool has_per_edge) {
  switch (operand) {
    case kIndices:
      return {2, c.num_edges};
    case kWeights:
      return {c.num_edges};
    case kPerPhase:
      return {c.num_phases, c.num_columns};
    default:
      return {has_per_edge ? c.num_edges : 0, c.num_columns};
  }
}

// Sets a dimension to an invalid size, or to a size that exceeds memory.
void MakeWrongShape(ByteSource* bytes, SystemCase* c) {
  constexpr int64_t kSizes[] = {-1,
                                0,
                                2,
                                3,
                                int64_t{1} << 31,
                                int64_t{1} << 33,
                                std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::min()};
  SystemArray& array = c->arrays[bytes->Below(4)];
  if (bytes->Flag()) {
    array.rank = bytes->Below(40) - 5;
    // The call may read `rank` dimensions, so that `dims` must have as many
    // entries.
    array.dims.resize(static_cast<size_t>(std::max(array.rank, 0)), 1);
  } else if (!array.dims.empty()) {
    array.dims[static_cast<size_t>(bytes->Below(
        static_cast<int32_t>(array.dims.size())))] = kSizes[bytes->Below(8)];
  }
  const int64_t size = NumNumbers(array.dims);
  array.values.assign(size > 0 ? static_cast<size_t>(size) : 0, 0.0);
  c->well_formed = false;
}

void MakeWrongIndex(ByteSource* bytes, SystemCase* c) {
  std::vector<double>& indices = c->arrays[kIndices].values;
  if (indices.empty()) return;
  constexpr double kIndices[] = {-1.0, 1e6, -2147483648.0, 2147483647.0};
  indices[bytes->Word() % indices.size()] = kIndices[bytes->Below(4)];
  c->well_formed = false;
}

}  // namespace

int64_t NumNumbers(const Dims& dims) {
  int64_t size = 1;
  for (int64_t d : dims) {
    if (d < 0 || __builtin_mul_overflow(size, d, &size)) return -1;
  }
  return size > kMaxNumbers ? -1 : size;
}

SystemCase DecodeSystem(const uint8_t* data, size_t size) {
  ByteSource bytes(data, size);
  SystemCase c;
  c.direction = bytes.Flag() ? Direction::kSolveTransposed : Direction::kSolve;
  c.precision = bytes.OneIn(4) ? Precision::kFloat32 : Precision::kFloat64;
  c.wants_edges = !bytes.OneIn(3);
  c.pick = static_cast<uint32_t>(bytes.Word());
  for (int32_t axis = bytes.Below(4); axis > 0; --axis) {
    c.batch.push_back(1 + bytes.Below(bytes.OneIn(4) ? 20 : 4));
  }
  if (!c.batch.empty() && bytes.OneIn(64)) c.batch[0] = 0;
  c.num_phases = 1 + bytes.Below(bytes.OneIn(8) ? 150 : 12);
  c.num_edges = bytes.Below(
      static_cast<int32_t>(std::min<int64_t>(256, 4 * c.num_phases)));
  c.num_columns = bytes.OneIn(16) ? 0 : 1 + bytes.Below(3);
  c.wants_edges &= c.num_columns > 0;
  const bool has_per_edge = bytes.Flag();
  for (int i = 0; i < 4; ++i) {
    SystemArray& array = c.arrays[i];
    for (int64_t d : c.batch) array.dims.push_back(bytes.OneIn(4) ? 1 : d);
    for (int64_t d : EventDims(c, i, has_per_edge)) array.dims.push_back(d);
    array.rank = static_cast<int32_t>(array.dims.size());
    const int64_t numbers = NumNumbers(array.dims);
    array.values.resize(static_cast<size_t>(std::max<int64_t>(numbers, 0)));
    c.is_stored &= numbers >= 0;
  }
  // Along each axis, the size of the batch is the size of the arrays that are
  // not broadcast along this axis, or one if all arrays are broadcast.
  for (size_t axis = 0; axis < c.batch.size(); ++axis) {
    int64_t full = 1;
    for (const SystemArray& array : c.arrays) {
      if (array.dims[axis] != 1) full = array.dims[axis];
    }
    c.batch[axis] = full;
  }
  for (int64_t rows : {c.num_phases, c.num_edges}) {
    Dims result = c.batch;
    result.insert(result.end(), {rows, c.num_columns});
    c.is_stored &= NumNumbers(result) >= 0;
  }
  c.well_formed = c.is_stored;
  if (c.well_formed) SystemFiller(&bytes, &c).Fill();
  if (bytes.OneIn(8)) MakeWrongShape(&bytes, &c);
  if (bytes.OneIn(8)) MakeWrongIndex(&bytes, &c);
  return c;
}

SystemCase ModelOf(const SystemCase& c, int64_t model) {
  SystemCase one = c;
  one.batch.clear();
  for (int i = 0; i < 4; ++i) {
    const SystemArray& array = c.arrays[i];
    const size_t rank = c.batch.size();
    int64_t place = 0;
    int64_t stride = 1;
    int64_t rest = model;
    for (size_t axis = rank; axis-- > 0;) {
      if (array.dims[axis] != 1) {
        place += rest % c.batch[axis] * stride;
        stride *= array.dims[axis];
      }
      rest /= c.batch[axis];
    }
    one.arrays[i].dims.assign(array.dims.begin() + static_cast<int64_t>(rank),
                              array.dims.end());
    one.arrays[i].rank = kEventRanks[i];
    const int64_t size = NumNumbers(one.arrays[i].dims);
    const auto first = array.values.begin() + place * size;
    one.arrays[i].values.assign(first, first + size);
  }
  return one;
}

}  // namespace fuzz
}  // namespace phasic
