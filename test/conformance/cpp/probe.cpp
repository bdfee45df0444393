// SPDX-License-Identifier: Apache-2.0
// A plugin of all four kinds. Its functions throw if the configuration's "panic" names them; a destructor may not
// throw.
#include <chrono>
#include <koordetector/plugin.hpp>
#include <stdexcept>
#include <string>

using namespace koord::plugin;

namespace {

class Fuse {
 public:
  void read(const koord_host* host) {
    const auto* config = require<koord_svc_config>(host, "koord.config/1");
    char buf[64];
    std::uint64_t need = 0;
    if (config->string(host, str("/panic"), buf, sizeof buf, &need) == KOORD_OK) call_.assign(buf, need);
  }
  void burn(const std::string& call) const {
    if (call_ == call) throw std::runtime_error("thrown in " + call);
  }

 private:
  std::string call_;
};

template <class Kind>
struct Fused : Kind {
  void init() override {
    fuse.read(this->host());
    fuse.burn("init");
  }
  Fuse fuse;
};

struct Probe : Fused<Advisor> {
  void init() override {
    Fused::init();
    ticks_ = define({"test_ticks", "", "Ticks so far."}).series();
  }
  void collect(std::uint64_t now_ns, std::uint64_t /*deadline_ns*/) override {
    if (++count_ % 2 == 1) fuse.burn("collect");
    Batch batch(host());
    batch.add(ticks_, count_);
    batch.send(now_ns);
  }
  void on_event(std::uint32_t /*changed*/, std::uint64_t /*version*/) override { fuse.burn("on_event"); }
  void stop() override { fuse.burn("stop"); }

  std::uint64_t ticks_ = 0;
  int count_ = 0;
};

struct Source : Fused<ExternalAdvisor> {
  std::string url() override {
    fuse.burn("url");
    return "http://127.0.0.1:9100/metrics";
  }
  void run(const Stop& stop) override {
    fuse.burn("run");
    while (!stop.wait(std::chrono::seconds(1))) {
    }
  }
};

struct Strategy : Fused<QosStrategy> {
  void evaluate(std::uint64_t /*now_ns*/, std::uint64_t /*deadline_ns*/) override { fuse.burn("evaluate"); }
  void on_applied(Strided<koord_intent_result> /*results*/) override { fuse.burn("on_applied"); }
};

struct Hook : Fused<RuntimeHook> {
  void handle(const koord_hook_request&, const koord_hook_response&) override { fuse.burn("handle"); }
};

}  // namespace

KOORD_PLUGIN("id=com.example.thrower\nversion=1.0.0\n"
             "kinds=koord.advisor/1,koord.external-advisor/1,koord.qos-strategy/1,koord.runtime-hook/1\n"
             "gate=Thrower\nrequires=koord.metrics/1,koord.config/1\n",
             advisor<Probe>("probe", std::chrono::milliseconds(100)),
             external_advisor<Source>("source", std::chrono::seconds(1)),
             qos_strategy<Strategy>("strategy", std::chrono::seconds(1)),
             runtime_hook<Hook, KOORD_STAGE_PRE_RUN_POD_SANDBOX>("hook"))
