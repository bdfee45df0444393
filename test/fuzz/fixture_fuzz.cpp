// SPDX-License-Identifier: Apache-2.0
// A fixture is untrusted: its tar file is read, and its content can be laid out without leaving the node.
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
  } catch (const std::exception&) {  // a file where another entry wants a directory
  }
  return 0;
}
