// SPDX-License-Identifier: Apache-2.0
#include "core/hook/nri/wire.hpp"

#include <doctest/doctest.h>

#include <string>

#include "runtime_messages.hpp"

using namespace koord;
using namespace koord::nri;
using namespace koord::test;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

void full_resources(Writer& resources) {
  resources.message(1, [](Writer& memory) {
    memory.wrapped(1, std::optional<std::int64_t>(64 << 20));
    memory.wrapped(3, std::optional<std::int64_t>(-1));
  });
  resources.message(2, [](Writer& cpu) {
    cpu.wrapped(1, std::optional<std::uint64_t>(512));
    cpu.wrapped(2, std::optional<std::int64_t>(20000));
    cpu.wrapped(3, std::optional<std::uint64_t>(100000));
    cpu.text(6, "0-1");
    cpu.text(7, "0");
  });
  resources.wrapped(5, std::optional<std::string>("gold"));
  resources.map(6, {{"cpu.weight", "50"}});
}

void check_full(const Resources& resources) {
  CHECK(resources.memory_limit_bytes == 64 << 20);
  CHECK(resources.memory_swap_bytes == -1);
  CHECK(resources.cpu_shares == 512);
  CHECK(resources.cpu_quota_us == 20000);
  CHECK(resources.cpu_period_us == 100000);
  CHECK(resources.cpus == "0-1");
  CHECK(resources.mems == "0");
  CHECK(resources.rdt_class == "gold");
  CHECK(resources.unified == TextMap{{"cpu.weight", "50"}});
}

void full_pod(Writer& pod) {
  pod.text(1, "p1");
  pod.text(2, "web-0");
  pod.text(3, "uid-1");
  pod.text(4, "shop");
  pod.map(5, {{"app", "web"}});
  pod.map(6, {{"koordinator.sh/a", "1"}, {"other", "large"}});
  pod.text(7, "runc");
  pod.message(8, [](Writer& linux_part) {
    linux_part.message(2, full_resources);
    linux_part.text(3, "/kubepods/pod1");
    linux_part.text(4, "/kubepods/pod1/sandbox");
    linux_part.message(6, [](Writer& resources) {
      resources.message(2, [](Writer& cpu) { cpu.wrapped(1, std::optional<std::uint64_t>(2)); });
    });
  });
  pod.number(9, 77);
  pod.texts(10, {"10.0.0.1", "fd00::1"});
}

void full_container(Writer& container) {
  container.text(1, "c1");
  container.text(2, "p1");
  container.text(3, "main");
  container.number(4, 3);
  container.map(5, {{"io.kubernetes.container.name", "main"}});
  container.map(6, {{"koordinator.sh/b", "2"}, {"other", "large"}});
  container.texts(7, {"sleep", "1"});
  container.texts(8, {"A=1", "B="});
  container.message(9, [](Writer& mount) {
    mount.text(1, "/data");
    mount.text(2, "bind");
    mount.text(3, "/srv");
    mount.texts(4, {"ro", "rbind"});
  });
  container.message(11, [](Writer& linux_part) {
    linux_part.message(2, [](Writer& device) {
      device.text(1, "/dev/null");
      device.text(2, "c");
      device.number(3, 1);
      device.number(4, 3);
      device.wrapped(5, std::optional<std::uint32_t>(0666));
      device.wrapped(6, std::optional<std::uint32_t>(0));
    });
    linux_part.message(3, full_resources);
    linux_part.wrapped(4, std::optional<std::int64_t>(-997));
    linux_part.text(5, "/kubepods/pod1/c1");
  });
  container.number(12, 78);
}

bool is_ours(std::string_view key) { return key.starts_with("koordinator.sh/"); }

}  // namespace

TEST_CASE("a pod is read with all that hooks use") {
  const auto request = read_event(Stage::run_pod_sandbox, event_request(full_pod), is_ours);
  REQUIRE(request);
  const Pod& pod = request->pod;
  CHECK(pod.id == "p1");
  CHECK(pod.name == "web-0");
  CHECK(pod.uid == "uid-1");
  CHECK(pod.namespace_name == "shop");
  CHECK(pod.labels == TextMap{{"app", "web"}});
  CHECK(pod.runtime_handler == "runc");
  CHECK(pod.pid == 77);
  CHECK(pod.ips == std::vector<std::string>{"10.0.0.1", "fd00::1"});
  CHECK(pod.cgroup_parent == "/kubepods/pod1");
  CHECK(pod.cgroups_path == "/kubepods/pod1/sandbox");
  check_full(pod.pod_resources);
  CHECK(pod.resources.cpu_shares == 2);
  CHECK(pod.overhead == Resources{});
}

TEST_CASE("a container is read with all that hooks use") {
  const auto request = read_event(Stage::create_container, event_request(full_pod, full_container), is_ours);
  REQUIRE(request);
  const Container& container = request->container;
  CHECK(container.id == "c1");
  CHECK(container.pod_id == "p1");
  CHECK(container.name == "main");
  CHECK(container.state == ContainerState::running);
  CHECK(container.args == std::vector<std::string>{"sleep", "1"});
  CHECK(container.env == std::vector<std::string>{"A=1", "B="});
  CHECK(container.mounts == std::vector<Mount>{{"/data", "bind", "/srv", {"ro", "rbind"}}});
  CHECK(container.devices == std::vector<Device>{{"/dev/null", "c", 1, 3, 0666, 0, std::nullopt}});
  check_full(container.resources);
  CHECK(container.oom_score_adj == -997);
  CHECK(container.cgroups_path == "/kubepods/pod1/c1");
  CHECK(container.pid == 78);
}

TEST_CASE("unused annotations are dropped; without a choice all are kept") {
  const std::string bytes = event_request(full_pod, full_container);
  const auto ours = read_event(Stage::create_container, bytes, is_ours);
  CHECK(ours->pod.annotations == TextMap{{"koordinator.sh/a", "1"}});
  CHECK(ours->container.annotations == TextMap{{"koordinator.sh/b", "2"}});
  CHECK(read_event(Stage::create_container, bytes, nullptr)->pod.annotations.size() == 2);
}

TEST_CASE("zero in the resources of a request is unset") {
  const auto zeros = [](Writer& resources) {
    resources.message(1, [](Writer& memory) { memory.wrapped(1, std::optional<std::int64_t>(0)); });
    resources.message(2, [](Writer& cpu) {
      cpu.wrapped(1, std::optional<std::uint64_t>(0));
      cpu.wrapped(2, std::optional<std::int64_t>(-1));
    });
  };
  const auto request = read_event(Stage::update_container, event_request(full_pod, full_container, zeros), nullptr);
  REQUIRE(request);
  CHECK_FALSE(request->resources.memory_limit_bytes);
  CHECK_FALSE(request->resources.cpu_shares);
  CHECK(request->resources.cpu_quota_us == -1);
}

TEST_CASE("in UpdatePodSandbox the second field is no container") {
  const auto request =
      read_event(Stage::update_pod_sandbox, event_request(full_pod, full_resources, full_resources), nullptr);
  REQUIRE(request);
  CHECK(request->container.id.empty());
  check_full(request->resources);
}

TEST_CASE("a state change has its event, its pod and its container") {
  const auto request = read_state_change(state_change(7, full_pod, full_container), nullptr);
  REQUIRE(request);
  CHECK(request->stage == Stage::post_start_container);
  CHECK(request->pod.id == "p1");
  CHECK(request->container.id == "c1");
}

TEST_CASE("a state change with an unknown event is an error") {
  CHECK(read_state_change(state_change(14, full_pod), nullptr).error().message() ==
        "StateChangeEvent: event 14 is unknown");
  CHECK_FALSE(read_state_change("", nullptr));
}

TEST_CASE("a state of a container that is unknown reads as unknown") {
  const auto with_state = [](std::uint64_t state) {
    return event_request(full_pod, [state](Writer& container) { container.number(4, state); });
  };
  CHECK(read_event(Stage::start_container, with_state(4), nullptr)->container.state == ContainerState::stopped);
  CHECK(read_event(Stage::start_container, with_state(5), nullptr)->container.state == ContainerState::unknown);
  CHECK(read_event(Stage::start_container, with_state(~0ull), nullptr)->container.state == ContainerState::unknown);
}

TEST_CASE("Configure names the runtime; its timeouts are in milliseconds, and missing before NRI 0.7") {
  const auto newer = read_configure(configure_request("containerd", "v2.3.0", "0.12.0"));
  REQUIRE(newer);
  CHECK(newer->runtime.name == "containerd");
  CHECK(newer->runtime.version == "v2.3.0");
  CHECK(newer->runtime.nri_version == "0.12.0");
  CHECK(newer->registration_timeout == 5s);
  CHECK(newer->request_timeout == 2s);
  CHECK(read_configure("\x12\1x")->request_timeout == 0s);
}

TEST_CASE("Synchronize has pods, containers, and whether more follow") {
  const auto request = read_synchronize(synchronize_request({full_pod, full_pod}, {full_container}, true), is_ours);
  REQUIRE(request);
  CHECK(request->pods.size() == 2);
  CHECK(request->containers.size() == 1);
  CHECK(request->pods[1].annotations.size() == 1);
  CHECK(request->more);
  CHECK_FALSE(read_synchronize("", nullptr)->more);
}

TEST_CASE("the damaged part of a message is named") {
  CHECK(read_event(Stage::create_container, "\x0A\2\x0A\5", nullptr).error().message() ==
        "CreateContainerRequest, field 1: a value is cut off");
}

TEST_CASE("an adjustment is written with the numbers of the protocol") {
  Adjustment adjustment;
  adjustment.env = {{"A", "1"}};
  adjustment.resources.cpu_shares = 2;
  adjustment.resources.cpus = "0";
  CHECK(*encode_adjustment(adjustment, {}) == "\x0A\x15"  // 1: adjust
                                              "\x22\6\x0A\1"
                                              "A"
                                              "\x12\1"
                                              "1"                 // 4: env
                                              "\x32\x0B\x12\x09"  // 6: linux, 2: resources
                                              "\x12\x07\x0A\2\x08\2"
                                              "\x32\1"
                                              "0"s);  // 2: cpu, 1: shares, 6: cpus
}

TEST_CASE("an adjustment that changes nothing is an empty answer") {
  CHECK(encode_adjustment({}, {})->empty());
  CHECK(encode_updates({})->empty());
}

TEST_CASE("all that an adjustment changes is in the message, zeros too") {
  Adjustment adjustment;
  adjustment.annotations = {{"-old", ""}};
  adjustment.mounts = {{"/data", "bind", "/srv", {"ro"}}};
  adjustment.devices = {{"/dev/rdma", "c", 231, 192, 0600, std::nullopt, 5}};
  adjustment.resources = {.cpu_shares = 0,
                          .cpu_quota_us = -1,
                          .cpu_period_us = 100000,
                          .cpus = "1",
                          .mems = "0",
                          .memory_limit_bytes = 0,
                          .memory_swap_bytes = 1,
                          .rdt_class = "",
                          .unified = {{"cpu.idle", "1"}}};
  adjustment.oom_score_adj = 0;
  const std::string bytes = *encode_adjustment(adjustment, {{.container_id = "c2", .resources = {.cpu_shares = 7}}});

  // A container has the same parts with other field numbers. Here the test reads each part from the adjustment's
  // message.
  Budget budget;
  Reader answer(bytes, budget);
  std::vector<std::uint32_t> answer_fields, adjust_fields, linux_fields, resource_fields;
  const auto list_fields = [](Reader& in, std::vector<std::uint32_t>& fields, const auto& inside) {
    while (in.next()) {
      fields.push_back(in.field());
      inside(in);
    }
  };
  list_fields(answer, answer_fields, [&](Reader& in) {
    if (in.field() != 1) return;
    in.message([&](Reader& adjust) {
      list_fields(adjust, adjust_fields, [&](Reader& part) {
        if (part.field() != 6) return;
        part.message([&](Reader& linux_part) {
          list_fields(linux_part, linux_fields, [&](Reader& inner) {
            if (inner.field() == 2)
              inner.message([&](Reader& each) { list_fields(each, resource_fields, [](Reader&) {}); });
          });
        });
      });
    });
  });
  CHECK(answer.finish("answer"));
  CHECK(answer_fields == std::vector<std::uint32_t>{1, 2});
  CHECK(adjust_fields == std::vector<std::uint32_t>{2, 3, 6});
  CHECK(linux_fields == std::vector<std::uint32_t>{1, 2, 4});
  CHECK(resource_fields == std::vector<std::uint32_t>{1, 2, 5, 6});
}

TEST_CASE("an update names its container; without one it is left out") {
  const Update update{.container_id = "c1", .resources = {.cpu_shares = 2}, .ignore_failure = true};
  const std::string bytes = *encode_updates({update, {.resources = {.cpu_shares = 3}}});
  CHECK(bytes == "\x0A\x10\x0A\2c1\x12\x08\x0A\6\x12\4\x0A\2\x08\2\x18\1"s);
}

TEST_CASE("a text that is not UTF-8 cannot be sent") {
  CHECK(encode_adjustment({.env = {{"A", "\xFF"}}}, {}).error().message() == "a text is not UTF-8");
  CHECK_FALSE(encode_updates({{.container_id = "\xFF"}}));
}

TEST_CASE("the runtime names the containers with a failed update") {
  const std::string bytes = message_of([](Writer& out) {
    for (const char* id : {"c1", "c2"}) out.message(1, [id](Writer& update) { update.text(1, id); });
  });
  CHECK(*read_failed_updates(bytes) == std::vector<std::string>{"c1", "c2"});
  CHECK(read_failed_updates("")->empty());
}

TEST_CASE("the answers of the plugin are written") {
  CHECK(encode_register_plugin("koordetector", "50") == "\x0A\x0Ckoordetector\x12\2"
                                                        "50");
  CHECK(encode_configure_answer(0x7FF) == "\x10\xFF\x0F");
  CHECK(encode_more() == "\x10\1");
}

// Each has two bytes, and would take up to a kilobyte of memory.
TEST_CASE("empty pods and containers beyond their limits are refused while they are read") {
  const auto of = [](char tag, std::size_t count) {
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i) bytes += {tag, 0};
    return bytes;
  };
  constexpr char kPods = 1 << 3 | 2, kContainers = 2 << 3 | 2;
  CHECK(read_synchronize(of(kPods, kMostPods), nullptr)->pods.size() == kMostPods);
  CHECK(read_synchronize(of(kPods, kMostPods + 1), nullptr).error().message() == "Synchronize has more than 4096 pods");
  CHECK(read_synchronize(of(kContainers, kMostContainers + 1), nullptr).error().message() ==
        "Synchronize has more than 16384 containers");
}
