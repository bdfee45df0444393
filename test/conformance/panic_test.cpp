// SPDX-License-Identifier: Apache-2.0
// An exception or panic in a plugin, in any language and isolation mode, becomes a status and a text, and the plugin
// continues. KOORD_PROBE is a plugin with functions that throw if its configuration names them; KOORD_PROBE_HOMES is
// "both" or "process".
#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>

#include "core/base/manual_clock.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/host/hook_response.hpp"
#include "core/workshop/loading.hpp"
#include "core/workshop/node_tree.hpp"
#include "core/workshop/player.hpp"

using namespace koord;
using namespace koord::workshop;

namespace {

enum Class : std::size_t { advisor, external_advisor, strategy, hook };

struct PanicFixture {
  ManualClock clock;
  NodeTree node;
  MemoryHost memory_host{node.roots(), clock, "node"};
  child::SnapshotImages images;
  const OpenedPlugin piece = *open_plugin(std::getenv("KOORD_PROBE"));

  PanicFixture() {
    state::Pod pod;
    pod.uid = "u1";
    memory_host.hub().publish({.pods = std::vector{pod}});
  }
  std::unique_ptr<Player> cast(config::Isolation isolation, Class cls, const std::string& panic) {
    auto plugin = workshop::load(piece, {isolation, std::getenv("KOORD_PLUGIN_HOST"), images});
    REQUIRE_MESSAGE(plugin, plugin.error().message());
    return std::make_unique<Player>(memory_host,
                                    Player::Role{piece.manifest.id, *plugin, cls, R"({"panic": ")" + panic + "\"}"});
  }
};

std::vector<config::Isolation> isolations() {
  if (std::getenv("KOORD_PROBE_HOMES") == std::string("process")) return {config::Isolation::process};
  return {config::Isolation::in_process, config::Isolation::process};
}

service::CallResult handle(PanicFixture& fixture, Player& player) {
  const service::SnapshotViewPtr view = fixture.memory_host.services().views.of(fixture.memory_host.hub().current());
  const koord_hook_request request{
      sizeof request, KOORD_STAGE_PRE_RUN_POD_SANDBOX, 0, &view->pods()[0], nullptr, {}, {}};
  host::HookResponse response(player.context().host());
  return player.runner().handle(request, response.table());
}

void check_panic(const service::CallResult& result, const std::string& call) {
  CAPTURE(call);
  CHECK(result.status == KOORD_E_PANIC);
  CHECK_MESSAGE(result.text.find("thrown in " + call) != std::string::npos, result.text);
  CHECK(!result.lost);
}

// A function that is called while an instance runs, and how to call it.
struct Running {
  const char* name;
  Class cls;
  std::function<service::CallResult(PanicFixture&, Player&)> call;
};
const Running kRunning[] = {
    {"collect", advisor, [](PanicFixture& t, Player& p) { return p.tick(t.clock.now(), t.clock.now()); }},
    {"on_event", advisor, [](PanicFixture&, Player& p) { return p.runner().on_event(KOORD_ON_PODS, 1); }},
    {"url", external_advisor,
     [](PanicFixture&, Player& p) {
       std::string url;
       return p.runner().url(url);
     }},
    {"evaluate", strategy, [](PanicFixture& t, Player& p) { return p.tick(t.clock.now(), t.clock.now()); }},
    {"on_applied", strategy,
     [](PanicFixture&, Player& p) {
       const koord_intent_result applied{sizeof applied, KOORD_OK, {}, {}, {}, {}};
       return p.runner().on_applied({&applied, 1});
     }},
    {"handle", hook, handle},
};

}  // namespace

TEST_CASE_FIXTURE(PanicFixture, "acceptance 9: a panic in a call is -8 with its text, and the plugin goes on") {
  for (config::Isolation isolation : isolations()) {
    for (const Running& running : kRunning) {
      CAPTURE(isolation);
      auto player = cast(isolation, running.cls, running.name);
      REQUIRE(player->start().ok());
      const int process = player->runner().process();
      check_panic(running.call(*this, *player), running.name);
      service::CallResult next = running.call(*this, *player);
      // collect throws at every second tick, the others always.
      if (running.name == std::string("collect"))
        CHECK_MESSAGE(next.ok(), describe(next));
      else
        check_panic(next, running.name);
      CHECK(player->runner().process() == process);
      CHECK(player->end().ok());
    }
  }
}

TEST_CASE_FIXTURE(PanicFixture, "acceptance 9: a panic at the beginning or the end is -8 with its text") {
  for (config::Isolation isolation : isolations()) {
    CAPTURE(isolation);
    auto beginner = cast(isolation, advisor, "init");
    check_panic(beginner->start(), "init");
    for (const char* call : {"stop", "run"}) {
      auto player = cast(isolation, call == std::string("run") ? external_advisor : advisor, call);
      REQUIRE(player->start().ok());
      check_panic(player->end(), call);
    }
    // destroy() has no status, so the exception must only be caught.
    auto last = cast(isolation, advisor, "destroy");
    REQUIRE(last->start().ok());
    CHECK(last->end().ok());
  }
}
