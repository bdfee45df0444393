// SPDX-License-Identifier: Apache-2.0
// The fields of a NodeSLO one by one, each under its path, and a search for the field that a user means. Pure. [any
// thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/state/pod.hpp"
#include "core/state/slo_schema.hpp"

namespace koord::state {

struct SloLeaf {
  std::string path;                     // "resourceQOSStrategy.beClass.cpuQOS.groupIdentity"
  std::vector<std::string_view> names;  // the same in parts
  const SloField* field = nullptr;
  const SloField* section = nullptr;  // the section around it
  SloProfile profile = SloProfile::general;
};

// All that have a value of their own, in the order of the schema; lists are one.
const std::vector<SloLeaf>& slo_leaves();

// By its path or the end of one, whatever the case, as "memoryQOS.wmarkRatio". Where several end so, the one for the
// class of the pod, if one is given. An error names the nearest known field, or those that it may be.
Result<const SloLeaf*> find_slo_field(std::string_view name, const Pod* pod = nullptr);

// The member of resourceQOSStrategy that is for pods of this class; "" for none.
std::string_view class_section_of(KoordQos qos);

}  // namespace koord::state
