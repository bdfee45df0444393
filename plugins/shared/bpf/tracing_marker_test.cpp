// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/bpf/tracing_marker.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.hpp"
#include "test/support/fake_node.hpp"

using koord::test::FakeNode;
using koord::tracing::MarkerOptions;
using koord::tracing::TracingMarker;

namespace {

const std::string kThisBoot = "11111111-1111-1111-1111-111111111111";
const std::string kEarlierBoot = "22222222-2222-2222-2222-222222222222";

// A temporary state directory.
struct Place {
  explicit Place(std::string_view left_behind = {}) {
    if (!left_behind.empty()) node.write("state/advisor-x.tracing-abcdef", left_behind);
  }
  MarkerOptions options(bool rearm = false) const { return {directory, "advisor-x", kThisBoot, rearm}; }
  std::vector<std::string> files() const { return koord::list_directory(directory).value(); }

  FakeNode node{{{"state/metrics.db", ""}}};
  std::string directory = node.path("state");
};

}  // namespace

TEST_CASE("a marker contains the boot id while its owner traces, and is removed afterwards") {
  Place place;
  {
    auto marker = TracingMarker::set(place.options());
    REQUIRE(marker);
    REQUIRE(place.files().size() == 2);
    CHECK(koord::read_file(place.directory + "/" + place.files()[0]).value() == kThisBoot);
  }
  CHECK(place.files() == std::vector<std::string>{"metrics.db"});
}

TEST_CASE("a marker of an earlier boot of the machine keeps tracing off, and explains how to go on") {
  Place place(kEarlierBoot);
  for (int start = 0; start < 2; ++start) {
    auto marker = TracingMarker::set(place.options());
    REQUIRE_FALSE(marker);
    CHECK(marker.error().is(std::errc::operation_not_permitted));
    CHECK(marker.error().message().find("delete '" + place.directory + "/advisor-x.tracing-abcdef'") !=
          std::string::npos);
    CHECK(marker.error().message().find("rearm: true") != std::string::npos);
  }
}

TEST_CASE("an operator re-arms tracing by the setting, which removes the old marker") {
  Place place(kEarlierBoot);
  { REQUIRE(TracingMarker::set(place.options(true))); }
  CHECK(place.files().size() == 1);
  CHECK(TracingMarker::set(place.options()));
}

TEST_CASE("an operator re-arms tracing by deleting the file") {
  Place place(kEarlierBoot);
  REQUIRE_FALSE(TracingMarker::set(place.options()));
  place.node.remove("state/advisor-x.tracing-abcdef");
  CHECK(TracingMarker::set(place.options()));
}

TEST_CASE("a marker that a killed process left in this boot of the machine is ignored and removed") {
  Place place;
  const pid_t child = ::fork();
  if (child == 0) {
    auto marker = TracingMarker::set(place.options());
    ::_exit(marker ? 0 : 1);  // like a kill, because no destructor runs
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  REQUIRE(place.files().size() == 2);
  { REQUIRE(TracingMarker::set(place.options())); }
  CHECK(place.files().size() == 1);
}

TEST_CASE("an instance that is replaced does not remove the marker of its successor") {
  Place place;
  auto old_instance = TracingMarker::set(place.options());
  REQUIRE(old_instance);
  auto successor = TracingMarker::set(place.options());
  REQUIRE(successor);
  CHECK(place.files().size() == 3);
  { const TracingMarker ends = std::move(*old_instance); }
  CHECK(place.files().size() == 2);
}

TEST_CASE("a marker of another plugin has no effect") {
  Place place;
  place.node.write("state/advisor-y.tracing-abcdef", kEarlierBoot);
  CHECK(TracingMarker::set(place.options()));
}

TEST_CASE("an incomplete marker of a machine that went down is removed, because tracing had not begun") {
  Place place("2222");
  CHECK(TracingMarker::set(place.options()));
  CHECK(place.files().size() == 1);
}

TEST_CASE("a marker cannot be set if its directory cannot be created, and the error names the directory") {
  auto marker = TracingMarker::set({"/proc/nonexistent", "advisor-x", kThisBoot, false});
  REQUIRE_FALSE(marker);
  CHECK(marker.error().message().find("/proc/nonexistent") != std::string::npos);
}

TEST_CASE("an invalid boot id is refused") {
  Place place;
  auto marker = TracingMarker::set({place.directory, "advisor-x", "", false});
  REQUIRE_FALSE(marker);
  CHECK(marker.error().message().find("expected 36 characters") != std::string::npos);
}
