// SPDX-License-Identifier: Apache-2.0
// A plugin that proposes a knob and answers for containers as its configuration says:
//   {"value": "20000 100000", "priority": 1, "silent": true, "evict": 7, "hook": "set"}
// DEPUTY is the last letter of its id, gate and metrics.
#include <chrono>
#include <csignal>
#include <koordetector/plugin.hpp>
#include <stdexcept>
#include <string>
#include <thread>

using namespace koord::plugin;

namespace {

std::string text_of(const koord_host* host, std::string_view pointer) {
  const auto* config = require<koord_svc_config>(host, "koord.config/1");
  char buffer[64];
  std::uint64_t need = 0;
  return config->string(host, str(pointer), buffer, sizeof buffer, &need) == KOORD_OK ? std::string(buffer, need) : "";
}

std::int64_t number_of(const koord_host* host, std::string_view pointer) {
  std::int64_t number = 0;
  require<koord_svc_config>(host, "koord.config/1")->i64(host, str(pointer), &number);
  return number;
}

bool is_set(const koord_host* host, std::string_view pointer) {
  std::int32_t flag = 0;
  return require<koord_svc_config>(host, "koord.config/1")->boolean(host, str(pointer), &flag) == KOORD_OK && flag != 0;
}

}  // namespace

struct Strategist : QosStrategy {
  // Each tick reads the configuration, so a change needs no restart. A restart would end the proposals.
  void on_event(std::uint32_t /*changed*/, std::uint64_t /*version*/) override {}
  void init() override {
    knobs_ = require<koord_svc_knobs>(host(), "koord.knobs/1");
    reported_ = define({"deputy_" DEPUTY "_result", "", "the last status from on_applied(), by winner", 1});
    now_ns_ = require<koord_svc_clock>(host(), "koord.clock/1");
  }
  void evaluate(std::uint64_t, std::uint64_t) override {
    if (is_set(host(), "/silent")) throw std::runtime_error("says nothing");
    std::string value = text_of(host(), "/value");
    if (value == "base") value = base();
    const koord_label input = {str("busy"), str("7.3")};
    koord_intent intent{};
    intent.struct_size = sizeof intent;
    intent.level = KOORD_LEVEL_POD;
    intent.knob = str("cpu.max");
    intent.cgroup_dir = str("be/pod");
    intent.value = str(value);
    intent.reason = str("because of " DEPUTY);
    intent.inputs = &input;
    intent.n_inputs = 1;
    intent.input_stride = sizeof input;
    intent.priority = static_cast<std::int32_t>(number_of(host(), "/priority"));
    intent.ttl_ns = 60'000'000'000;
    intent.role = static_cast<std::uint32_t>(number_of(host(), "/role"));
    check(knobs_->propose(host(), &intent, 1, sizeof intent), "proposing");
    if (const std::int64_t pod = number_of(host(), "/evict"); pod != 0) evict(static_cast<std::uint64_t>(pod));
  }
  std::string base() const {
    char buffer[64];
    std::uint64_t need = 0;
    check(knobs_->base(host(), str("cpu.max"), str("be/pod"), buffer, sizeof buffer, &need), "asking for the base");
    return {buffer, need};
  }
  void on_applied(Strided<koord_intent_result> results) override {
    for (const koord_intent_result& result : results) {
      const std::string winner(result.winner.p, result.winner.n);
      const std::uint64_t series = reported_.series(KOORD_NO_SUBJECT, {{"winner", winner}});
      Batch batch(host());
      batch.add(series, result.status);
      batch.send(now_ns_->now_ns(host()));
    }
  }
  void evict(std::uint64_t pod) {
    const std::uint64_t pods[] = {pod, pod + 1};
    const koord_label input = {str("feature"), str("CPUEvict")};
    koord_eviction wanted{};
    wanted.struct_size = sizeof wanted;
    wanted.pods = pods;
    wanted.n_pods = 2;
    wanted.resource = str("cpu");
    wanted.reason = str("because of " DEPUTY);
    wanted.amount = 1500;
    wanted.inputs = &input;
    wanted.n_inputs = 1;
    wanted.input_stride = sizeof input;
    check(require<koord_svc_evict>(host(), "koord.evict/1")->request(host(), &wanted), "requesting");
  }
  const koord_svc_knobs* knobs_ = nullptr;
  const koord_svc_clock* now_ns_ = nullptr;
  Metric reported_;
};

struct Hook : RuntimeHook {
  void handle(const koord_hook_request& request, const koord_hook_response& response) override {
    const std::string part = text_of(host(), "/hook");
    if (part == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
    if (part == "segv") {
      ::signal(SIGSEGV, SIG_DFL);
      ::raise(SIGSEGV);
    }
    if (part == "throw") throw std::runtime_error("the hook's text");
    if (part == "reject") return check(response.reject(&response, str("no room for it")), "rejecting");
    if (part == "wrong") return check(response.set(&response, str("linux.cpu.sharez"), str("2")), "setting");
    if (part == "device") return check(response.set(&response, str("device:/dev/sda"), str("b 8:0")), "setting");
    if (part == "mount") return check(response.set(&response, str("mount:/host"), str("/")), "setting");
    const std::string uid(request.pod->uid.p, request.pod->uid.n);
    check(response.set(&response, str("linux.cpu.shares"), str(DEPUTY[0] == 'a' ? "2" : "1024")), "setting");
    check(response.set(&response, str("env:POD_UID_" DEPUTY), str(uid)), "setting");
    if (request.container)
      check(response.set(&response, str("annotation:container"), request.container->name), "setting");
  }
};

KOORD_PLUGIN("id=com.example.deputy-" DEPUTY "\nversion=1.0.0\nkinds=koord.qos-strategy/1,koord.runtime-hook/1\n"
             "gate=Deputy" DEPUTY
             "\nrequires=koord.metrics/1,koord.config/1,koord.knobs/1,koord.evict/1,koord.clock/1\n",
             qos_strategy<Strategist>("strategist", std::chrono::milliseconds(20)),
             runtime_hook<Hook, KOORD_STAGE_PRE_CREATE_CONTAINER>("hook"))
