// SPDX-License-Identifier: Apache-2.0
// An untrusted fixture: reads its tar file, and writes its content without leaving the node's folder.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>

#include "core/workshop/fixture.hpp"
#include "core/workshop/node_tree.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace koord::workshop;
  auto fixture = parse_fixture({reinterpret_cast<const char*>(data), size});
  if (!fixture) return 0;
  NodeTree node;
  try {
    for (const Frame& frame : fixture->frames) apply(frame, node);
  } catch (const std::exception&) {  // a file and a directory of the same name
  }
  return 0;
}
