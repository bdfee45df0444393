// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/host_time.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "core/base/file.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::agentd;
using namespace std::chrono_literals;

namespace {

struct Folder {
  std::unique_ptr<SystemClock> clock(const std::string& boot, Time not_before = Time::min()) const {
    return clock_of_boot(path, boot, not_before);
  }
  void keep(const std::string& text) const { REQUIRE(write_file_atomically(path + "/host-time", text)); }
  std::string kept() const { return read_file(path + "/host-time").value_or("(none)"); }

  test::FakeNode node;
  const std::string path = node.path("run/qos");
};

Duration ahead(const Clock& clock) { return Duration(to_ns(clock.now())) - Duration(clock.wall_ns()); }

}  // namespace

TEST_CASE("host time continues within a boot, whatever time the wall clock has") {
  const Folder folder;
  const auto first = folder.clock("boot-1");
  CHECK(std::chrono::abs(ahead(*first)) < 1min);
  // The recorded offset is what it would be if the wall clock had since been set back by ten years.
  folder.keep("boot-1 " + std::to_string((first->offset() + 24h * 3652).count()) + "\n");
  const auto second = folder.clock("boot-1");
  CHECK(second->offset() == first->offset() + 24h * 3652);
  CHECK(second->now() > first->now());
}

TEST_CASE("after a boot host time starts at the wall clock's time, but never before a recorded time") {
  const Folder folder;
  folder.clock("boot-1");
  folder.keep("boot-1 1\n");
  const auto next = folder.clock("boot-2");
  CHECK(std::chrono::abs(ahead(*next)) < 1min);
  CHECK(folder.kept() == "boot-2 " + std::to_string(next->offset().count()) + "\n");
  const auto late = folder.clock("boot-2", next->now() + 1h);
  CHECK(late->now() > next->now() + 59min);
  CHECK(folder.clock("boot-2")->offset() == late->offset());
}

TEST_CASE("a damaged file is ignored, and without a folder or a boot id no time is stored") {
  const Folder folder;
  for (const char* text : {"", "boot-1", "boot-1 x", "boot-1 -1", "boot-1 9223372036854775807",
                           "boot-1 99999999999999999999", "boot-1 1 2"}) {
    CAPTURE(text);
    std::filesystem::create_directories(folder.path);
    folder.keep(text);
    CHECK(std::chrono::abs(ahead(*folder.clock("boot-1"))) < 1min);
  }
  CHECK(std::chrono::abs(ahead(*clock_of_boot("", "boot-1", Time::min()))) < 1min);
  folder.keep("boot-1 1\n");
  CHECK(std::chrono::abs(ahead(*folder.clock(""))) < 1min);
  CHECK(folder.kept() == "boot-1 1\n");
}
