// SPDX-License-Identifier: Apache-2.0
// Overrides of NodeSLO fields by a pod's own annotations: cpuBurst, memoryQOS, blkioQOS, cpuQOS, networkQOS. For the
// slo_* files of this folder only. Pure. [any thread]
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>

#include "core/state/pod.hpp"
#include "core/state/slo_field.hpp"

namespace koord::state {

struct PodSlo {
  std::string annotation;                   // its key
  std::optional<boost::json::value> value;  // as the annotation says
  bool counts = false;                      // it replaces the node's value
  std::string note;                         // why it does not, or what it means
};

// nullopt: no annotation can change this field.
std::optional<PodSlo> pod_slo(const SloLeaf& leaf, const Pod& pod);

}  // namespace koord::state
