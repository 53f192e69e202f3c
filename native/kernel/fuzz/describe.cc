#include "native/kernel/fuzz/describe.h"

#include <cstddef>
#include <iomanip>
#include <limits>
#include <sstream>

namespace phasic {
namespace fuzz {
namespace {

constexpr size_t kMaxShown = 4096;

template <class T>
void Write(const std::vector<T>& items, std::ostringstream* text) {
  for (size_t i = 0; i < items.size() && i < kMaxShown; ++i) {
    *text << (i > 0 ? ", " : "") << items[i];
  }
  if (items.size() > kMaxShown) *text << ", ...";
}

void WriteArray(const Array& array, std::ostringstream* text) {
  *text << " rank " << array.rank << " [";
  Write(array.dims, text);
  *text << "] = {";
  Write(array.values, text);
  *text << "}";
}

}  // namespace

std::string Describe(const CallCase& c) {
  constexpr const char* kNames[] = {"initial_probs", "subgenerator",
                                    "exit_rates", "prob_zero", "times"};
  constexpr const char* kEdgeNames[] = {"indices", "constants", "coefficients"};
  std::ostringstream text;
  const char* const adjoint = c.statistics ? "Statistics" : "Adjoint";
  text << std::setprecision(std::numeric_limits<double>::max_digits10)
       << (c.adjoint ? adjoint : "Forward") << " kind=" << c.call.kind
       << " order=" << c.call.order << " mapped_dims=" << c.call.mapped_dims
       << " wanted=" << c.call.wanted << (c.call.discrete ? " discrete" : "")
       << (c.call.precision == Precision::kFloat32 ? " float32" : " float64");
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    text << "\n  ";
    if (c.adjoint && i + 1 == c.inputs.size()) {
      text << "cotangent";
    } else {
      if (i >= kNumOperands) text << "tangent " << i / kNumOperands << " of ";
      text << kNames[i % kNumOperands];
    }
    WriteArray(c.inputs[i], &text);
  }
  for (size_t i = 0; i < c.edges.size(); ++i) {
    text << "\n  edges' " << kEdgeNames[i];
    WriteArray(c.edges[i], &text);
  }
  if (!c.kinds.empty()) {
    text << "\n  kinds";
    WriteArray(c.kinds[0], &text);
  }
  return text.str();
}

}  // namespace fuzz
}  // namespace phasic
