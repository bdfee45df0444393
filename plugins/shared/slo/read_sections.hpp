// SPDX-License-Identifier: Apache-2.0
// One section from its JSON object: existing members replace those of `into`. For the files of this folder only.
#pragma once

#include "plugins/shared/slo/members.hpp"

namespace koord::slo {

void read_threshold(const Members& from, Threshold& into);
void read_cpu_burst(const Members& from, CpuBurst& into);
void read_pod_burst(const Members& from, CpuBurst& into);  // the fields that a pod's annotation may set
void read_system(const Members& from, System& into);
void read_resource_qos(const Members& from, ResourceQos& into);
void read_memory_qos(const Members& from, MemoryQos& into);
// `blocks` of a blkioQOS; false: unset.
bool read_blocks(const Members& from, std::vector<Block>& into);

}  // namespace koord::slo
