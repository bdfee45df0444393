// SPDX-License-Identifier: Apache-2.0
// Shared by tests of services: a fake host, the table of one service, and helper functions for text.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "koordetector/plugin.hpp"
#include "test/support/fake_host.hpp"

namespace koord::test {

using plugin::str;

template <class Table>
struct OnHost {
  explicit OnHost(const char* id, std::initializer_list<std::pair<std::string_view, std::string_view>> tree = {},
                  std::string config_json = "{}")
      : node(tree), host(node, std::move(config_json)), service(host.service<Table>(id)), abi(host.abi()) {
    REQUIRE(service);
  }

  FakeNode node;
  FakeHost host;
  const Table* service;
  const koord_host* abi;
};

inline koord_label label(std::string_view key, std::string_view value) { return {str(key), str(value)}; }

}  // namespace koord::test
