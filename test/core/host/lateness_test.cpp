// SPDX-License-Identifier: Apache-2.0
// Plugins in the agent's process that exceed their time: the results for them, for waiting callers, and for other
// plugins.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "core/host/hook_dispatcher.hpp"
#include "stage.hpp"

using namespace koord;
using namespace koord::host;
using koord::test::Door;
using koord::test::HostStage;
using koord::test::Puppet;
using koord::test::PuppetCall;

namespace {

// Measures the lateness of a plugin's ticks, which should come 1 ms apart. Used by collect(), and later by the test.
class Punctuality {
 public:
  void ticked() {
    const auto now = std::chrono::steady_clock::now();
    if (ticks_++ > 0) latest_ = std::max(latest_, now - last_ - std::chrono::milliseconds(1));
    last_ = now;
  }
  int ticks() const { return ticks_; }
  double latest_ms() const { return std::chrono::duration<double, std::milli>(latest_).count(); }

 private:
  std::chrono::steady_clock::time_point last_;
  std::chrono::steady_clock::duration latest_{};
  int ticks_ = 0;
};

// Lets the plugin tick as often as possible.
void tick_often(HostStage& stage, const std::string& id) {
  config::PluginSettings often = stage.settings().defaults;
  often.period = std::chrono::milliseconds(1);
  often.deadline = std::chrono::hours(1);
  stage.settings().settings[id] = often;
}

}  // namespace

TEST_CASE("a plugin that is stuck in a tick does not keep another from ticking") {
  HostStage stage{"puppet", "second"};
  Door door;
  Puppet stuck(stage.shelf().file("puppet"));
  Puppet other(stage.shelf().file("second"));
  stuck.on("collect", [door](const PuppetCall&) { return door.pass(), KOORD_OK; });
  tick_often(stage, "puppet");
  tick_often(stage, "second");
  stage.apply("Puppet=true,Second=true");
  REQUIRE(stuck.await("collect"));
  std::size_t before = other.count("collect");
  CHECK(other.await("collect", before + 20));
  CHECK(stuck.count("collect") == 1);
  CHECK(stage.status("puppet").counts.skipped_ticks > 0);
  door.open();
}

TEST_CASE(
    "acceptance 10: a tick that sleeps past its deadline is alone in it, and the third of them restarts the plugin") {
  Punctuality punctuality;  // outlives the plugin
  HostStage stage{"puppet", "second"};
  Puppet sleeper(stage.shelf().file("puppet"));
  Puppet other(stage.shelf().file("second"));
  std::array<Door, 3> doors;
  sleeper.on("collect", [doors, &sleeper](const PuppetCall&) {
    const std::size_t nth = sleeper.count("collect");
    if (nth <= doors.size()) doors[nth - 1].pass();
    return KOORD_OK;
  });
  other.on("collect", [&](const PuppetCall&) { return punctuality.ticked(), KOORD_OK; });
  tick_often(stage, "puppet");
  tick_often(stage, "second");
  stage.settings().settings["puppet"].deadline = Duration(1);
  stage.apply("Puppet=true,Second=true");

  for (std::size_t strike = 1; strike <= doors.size(); ++strike) {
    REQUIRE(sleeper.await("collect", strike));
    const std::size_t ticks = other.count("collect");
    const std::uint64_t skipped = stage.status("puppet").counts.skipped_ticks;
    CHECK(other.await("collect", ticks + 20));
    CHECK(stage.status("puppet").counts.skipped_ticks > skipped);
    CHECK(sleeper.count("collect") == strike);
    CHECK(sleeper.count("create") == 1);
    doors[strike - 1].open();
  }
  CHECK(sleeper.await("create", 2));
  CHECK(stage.status("puppet").counts.deadline_misses >= doors.size());
  CHECK(stage.status("second").restarts == 0);
  CHECK(stage.stop());
  MESSAGE("beside the sleeper, the other plugin's ", punctuality.ticks(), " ticks, 1 ms apart, came at most ",
          punctuality.latest_ms(), " ms late");
}

TEST_CASE(
    "acceptance 11: after an in-process hook's deadline the request continues or is rejected; it is asked again") {
  HostStage stage{"hook"};
  Puppet hook(stage.shelf().file("hook"));
  Door door;
  hook.on("handle", [door](const PuppetCall&) { return door.pass(), KOORD_OK; });
  HookDispatcher dispatcher{{.hooks = [&](std::uint32_t stages) { return stage.manager().hooks(stages); },
                             .clock = stage.host().clock(),
                             .metrics = stage.metrics()}};
  const auto ask = [&](Duration deadline, config::OnTimeout on_timeout) {
    config::PluginSettings settings = stage.settings().defaults;
    settings.deadline = deadline;
    settings.on_timeout = on_timeout;
    stage.settings().settings["hook"] = settings;
    stage.apply("Hook=true");
    REQUIRE(stage.await("hook", PluginState::running));
    return dispatcher.dispatch({.stage = KOORD_STAGE_PRE_CREATE_CONTAINER});
  };

  const HookVerdict ignored = ask(std::chrono::milliseconds(1), config::OnTimeout::ignore);
  CHECK_FALSE(ignored.rejection);
  REQUIRE(ignored.silent.size() == 1);
  CHECK(ignored.silent[0].timed_out);
  const HookVerdict failed = ask(std::chrono::milliseconds(1), config::OnTimeout::fail);
  REQUIRE(failed.rejection);
  CHECK(failed.rejection->plugin == "hook");
  std::string counted;
  stage.metrics().write_text(counted);
  CHECK(counted.find(R"(koordetector_plugin_hook_requests_total{plugin="hook",result="timeout"} 2)") !=
        std::string::npos);
  CHECK(stage.status("hook").counts.deadline_misses == 2);

  door.open();
  CHECK(ask(test::kLongEnough, config::OnTimeout::fail).silent.empty());
}
