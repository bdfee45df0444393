// SPDX-License-Identifier: Apache-2.0
// What a kubelet answers to /pods on a full node, of the size and shape that real clusters have: most of it (managedFields,
// environment, volumes, conditions) is nothing that an agent needs.
#pragma once

#include <cstddef>
#include <string>

namespace koord::test {

// Each pod has an init container, a sidecar and two containers, and about 12 KB of JSON.
std::string kubelet_answer(std::size_t pods);

}  // namespace koord::test
