// SPDX-License-Identifier: Apache-2.0
// Tests a language binding between a probe in that language and the real services. Requests and results must arrive
// unchanged, and no panic may leave a call. KOORD_PROBE is the probe, KOORD_PROBE_SOURCE the name of its source.
#include <doctest/doctest.h>

#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "core/knob/knob_files.hpp"
#include "koordetector/plugin.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/made_intent.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

enum Class : std::uint32_t { advisor, external_advisor, strategy, hook };

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  REQUIRE_MESSAGE(value, name);
  return value;
}

std::string probe() { return from_environment("KOORD_PROBE"); }

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

struct OnNode {
  explicit OnNode(std::string config_json = "{}") : host(node, std::move(config_json)) {}

  FakeNode node{{{"cgroup/cgroup.controllers", "cpu cpuset\n"},
                 {"cgroup/pod1/c1/cpu.stat", "usage_usec 5\nnr_periods 7\n"},
                 {"cgroup/pod1/c1/cgroup.procs", "6\n"},
                 {"cgroup/pod1/c1/inner/cgroup.procs", "5\n"},
                 {"cgroup/be.slice/cpu.max", "20000 100000\n"},
                 {"cgroup/be.slice/cpuset.cpus", "0-3\n"},
                 {"proc/long", std::string(5000, 'x')}}};
  FakeHost host;
};

struct Panicking : OnNode {
  explicit Panicking(const std::string& call) : OnNode("{\"panic\": \"" + call + "\"}") {}
};

void publish_pod(FakeHost& host) {
  state::Pod pod;
  pod.uid = "u1";
  pod.labels = {{"app", "web"}};
  pod.containers.resize(2);
  pod.containers[0].name = "c0";
  pod.containers[1].name = "c1";
  pod.containers[1].cgroup_dir = "pod1/c1";
  state::Update update;
  update.pods = std::vector{pod};
  host.hub().publish(std::move(update));
}

// The table of one of the probe's classes, for functions that FakeInstance does not call.
template <class Table>
struct Calls : OnNode {
  explicit Calls(Class index, std::string config_json = "{}") : OnNode(std::move(config_json)) {
    void* library = ::dlopen(probe().c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    const auto entry = reinterpret_cast<decltype(&koord_entry_v1)>(::dlsym(library, "koord_entry_v1"));
    const koord_class& one = entry()->classes[index];
    table = reinterpret_cast<const Table*>(one.vtable);
    REQUIRE(table->life.struct_size == sizeof(Table));
    REQUIRE(table->life.create(host.abi(), &one, &self) == KOORD_OK);
    REQUIRE(table->life.init(self) == KOORD_OK);
  }
  ~Calls() { table->life.destroy(self); }

  const Table* table;
  void* self = nullptr;
};

// The response of a hook, stored as "field=value" or "reject: why".
struct Answer {
  koord_hook_response response = {sizeof response, 0, &text, set, reject};
  std::string text;

  static koord_status set(const koord_hook_response* response, koord_str field, koord_str value) {
    *static_cast<std::string*>(response->impl) =
        std::string(plugin::view(field)) + "=" + std::string(plugin::view(value));
    return KOORD_OK;
  }
  static koord_status reject(const koord_hook_response* response, koord_str why) {
    *static_cast<std::string*>(response->impl) = "reject: " + std::string(plugin::view(why));
    return KOORD_OK;
  }
};

// The host's stop signal, as a descriptor and a function.
struct StopSignal {
  StopSignal() {
    REQUIRE(::pipe(ends) == 0);
    stop.fd = ends[0];
  }
  ~StopSignal() { ::close(ends[0]); }
  void fire() { ::close(ends[1]); }

  static std::int32_t wait(const koord_stop* stop, std::uint64_t timeout_ns) {
    pollfd end{stop->fd, POLLIN, 0};
    return ::poll(&end, 1, static_cast<int>(timeout_ns / 1'000'000)) == 1;
  }

  int ends[2];
  koord_stop stop = {sizeof stop, -1, nullptr, wait};
};

// A panic's text ends with its source location. The path there depends on the compiler's arguments.
void check_panic(koord_status status, const std::string& why, const std::string& call) {
  CHECK(status == KOORD_E_PANIC);
  CHECK_MESSAGE(why.starts_with("thrown in " + call + " ("), why);
  CHECK_MESSAGE(contains(why, from_environment("KOORD_PROBE_SOURCE") + ":"), why);
}

}  // namespace

TEST_CASE_FIXTURE(OnNode, "every service gives an advisor the host's data") {
  FakeInstance instance(host, probe(), advisor);
  REQUIRE(instance.init() == KOORD_OK);
  publish_pod(host);
  REQUIRE_MESSAGE(instance.collect() == KOORD_OK, instance.why());
  const std::map<std::string, double> expected = {{"pods", 1},
                                                  {"pod is u1", 1},
                                                  {"pod has no start time", 1},
                                                  {"containers", 2},
                                                  {"label", 1},
                                                  {"processes", 11},
                                                  {"no node", 1},
                                                  {"nr_periods", 7},
                                                  {"nr_throttled is absent", 1},
                                                  {"read now", 1},
                                                  {"kv", 6},
                                                  {"kv misses", 1},
                                                  {"config misses", 1},
                                                  {"config of another type", 0},
                                                  {"config i64", 0},
                                                  {"long file", 5000},
                                                  {"broken", KOORD_CAPABILITY_BROKEN},
                                                  {"verdict", 4},
                                                  {"verdict is whole", 1},
                                                  {"verdicts after the end", 0},
                                                  {"ticks", 1}};
  for (const auto& fact : expected) {
    CAPTURE(fact.first);
    CHECK(host.value("test_fact", {{"fact", fact.first}}) == fact.second);
  }
}

TEST_CASE_FIXTURE(OnNode, "an advisor's samples are in the cache, and its histograms have separate counts") {
  FakeInstance instance(host, probe(), advisor);
  REQUIRE(instance.init() == KOORD_OK);
  publish_pod(host);
  REQUIRE_MESSAGE(instance.collect() == KOORD_OK, instance.why());
  std::string text;
  host.metrics().write_text(text, host.clock().now());
  for (const std::string of : {"of=\"rows\"", "of=\"samples\""})
    CHECK(find_metric(text, "koordetector_test_history_count", {of}) == 21);
  CHECK(find_metric(text, "koordetector_test_history_bucket", {"of=\"samples\"", "le=\"1\""}) == 1);
  CHECK(find_metric(text, "koordetector_test_history_sum", {"of=\"samples\""}) == 2.5);
}

TEST_CASE("an advisor reads its configuration by type") {
  OnNode on(R"({"limits": {"cpu": 4}, "panic": ""})");
  FakeInstance instance(on.host, probe(), advisor);
  REQUIRE(instance.init() == KOORD_OK);
  publish_pod(on.host);
  REQUIRE_MESSAGE(instance.collect() == KOORD_OK, instance.why());
  CHECK(on.host.value("test_fact", {{"fact", "config i64"}}) == 4);
  CHECK(on.host.value("test_fact", {{"fact", "config of another type"}}) == KOORD_E_INVALID);
}

TEST_CASE_FIXTURE(OnNode, "a failure of the host keeps the host's status and text") {
  FakeInstance instance(host, probe(), advisor);
  REQUIRE(instance.init() == KOORD_OK);
  CHECK(instance.collect() == KOORD_E_AGAIN);
  publish_pod(host);
  node.remove("proc/long");
  CHECK(instance.collect() != KOORD_OK);
  CHECK_MESSAGE(contains(instance.why(), "long': No such file or directory"), instance.why());
}

TEST_CASE_FIXTURE(OnNode, "a strategy's intents become the plan unchanged") {
  FakeInstance instance(host, probe(), strategy);
  REQUIRE(instance.init() == KOORD_OK);
  REQUIRE_MESSAGE(instance.evaluate() == KOORD_OK, instance.why());
  const auto intent = [](std::string_view knob, std::string value, decision::Role role, metric::Labels inputs) {
    knob::Intent made = made_intent(knob, std::move(value), role);
    made.level = decision::Level::pod;
    made.cgroup_dir = "be.slice";
    made.reason = "the node is busy";
    made.inputs = std::move(inputs);
    made.priority = 10;
    made.ttl = 60s;
    return made;
  };
  CHECK(host.context().take_plan() ==
        knob::Plan{intent("cpu.max", "20000 100000", decision::Role::set, {{"node_cpu_usage", "7.3"}}),
                   intent("cpuset.cpus", "0-3", decision::Role::cap, {})});
}

TEST_CASE("a strategy gets the results of its plan record by record, with any stride") {
  Calls<koord_qos_strategy> calls(strategy);
  struct Grown {
    koord_intent_result known;
    std::uint64_t of_a_later_minor;
  };
  Grown results[2] = {{{sizeof(Grown), KOORD_OK, {}, {}, {}, {}}, 1},
                      {{sizeof(Grown), KOORD_E_DENIED, {}, {}, {}, plugin::str("another")}, 2}};
  results[0].known.status = KOORD_E_AGAIN;
  CHECK(calls.table->on_applied(calls.self, &results[1].known, 1, sizeof(Grown)) == KOORD_E_DENIED);
  CHECK(calls.host.last_error() == "another");
  CHECK(calls.table->on_applied(calls.self, &results[0].known, 2, sizeof(Grown)) == KOORD_E_AGAIN);
  CHECK(calls.table->on_applied(calls.self, nullptr, 0, 0) == KOORD_OK);
}

TEST_CASE("an external advisor returns its address if the buffer is large enough") {
  Calls<koord_external_advisor> calls(external_advisor);
  char buf[64];
  std::uint64_t need = 0;
  CHECK(calls.table->url(calls.self, buf, 10, &need) == KOORD_E_TOO_SMALL);
  REQUIRE(calls.table->url(calls.self, buf, sizeof buf, &need) == KOORD_OK);
  CHECK(std::string(buf, need) == "http://127.0.0.1:9100/metrics");
}

TEST_CASE("an external advisor keeps, changes and drops samples") {
  Calls<koord_external_advisor> calls(external_advisor);
  const koord_label label = {plugin::str("a"), plugin::str("b")};
  double value = 4;
  CHECK(calls.table->map_sample(calls.self, plugin::str("kept"), &label, 1, sizeof label, &value) == KOORD_OK);
  CHECK(value == 40);
  CHECK(calls.table->map_sample(calls.self, plugin::str("other"), &label, 1, sizeof label, &value) != KOORD_OK);
}

TEST_CASE("an external advisor names metrics if the buffer is large enough, and leaves others out") {
  Calls<koord_external_advisor> calls(external_advisor);
  char buf[64];
  std::uint64_t need = 0;
  CHECK(calls.table->map_metric(calls.self, plugin::str("kept"), buf, 3, &need) == KOORD_E_TOO_SMALL);
  REQUIRE(calls.table->map_metric(calls.self, plugin::str("kept"), buf, sizeof buf, &need) == KOORD_OK);
  CHECK(std::string(buf, need) == "probe_kept");
  CHECK(calls.table->map_metric(calls.self, plugin::str("other"), buf, sizeof buf, &need) == KOORD_E_GONE);
}

TEST_CASE("only a plugin that declares a thread gets one, and it ends on request") {
  CHECK(!Calls<koord_advisor>(advisor).table->life.run);
  Calls<koord_external_advisor> calls(external_advisor);
  StopSignal signal;
  std::atomic<bool> returned = false;
  koord_status status = KOORD_E_AGAIN;
  std::thread runner([&] {
    status = calls.table->life.run(calls.self, &signal.stop);
    returned = true;
  });
  CHECK(eventually([&] { return returned || calls.host.value("test_fact", {{"fact", "rounds"}}) >= 2; }));
  CHECK_FALSE(returned);
  signal.fire();
  runner.join();
  CHECK(status == KOORD_OK);
}

TEST_CASE("a hook has its stages, reads the request and answers") {
  Calls<koord_runtime_hook> calls(hook);
  CHECK(calls.table->stages == (KOORD_STAGE_PRE_RUN_POD_SANDBOX | KOORD_STAGE_PRE_CREATE_CONTAINER));
  koord_pod pod = {};
  pod.uid = plugin::str("u1");
  const koord_container container = {};
  Answer answer;
  koord_hook_request request = {sizeof request, KOORD_STAGE_PRE_RUN_POD_SANDBOX, 0, &pod, nullptr, {}, {}};
  CHECK(calls.table->handle(calls.self, &request, &answer.response) == KOORD_OK);
  CHECK(answer.text == "env:POD=u1");
  request.container = &container;
  CHECK(calls.table->handle(calls.self, &request, &answer.response) == KOORD_OK);
  CHECK(answer.text == "reject: this hook is for pods");
}

TEST_CASE("a panic in the functions of the other kinds becomes their status and text") {
  Calls<koord_external_advisor> source(external_advisor, R"({"panic": "url"})");
  char buf[64];
  std::uint64_t need = 0;
  const koord_status asked = source.table->url(source.self, buf, sizeof buf, &need);
  check_panic(asked, source.host.last_error(), "url");
  Calls<koord_external_advisor> runner(external_advisor, R"({"panic": "run"})");
  StopSignal signal;
  const koord_status ran = runner.table->life.run(runner.self, &signal.stop);
  signal.fire();
  check_panic(ran, runner.host.last_error(), "run");
  Calls<koord_runtime_hook> handler(hook, R"({"panic": "handle"})");
  const koord_hook_request request = {};
  Answer answer;
  const koord_status handled = handler.table->handle(handler.self, &request, &answer.response);
  check_panic(handled, handler.host.last_error(), "handle");
}

TEST_CASE("a panic in any function of an advisor becomes its status and text, and destroy() still runs") {
  for (const std::string call : {"init", "on_event", "stop", "destroy"}) {
    CAPTURE(call);
    Panicking on(call);
    FakeInstance instance(on.host, probe(), advisor);
    const koord_status initialised = instance.init();
    if (call == "init") check_panic(initialised, instance.why(), call);
    if (const koord_status status = instance.on_event(KOORD_ON_PODS); call == "on_event")
      check_panic(status, instance.why(), call);
    if (const koord_status status = instance.stop(); call == "stop") check_panic(status, instance.why(), call);
  }
}

TEST_CASE("after a panic in collect() the next tick uses the same object") {
  Panicking on("collect");
  FakeInstance instance(on.host, probe(), advisor);
  REQUIRE(instance.init() == KOORD_OK);
  check_panic(instance.collect(), instance.why(), "collect");
  CHECK(instance.collect() == KOORD_OK);
  CHECK(on.host.value("test_fact", {{"fact", "ticks"}}) == 2);
}

TEST_CASE("a panic in evaluate() becomes its status and text") {
  Panicking on("evaluate");
  FakeInstance instance(on.host, probe(), strategy);
  REQUIRE(instance.init() == KOORD_OK);
  const koord_status status = instance.evaluate();
  check_panic(status, instance.why(), "evaluate");
}

TEST_CASE("in the real host koordctl plugins shows a panic, the ticks continue, and nothing is printed") {
  AgentProcess agent("  settings: {binding-probe: {config: {panic: collect}}}\nfeatureGates: {BindingProbe: true}");
  fs::copy_file(probe(), agent.plugin_folder() + "/binding-probe.so");
  REQUIRE(agent.start());
  CHECK(eventually(
      [&] { return find_metric(agent.metrics(), "koordetector_test_fact", {"fact=\"ticks\""}).value_or(0) >= 4; }));
  CHECK_MESSAGE(contains(agent.ctl({"plugins"}).output, "collect(): KOORD_E_PANIC: thrown in collect ("),
                agent.ctl({"plugins"}).output);
  CHECK(agent.stop() == 0);
  for (const std::string of_a_panic : {"panicked at", "goroutine"}) CHECK(!contains(agent.log(), of_a_panic));
}
