// SPDX-License-Identifier: Apache-2.0
#include "core/hook/missed_fields.hpp"

#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"

using namespace koord;
using namespace koord::hook;

namespace {

struct Node {
  ManualClock clock;
  Creations creations{"", clock, [](std::span<const knob::Adjusted>) { return Result<void>(); }};
  bool is_enforced = true;
  std::vector<std::string> reports;
  MissedFields missed{{.creations = creations,
                       .is_enforced = [this](const std::string&) { return is_enforced; },
                       .report =
                           [this](const MissedFields::Missed& one) {
                             std::string text = one.plugin + " " + one.pod.name + "/" + one.container.name;
                             for (const std::string& field : one.fields) text += " " + field;
                             reports.push_back(text);
                           },
                       .own_uid = "own"}};
  state::Pod pod;

  Node() {
    pod.uid = "u1";
    pod.name = "web";
    state::Container main;
    main.handle = 7;
    main.name = "main";
    main.id = "containerd://c1";
    pod.containers = {main};
  }
  // Makes one round with one answer. Returns the number of containers that miss fields.
  std::size_t round(const std::vector<std::string>& fields = {"env:A", "device:/dev/fuse"}) {
    missed.check("hook-a", pod, pod.containers[0], fields);
    const auto counts = missed.end();
    return counts.contains("hook-a") ? counts.at("hook-a") : 0;
  }
  void create(std::vector<std::string> fields) {
    REQUIRE(creations.remember({.pod_uid = "u1", .container = "main", .id = "c1", .fields = std::move(fields)}));
  }
};

}  // namespace

TEST_CASE("a container that was created without fields of a hook is reported once, with the missing ones") {
  Node node;
  node.create({"env:A"});
  CHECK(node.round() == 1);
  CHECK(node.round() == 1);
  CHECK(node.reports == std::vector<std::string>{"hook-a web/main device:/dev/fuse"});
}

TEST_CASE("a container with all fields since its creation misses none") {
  Node node;
  node.create({"env:A", "device:/dev/fuse"});
  CHECK(node.round() == 0);
  CHECK(node.reports.empty());
}

TEST_CASE("for a hook in shadow mode no field is missed; when it is enforced later, its fields are missed") {
  Node node;
  node.is_enforced = false;
  CHECK(node.round() == 0);
  node.is_enforced = true;
  CHECK(node.round() == 1);
  CHECK(node.reports.size() == 1);
}

TEST_CASE("another answer with other fields is reported, and the end of the container ends it") {
  Node node;
  CHECK(node.round({"env:A"}) == 1);
  CHECK(node.round({"env:B"}) == 1);
  CHECK(node.reports.size() == 2);
  const auto counts = node.missed.end();
  CHECK(counts.at("hook-a") == 0);
  CHECK(node.missed.end().empty());
}

TEST_CASE("pods that hooks are not asked about miss nothing, nor do containers that do not exist yet") {
  const auto misses = [](auto&& change) {
    Node node;
    change(node.pod);
    return node.round();
  };
  CHECK(misses([](state::Pod&) {}) == 1);
  CHECK(misses([](state::Pod& pod) { pod.uid = "own"; }) == 0);
  CHECK(misses([](state::Pod& pod) { pod.priority = 2000001000; }) == 0);
  CHECK(misses([](state::Pod& pod) { pod.annotations["koordetector.sh/hands-off"] = "true"; }) == 0);
  CHECK(misses([](state::Pod& pod) { pod.annotations["koordetector.sh/hands-off"] = "hook-a"; }) == 0);
  CHECK(misses([](state::Pod& pod) { pod.annotations["koordetector.sh/hands-off"] = "hook-b"; }) == 1);
  CHECK(misses([](state::Pod& pod) { pod.containers[0].id.clear(); }) == 0);
}
