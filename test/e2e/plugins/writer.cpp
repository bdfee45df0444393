// SPDX-License-Identifier: Apache-2.0
// A strategy that proposes the CPU quota and shares of one cgroup: {"cgroup": "…", "quota": "20000 100000", "shares":
// "512"}.
#include <chrono>
#include <koordetector/plugin.hpp>
#include <string>

using namespace koord::plugin;

struct Writer : QosStrategy {
  void init() override { knobs_ = require<koord_svc_knobs>(host(), "koord.knobs/1"); }
  void evaluate(std::uint64_t, std::uint64_t) override {
    const std::string cgroup = text("/cgroup"), quota = text("/quota"), shares = text("/shares");
    const koord_intent intents[] = {propose(cgroup, "cpu.max", quota), propose(cgroup, "cpu.shares", shares)};
    check(knobs_->propose(host(), intents, 2, sizeof intents[0]), "proposing");
  }

 private:
  std::string text(std::string_view pointer) const {
    const auto* config = require<koord_svc_config>(host(), "koord.config/1");
    char buffer[256];
    std::uint64_t need = 0;
    check(config->string(host(), str(pointer), buffer, sizeof buffer, &need), "reading the configuration");
    return std::string(buffer, need);
  }
  static koord_intent propose(const std::string& cgroup, std::string_view knob, const std::string& value) {
    koord_intent intent{};
    intent.struct_size = sizeof intent;
    intent.level = KOORD_LEVEL_POD;
    intent.knob = str(knob);
    intent.cgroup_dir = str(cgroup);
    intent.value = str(value);
    intent.reason = str("the test wants it");
    intent.ttl_ns = 60'000'000'000;
    return intent;
  }
  const koord_svc_knobs* knobs_ = nullptr;
};

KOORD_PLUGIN(
    "id=writer\nversion=1.0.0\nkinds=koord.qos-strategy/1\ngate=Writer\nrequires=koord.config/1,koord.knobs/1\n",
    qos_strategy<Writer>("writer", std::chrono::milliseconds(200)))
