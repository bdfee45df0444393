// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/node/value_file.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_node.hpp"

using namespace koord::node;
using koord::test::FakeNode;

TEST_CASE("a value is the text of the file without the newline") {
  FakeNode node({{"sys/a", " fff\n"}, {"sys/n", "-1\n"}, {"sys/set", "0-2,8\n"}, {"sys/none", "\n"}});
  CHECK(read_text(node.path("sys/a")) == "fff");
  CHECK(read_number(node.path("sys/n")) == -1);
  CHECK(read_set(node.path("sys/set"))->list() == "0-2,8");
  CHECK(read_set(node.path("sys/none"))->empty());
}

TEST_CASE("a missing value or one in another format is nullopt") {
  FakeNode node({{"sys/a", "x\n"}, {"sys/dir/", ""}});
  CHECK_FALSE(read_text(node.path("sys/b")));
  CHECK_FALSE(read_text(node.path("sys/dir")));
  CHECK_FALSE(read_number(node.path("sys/a")));
  CHECK_FALSE(read_set(node.path("sys/a")));
  CHECK(names_in(node.path("sys/b")).empty());
  CHECK_FALSE(exists(node.path("sys/b")));
}

TEST_CASE("a link has the last part of its target as its name") {
  FakeNode node;
  node.link("sys/class/net/eth0", "../../devices/pci0000:00/0000:00:01.0");
  node.link("sys/plain", "target");
  CHECK(link_name(node.path("sys/class/net/eth0")) == "0000:00:01.0");
  CHECK(link_name(node.path("sys/plain")) == "target");
  CHECK_FALSE(link_name(node.path("sys/class")));
}
