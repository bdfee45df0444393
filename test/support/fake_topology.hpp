// SPDX-License-Identifier: Apache-2.0
// The topology of a fake node in the host's state, as the agent keeps it.
#pragma once

#include "test/support/fake_host.hpp"
#include "test/support/fake_nodes.hpp"

namespace koord::test {

// Reads the node's tree as it is now. Throws std::runtime_error when it is no topology.
void publish_topology(FakeHost& host, const FakeNode& node);

}  // namespace koord::test
