#include "native/xla/targets.h"

#include <vector>

namespace phasic {

std::vector<FfiTarget>& FfiTargets() {
  static std::vector<FfiTarget> targets;
  return targets;
}

}  // namespace phasic
