// SPDX-License-Identifier: Apache-2.0
#include "core/hook/creations.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "core/base/manual_clock.hpp"
#include "test/core/store/temporary_directory.hpp"

using namespace koord;
using namespace koord::hook;
using namespace std::chrono_literals;

namespace {

CreationRecord record(std::string id = "c1", std::string container = "main") {
  return {.pod_uid = "u1",
          .container = std::move(container),
          .id = std::move(id),
          .before_id = {},
          .cgroup_dir = "kubepods/podu1/c1",
          .unadjusted = {{"cpu.shares", "2", "hook-a"}, {"cpuset.cpus", "", "hook-b"}},
          .fields = {"env:A", "device:/dev/fuse"}};
}

// A journal that accepts the values of existing cgroups.
struct Node {
  test::TemporaryDirectory folder;
  ManualClock clock;
  bool has_cgroup = true;
  std::string missing;  // a cgroup that does not exist
  std::vector<knob::Adjusted> held;
  std::optional<Creations> creations;
  state::Snapshot state;

  Node() {
    state::Pod pod;
    pod.uid = "u1";
    pod.containers.emplace_back().name = "main";
    state.pods = {{pod}};
    start();
  }
  // Starts an agent. After a kill only the files remain.
  void start() {
    creations.emplace(path(), clock, [this](std::span<const knob::Adjusted> values) -> Result<void> {
      for (const knob::Adjusted& one : values)
        if (!has_cgroup || one.cgroup_dir == missing) return invalid("no such cgroup");
      held.assign(values.begin(), values.end());
      return {};
    });
  }
  std::string path() const { return folder.path().string() + "/creations"; }
  std::size_t files() const {
    std::error_code none;
    const auto entries = std::filesystem::directory_iterator(path(), none);
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  }
  void show(const std::string& id, const std::string& cgroup_dir = "kubepods/podu1/c1") {
    std::vector<state::Pod> pods(state.pods.begin(), state.pods.end());
    pods[0].containers[0].id = id;
    pods[0].containers[0].cgroup_dir = cgroup_dir;
    state.pods = std::move(pods);
    creations->update(state);
  }
  bool has(const std::string& field) const {
    return creations->has_field(state.pods[0], state.pods[0].containers[0], field);
  }
};

}  // namespace

TEST_CASE("values from before the hooks go to the journal when the runtime starts the container") {
  Node node;
  REQUIRE(node.creations->remember(record()));
  CHECK(node.held.empty());
  node.creations->begin("c2");
  node.creations->update({});
  CHECK(node.held.empty());
  node.creations->begin("c1");
  CHECK(node.held.empty());  // the runtime still waits
  node.creations->update({});
  REQUIRE(node.held.size() == 2);
  CHECK(node.held[0].cgroup_dir == "kubepods/podu1/c1");
  CHECK(node.held[0].knob == "cpu.shares");
  CHECK(node.held[0].before == "2");
  CHECK(node.held[0].plugin == "hook-a");
  CHECK_FALSE(node.creations->has_pending());
  node.held.clear();
  node.show("containerd://c1");
  CHECK(node.held.empty());
}

TEST_CASE("values of several containers are journaled at once, and a failing one does not prevent the others") {
  Node node;
  CreationRecord other = record("c2", "other");
  other.cgroup_dir = "kubepods/podu1/c2";
  REQUIRE(node.creations->remember(record()));
  REQUIRE(node.creations->remember(other));
  node.creations->begin("c1");
  node.creations->begin("c2");
  node.missing = "kubepods/podu1/c2";
  node.creations->update({});
  REQUIRE(node.held.size() == 2);
  CHECK(node.held[0].cgroup_dir == "kubepods/podu1/c1");
  CHECK(node.creations->has_pending());
  node.missing.clear();
  node.creations->update({});
  CHECK(node.held[0].cgroup_dir == "kubepods/podu1/c2");
  CHECK_FALSE(node.creations->has_pending());
  REQUIRE(node.creations->remember(record("c3")));
  other.id = "c4";
  REQUIRE(node.creations->remember(other));
  node.creations->begin("c3");
  node.creations->begin("c4");
  node.creations->update({});
  CHECK(node.held.size() == 4);
}

TEST_CASE("a runtime that reports no start: the values go to the journal when the state shows the container") {
  Node node;
  CreationRecord of_cri = record("");
  of_cri.cgroup_dir.clear();
  of_cri.before_id = "c0";
  REQUIRE(node.creations->remember(of_cri));
  node.show("");
  node.show("containerd://c0", "kubepods/podu1/c0");  // an ended container of this name
  CHECK(node.held.empty());
  CHECK_FALSE(node.has("env:A"));
  node.show("containerd://c1");
  REQUIRE(node.held.size() == 2);
  CHECK(node.held[0].cgroup_dir == "kubepods/podu1/c1");
  CHECK(node.has("env:A"));
}

TEST_CASE("a kill between the creation and the journal loses no value and no field") {
  Node node;
  REQUIRE(node.creations->remember(record()));
  node.start();
  CHECK(node.creations->has_pending());
  node.creations->update(node.state);
  CHECK(node.held.size() == 2);
  node.start();
  CHECK_FALSE(node.creations->has_pending());
  node.show("containerd://c1");
  CHECK(node.has("device:/dev/fuse"));
  CHECK_FALSE(node.has("env:B"));
}

TEST_CASE("values wait for their cgroup, for two minutes") {
  Node node;
  node.has_cgroup = false;
  REQUIRE(node.creations->remember(record()));
  node.show("containerd://c1");
  node.clock.advance(1min);
  node.creations->update(node.state);
  CHECK(node.creations->has_pending());
  node.has_cgroup = true;
  node.creations->update(node.state);
  CHECK(node.held.size() == 2);

  Node never;
  never.has_cgroup = false;
  REQUIRE(never.creations->remember(record()));
  never.show("containerd://c1");
  never.clock.advance(2min);
  never.creations->update(never.state);
  CHECK_FALSE(never.creations->has_pending());
  CHECK(never.has("env:A"));
}

TEST_CASE("another container of the name ends the record of the one before, also one that no hook changes") {
  Node node;
  REQUIRE(node.creations->remember(record("c1")));
  REQUIRE(node.creations->remember(record("c2")));
  CHECK(node.creations->size() == 1);
  node.show("containerd://c1");
  CHECK_FALSE(node.has("env:A"));
  REQUIRE(node.creations->remember({.pod_uid = "u1", .container = "main", .id = "c3"}));
  CHECK(node.creations->size() == 0);
  CHECK(node.files() == 0);
}

TEST_CASE("an answer that the runtime did not take is forgotten") {
  Node node;
  REQUIRE(node.creations->remember(record()));
  node.creations->forget("");
  CHECK(node.creations->size() == 1);
  node.creations->forget("c1");
  CHECK(node.creations->size() == 0);
  CHECK(node.files() == 0);
}

TEST_CASE("a record ends ten minutes after its container; a state without pods is unknown, and ends none") {
  Node node;
  REQUIRE(node.creations->remember(record()));
  node.show("containerd://c1");
  node.clock.advance(11min);
  node.creations->update({});
  CHECK(node.creations->size() == 1);
  node.show("containerd://c1");
  CHECK(node.creations->size() == 1);
  node.show("containerd://c2");
  node.clock.advance(11min);
  node.creations->update(node.state);
  CHECK(node.creations->size() == 0);
  CHECK(node.files() == 0);
}

TEST_CASE("records are bounded in number: the oldest ends") {
  Node node;
  for (std::size_t i = 0; i <= Creations::kMost; ++i) {
    node.clock.advance(1ms);
    REQUIRE(node.creations->remember(record("c" + std::to_string(i), "main" + std::to_string(i))));
  }
  CHECK(node.creations->size() == Creations::kMost);
  CHECK(node.files() == Creations::kMost);
}

TEST_CASE("external names cannot lead to other files, and a damaged file affects only its own record") {
  Node node;
  for (const char* hostile : {"../../etc/passwd", "a/b", "", ".", "a.b"}) {
    CAPTURE(hostile);
    CreationRecord hostile_record = record();
    hostile_record.pod_uid = hostile;
    CHECK(file_name_of(hostile_record) == "");
    CHECK(node.creations->remember(hostile_record));
  }
  CHECK(node.files() == 0);
  REQUIRE(node.creations->remember(record()));
  std::ofstream(node.path() + "/u2.main") << "{\"podUid\":";
  std::ofstream(node.path() + "/u3.main") << text_of(record());  // the record has a different name
  node.start();
  CHECK(node.creations->size() == 1);
  CHECK(node.files() == 1);
}

TEST_CASE("without a folder, or one that cannot be written, records are in memory") {
  ManualClock clock;
  Creations none("", clock, [](std::span<const knob::Adjusted>) { return Result<void>(); });
  CHECK(none.remember(record()));
  Creations bad("/proc/none", clock, [](std::span<const knob::Adjusted>) { return Result<void>(); });
  CHECK_FALSE(bad.remember(record()));
  CHECK(none.size() == 1);
  CHECK(bad.size() == 1);
}

TEST_CASE("the text of a record is read back; an invalid record has a reason") {
  CHECK(*read_creation_record(text_of(record())) == record());
  for (const char* text :
       {"", "[]", "{}", R"({"podUid":"u","container":1})", R"({"podUid":"u","container":"c","cgroup":"../x"})",
        R"({"podUid":"u","container":"c","unadjusted":[{"knob":"cpu.max"}]})"}) {
    CAPTURE(text);
    CHECK_FALSE(read_creation_record(text));
  }
}
