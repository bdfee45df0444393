// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/node_tree.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>

#include "core/base/file.hpp"

using namespace koord;
using namespace koord::workshop;

TEST_CASE("a file that is written again has the new content, whether it is shorter or longer") {
  NodeTree node({{"proc/stat", "cpu 10\n"}});
  for (const char* content : {"cpu 1\n", "cpu 1000\n", ""}) {
    node.write("proc/stat", content);
    CHECK(read_file(node.path("proc/stat")).value() == content);
  }
}

TEST_CASE("a reader never finds an empty file where the content is replaced by one of the same length") {
  const std::string old_content(100, 'a'), new_content(100, 'b');
  NodeTree node({{"proc/stat", old_content}});
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    while (!is_over)
      for (const std::string& content : {new_content, old_content}) node.write("proc/stat", content);
  });
  for (int i = 0; i < 20'000; ++i) {
    const std::string found = read_file(node.path("proc/stat")).value();
    if (found.size() == old_content.size()) continue;
    CHECK(found == old_content);
    break;
  }
  is_over = true;
  writer.join();
}
