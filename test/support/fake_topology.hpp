// SPDX-License-Identifier: Apache-2.0
// Publishes the topology of a fake node in the host's state, as the agent does.
#pragma once

#include "test/support/fake_host.hpp"
#include "test/support/fake_nodes.hpp"

namespace koord::test {

// Reads the node's current tree. Throws std::runtime_error if it has no valid topology.
void publish_topology(FakeHost& host, const FakeNode& node);

}  // namespace koord::test
