// SPDX-License-Identifier: Apache-2.0
// The fake node of a test: proc, sys and cgroup trees with files that the test writes.
#pragma once

#include "core/workshop/node_tree.hpp"

namespace koord::test {

using FakeNode = workshop::NodeTree;

}  // namespace koord::test
