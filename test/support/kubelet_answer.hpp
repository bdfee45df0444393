// SPDX-License-Identifier: Apache-2.0
// A kubelet's answer to /pods on a full node, with realistic size and structure. The agent needs little of it and skips
// the rest (managedFields, environment, volumes, conditions).
#pragma once

#include <cstddef>
#include <string>

namespace koord::test {

// Each pod has an init container, a sidecar and two containers, and about 12 KB of JSON.
std::string kubelet_answer(std::size_t pods);

}  // namespace koord::test
