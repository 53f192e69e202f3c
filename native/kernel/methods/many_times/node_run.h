// Evaluates those times of one model that are in groups, and lists the others.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_RUN_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_RUN_H_

#include <cstdint>

#include "native/kernel/methods/many_times/node_groups.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

class NodeRun {
 public:
  NodeRun(const SweepInput& in, const SweepOutput& out, Workspace* workspace)
      : in_(in), out_(out), workspace_(workspace) {}

  // Calls evaluate(group) for each group. It must write each of the group's
  // times or call Leave for it, or return false and do nothing.
  template <class T, class Evaluate>
  StatusCode Run(Sequence<T>* sequence, const Evaluate& evaluate) {
    rest_ = static_cast<int64_t*>(workspace_->Allocate(
        static_cast<size_t>(in_.num_times), sizeof(int64_t)));
    if (rest_ == nullptr) return kMemoryLimit;
    return NodeGroups<T>(in_, sequence, false, workspace_)
        .ForEach([&](int64_t i) { return !WriteNothing(i); },
                 [&](int64_t i) { Leave(i); }, evaluate);
  }

  void Write(int64_t i, double value) {
    out_.values[i] = value;
    if (out_.status != nullptr) out_.status[i] = kOk;
  }
  // Adds a time to the list of those that are to be evaluated one by one.
  void Leave(int64_t i) { rest_[num_rest_++] = i; }

  const int64_t* rest() const { return rest_; }
  int64_t num_rest() const { return num_rest_; }

 private:
  // Returns whether time i has kind kNothing; if so, writes its value 0.
  bool WriteNothing(int64_t i) {
    if (in_.KindOf(i) != Kind::kNothing) return false;
    Write(i, 0.0);
    return true;
  }

  const SweepInput& in_;
  const SweepOutput& out_;
  Workspace* workspace_;
  int64_t* rest_ = nullptr;
  int64_t num_rest_ = 0;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_RUN_H_
