// SPDX-License-Identifier: Apache-2.0
// The node of a test: proc, sys and cgroup trees made of literals.
#pragma once

#include "core/workshop/node_tree.hpp"

namespace koord::test {

using FakeNode = workshop::NodeTree;

}  // namespace koord::test
