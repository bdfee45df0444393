// SPDX-License-Identifier: Apache-2.0
// Reads one section from its JSON object: existing members replace the values of `into`. Only for the files of this
// folder.
#pragma once

#include "plugins/shared/slo/members.hpp"

namespace koord::slo {

void read_threshold(const Members& from, Threshold& into);
void read_cpu_burst(const Members& from, CpuBurst& into);
void read_pod_burst(const Members& from, CpuBurst& into);  // only the fields that a pod's annotation may set
void read_system(const Members& from, System& into);
void read_resource_qos(const Members& from, ResourceQos& into);
void read_memory_qos(const Members& from, MemoryQos& into);
// Reads `blocks` of a blkioQOS; returns false if unset.
bool read_blocks(const Members& from, std::vector<Block>& into);

}  // namespace koord::slo
