// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/baseline_checkpoints.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <span>

#include "test/core/agentd/cluster_services.hpp"

using namespace koord;
using namespace koord::agentd;
using namespace koord::test;
using namespace std::chrono_literals;
using analysis::BaselineOf;
using analysis::SavedBaseline;

namespace {

constexpr const char* kKind = "InterferenceMetricCheckpoint";
constexpr const char* kOwnKey = "advisor-interference/baselines/cpu";

struct Checkpoints : ClusterServices {
  Checkpoints() {
    limits.poll = 20ms;
    run_pods({"cart"});
  }
  ~Checkpoints() {
    checkpoints.reset();
    cluster.clear_faults();
    for (const char* name : {"cart", "web", "job"})
      if (cluster.get(kKind, object_of(name))) cluster.remove(kKind, object_of(name));
  }

  // Publishes pods of Deployments in the namespace shop, each with one container, app.
  void run_pods(const std::vector<std::string>& names) {
    std::vector<state::Pod> pods;
    for (const std::string& name : names) {
      state::Pod pod;
      pod.uid = "uid-" + name;
      pod.namespace_ = "shop";
      pod.name = name + "-7d9f-x";
      pod.owner_kind = "ReplicaSet";
      pod.owner_name = name + "-7d9f";
      pod.labels["pod-template-hash"] = "7d9f";
      pod.containers.resize(1);
      pod.containers[0].id = "containerd://" + name;
      pod.containers[0].name = "app";
      pods.push_back(pod);
    }
    hub.publish({.pods = pods});
  }
  void start(CheckpointUse wanted) {
    use = wanted;
    checkpoints.emplace(
        services, "node-a", [this] { return use; }, limits);
    checkpoints->start();
  }
  static std::string object_of(const std::string& name) { return state::checkpoint_name("shop/" + name + "/app"); }
  // Stores baselines as the plugin does. Most windows are in this bucket.
  void learn(const std::vector<std::string>& names, std::size_t bucket, std::size_t windows = 7200) {
    std::vector<SavedBaseline> all;
    for (const std::string& name : names)
      all.push_back({"shop/" + name + "-7d9f/app", clock.now(), windows, {{bucket, 3000}}, {{":kernel", 0.25}}});
    const std::string text = analysis::write_baselines(all);
    REQUIRE(store->put(kOwnKey, std::as_bytes(std::span(text))));
  }
  void put(const std::string& name, const std::string& node, std::size_t bucket, std::int64_t age_seconds = 0) {
    state::BaselineCheckpoint checkpoint;
    checkpoint.workload = "shop/" + name + "/app";
    checkpoint.node = node;
    checkpoint.updated = clock.wall_ns() / 1'000'000'000 - age_seconds;
    checkpoint.cpu.windows = 7200;
    checkpoint.cpu.weights = {{bucket, 3000}};
    cluster.put(state::checkpoint_object(checkpoint));
  }
  // Returns the node that wrote the object and its bucket, "node-a 20"; empty if it does not exist.
  std::string object(const std::string& name) {
    const auto text = cluster.get(kKind, object_of(name));
    if (!text) return "";
    const auto checkpoint = state::parse_checkpoint(*text);
    return checkpoint ? checkpoint->node + " " + std::to_string(checkpoint->cpu.weights.at(0).first) : "unreadable";
  }
  std::vector<SavedBaseline> offered() const {
    const auto bytes = store->get(analysis::kOfferedBaselinesKey);
    if (!bytes) return {};
    return analysis::read_baselines({reinterpret_cast<const char*>(bytes->data()), bytes->size()}).baselines;
  }
  std::size_t asked(const std::string& verb) {
    return cluster.requests(R"({"answered": true, "kind": ")" + std::string(kKind) + R"(", "verb": ")" + verb + "\"}")
        .size();
  }
  void pass(Duration time) {
    bool is_over = false;
    const auto end = loop.after(time, [&] { is_over = true; });
    CHECK(until([&] { return is_over; }));
  }

  BaselineCheckpoints::Limits limits;
  CheckpointUse use = CheckpointUse::none;
  std::optional<BaselineCheckpoints> checkpoints;
};

}  // namespace

TEST_CASE("checkpoints are off unless the plugin's configuration asks for them") {
  CHECK(checkpoint_use("") == CheckpointUse::none);
  CHECK(checkpoint_use("{}") == CheckpointUse::none);
  CHECK(checkpoint_use(R"({"checkpoints": 5})") == CheckpointUse::none);
  CHECK(checkpoint_use(R"({"checkpoints": "read"})") == CheckpointUse::read);
  CHECK(checkpoint_use(R"({"checkpoints": "write"})") == CheckpointUse::write);
}

TEST_CASE_FIXTURE(Checkpoints,
                  "a workload that is new on the node gets the cluster's baseline, one that is known does not") {
  run_pods({"cart", "web", "job"});
  put("cart", "node-b", 20);
  put("web", "node-b", 20);
  learn({"web"}, 0);
  start(CheckpointUse::read);
  REQUIRE(until([&] { return offered().size() == 1; }));
  CHECK(offered()[0].workload == "shop/cart-7d9f/app");
  CHECK(offered()[0].weights.at(0).first == 20);
  CHECK(offered()[0].seen == clock.now());
  pass(200ms);
  CHECK(offered().size() == 1);
  CHECK(object("cart") == "node-b 20");
  CHECK(asked("update") == 0);
}

TEST_CASE_FIXTURE(Checkpoints,
                  "a memory baseline is written and offered with that of the CPU once it has an hour of windows") {
  const auto learn_memory = [&](std::size_t windows) {
    const std::string text = analysis::write_baselines({{"shop/cart-7d9f/app", clock.now(), windows, {{7, 3000}}, {}}},
                                                       analysis::kMaxSavedBytes, BaselineOf::memory);
    REQUIRE(store->put("advisor-interference/baselines/memory", std::as_bytes(std::span(text))));
  };
  const auto written = [&]() -> std::optional<SavedBaseline> {
    const auto text = cluster.get(kKind, object_of("cart"));
    if (!text) return std::nullopt;
    const auto checkpoint = state::parse_checkpoint(*text);
    return checkpoint ? checkpoint->memory : std::nullopt;
  };
  limits.repeat = 0s;
  learn({"cart"}, 20);
  learn_memory(3599);
  start(CheckpointUse::write);
  REQUIRE(until([&] { return object("cart") == "node-a 20"; }));
  CHECK_FALSE(written());
  learn_memory(7200);
  REQUIRE(until([&] { return written().has_value(); }));
  CHECK(written()->weights.at(0).first == 7);

  checkpoints.reset();
  store->erase(kOwnKey);
  store->erase("advisor-interference/baselines/memory");
  start(CheckpointUse::read);
  const auto offered_memory = [&] {
    const auto bytes = store->get(analysis::kOfferedMemoryBaselinesKey);
    const std::string_view text =
        bytes ? std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : std::string_view();
    return analysis::read_baselines(text, BaselineOf::memory).baselines;
  };
  REQUIRE(until([&] { return offered_memory().size() == 1; }));
  CHECK(offered_memory()[0].workload == "shop/cart-7d9f/app");
  CHECK(offered_memory()[0].weights.at(0).first == 7);
}

TEST_CASE_FIXTURE(Checkpoints, "an object that cannot be read, or is of another workload, offers nothing") {
  run_pods({"cart", "web"});
  cluster.put(R"({"apiVersion": "interference.koordinator.sh/v1alpha1", "kind": "InterferenceMetricCheckpoint", )"
              R"("metadata": {"name": ")" +
              object_of("cart") + R"("}, "spec": {"workload": "x", "cpu": 5}})");
  const auto before = asked("get");
  start(CheckpointUse::read);
  REQUIRE(until([&] { return asked("get") == before + 2; }));
  pass(200ms);
  CHECK(asked("get") == before + 2);
  CHECK(offered().empty());
}

TEST_CASE_FIXTURE(Checkpoints, "a baseline of an hour is written once, and again only when it has changed materially") {
  limits.repeat = 0s;
  learn({"cart"}, 20, 3599);
  start(CheckpointUse::write);
  pass(200ms);
  CHECK(object("cart").empty());
  learn({"cart"}, 20);
  REQUIRE(until([&] { return object("cart") == "node-a 20"; }));
  const auto updates = asked("update"), creates = asked("create");
  learn({"cart"}, 21);
  pass(300ms);
  CHECK(object("cart") == "node-a 20");
  CHECK(asked("update") == updates);
  CHECK(asked("create") == creates);
  learn({"cart"}, 30);
  CHECK(until([&] { return object("cart") == "node-a 30"; }));
}

TEST_CASE_FIXTURE(Checkpoints,
                  "an object that another node writes is not written, until that node has not written it for a day") {
  limits.repeat = 0s;
  put("cart", "node-b", 40, 3600);
  learn({"cart"}, 20);
  const auto gets = asked("get");
  start(CheckpointUse::write);
  REQUIRE(until([&] { return asked("get") > gets; }));
  pass(300ms);
  CHECK(object("cart") == "node-b 40");
  put("cart", "node-b", 40, 25 * 3600);
  learn({"cart"}, 26);
  CHECK(until([&] { return object("cart") == "node-a 26"; }));
}

TEST_CASE_FIXTURE(Checkpoints, "a conflict with another writer loses no change, and the object is written after it") {
  put("cart", "node-a", 40);
  cluster.fault("conflict", R"({"kind": "InterferenceMetricCheckpoint", "count": 1})");
  learn({"cart"}, 20);
  start(CheckpointUse::write);
  CHECK(until([&] { return object("cart") == "node-a 20"; }));
}

TEST_CASE_FIXTURE(Checkpoints, "a node writes a limited number of objects, each at most once in a while") {
  limits.objects = 2;
  run_pods({"cart", "web", "job"});
  learn({"cart", "web", "job"}, 20);
  start(CheckpointUse::write);
  REQUIRE(until([&] { return object("cart") == "node-a 20" && object("job") == "node-a 20"; }));
  learn({"cart", "web", "job"}, 40);
  pass(300ms);
  CHECK(object("web").empty());
  CHECK(object("cart") == "node-a 20");
  clock.advance(11min);
  CHECK(until([&] { return object("cart") == "node-a 40"; }));
}
