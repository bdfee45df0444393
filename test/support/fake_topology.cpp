// SPDX-License-Identifier: Apache-2.0
#include "test/support/fake_topology.hpp"

#include <stdexcept>

#include "core/state/topology.hpp"

namespace koord::test {

void publish_topology(FakeHost& host, const FakeNode& node) {
  Result<state::Topology> topology = state::read_topology(node.roots());
  if (!topology) throw std::runtime_error(topology.error().message());
  host.hub().publish({.topology = std::move(topology).value()});
}

}  // namespace koord::test
