// SPDX-License-Identifier: Apache-2.0
// A plugin's file is replaced while the host runs.
#include "core/host/replacement.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>

#include "stage.hpp"

using namespace koord;
using namespace koord::host;
using koord::test::Door;
using koord::test::HostStage;
using koord::test::Puppet;
using koord::test::PuppetCall;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string why_not(const Result<void>& replaced) { return replaced ? "" : replaced.error().message(); }

koord_status propose(const koord_host* host) {
  const auto* knobs = static_cast<const koord_svc_knobs*>(host->get_service(host, "koord.knobs/1"));
  auto str = [](std::string_view text) { return koord_str{text.data(), text.size()}; };
  koord_intent intent = {};
  intent.struct_size = sizeof intent;
  intent.level = KOORD_LEVEL_POD;
  intent.knob = str("cpu.max");
  intent.cgroup_dir = str("be/pod");
  intent.value = str("20000 100000");
  intent.reason = str("the test");
  intent.ttl_ns = 3'600'000'000'000;
  return knobs->propose(host, &intent, 1, sizeof intent);
}

// A plugin that ticks often, with the control of its file and of the replacing file.
struct Reloading {
  HostStage stage{"puppet", "second"};
  Puppet old{stage.shelf().file("puppet")};
  std::unique_ptr<Puppet> fresh;

  Reloading() {
    for (const char* id : {"puppet", "second"}) {
      config::PluginSettings often = stage.settings().defaults;
      // This is the longest deadline, too, and three missed deadlines in a row start a new session.
      often.period = std::chrono::milliseconds(50);
      often.deadline = std::chrono::hours(1);
      stage.settings().settings[id] = often;
    }
  }
  bool runs() {
    stage.apply("Puppet=true,Second=true");
    return old.await("collect") && stage.await("puppet", PluginState::running);
  }
  void put_new_file() {
    stage.shelf().replace("puppet");
    // Uses a path that the loader does not know yet, because for a known path the loader would return the old file.
    fresh = std::make_unique<Puppet>(stage.shelf().path() + "//puppet.so");
  }
  Result<void> replace() { return stage.replace("puppet", "Puppet=true,Second=true"); }
};

}  // namespace

TEST_CASE_FIXTURE(Reloading, "a new file is brought up beside the old one, which ends, and has its ticks") {
  REQUIRE(runs());
  put_new_file();
  std::atomic<std::size_t> created_after = 0;
  fresh->on("init", [&](const PuppetCall&) {
    created_after = old.count("destroy");
    return KOORD_OK;
  });
  REQUIRE(why_not(replace()) == "");
  CHECK(created_after == 0);  // the old instance still existed when the new one was created
  CHECK(fresh->await("collect", 3));
  CHECK(old.count("create") == 1);
  CHECK(old.await("destroy"));
  CHECK(stage.status("puppet").state == PluginState::running);
  CHECK(stage.status("puppet").reloads == 1);
}

TEST_CASE_FIXTURE(Reloading, "the new one has no tick before the old one has ended") {
  stage.settings().settings["puppet"].period = std::chrono::hours(1);  // each ticks once at its start
  REQUIRE(runs());
  put_new_file();
  // Shared, because the tick may still be returning when the test ends.
  auto old_ones_ended = std::make_shared<std::promise<std::size_t>>();
  fresh->on("collect", [this, old_ones_ended](const PuppetCall&) {
    old_ones_ended->set_value(old.count("destroy"));
    return KOORD_OK;
  });
  std::future<std::size_t> at_first_tick = old_ones_ended->get_future();
  REQUIRE(why_not(replace()) == "");
  REQUIRE(at_first_tick.wait_for(koord::test::kLongEnough) == std::future_status::ready);
  CHECK(at_first_tick.get() == 1);
}

TEST_CASE_FIXTURE(Reloading, "calls, errors and restarts are counted on") {
  REQUIRE(runs());
  std::uint64_t before = stage.status("puppet").counts.calls;
  put_new_file();
  REQUIRE(why_not(replace()) == "");
  CHECK(stage.status("puppet").counts.calls > before);
}

TEST_CASE_FIXTURE(Reloading, "when the new one's init fails the old one goes on ticking, and the reason is reported") {
  REQUIRE(runs());
  put_new_file();
  fresh->on("init", [](const PuppetCall&) { return KOORD_E_IO; });
  CHECK(contains(why_not(replace()), "init(): KOORD_E_IO"));
  std::size_t before = old.count("collect");
  CHECK(old.await("collect", before + 3));
  CHECK(old.count("create") == 1);
  CHECK(fresh->count("init") == 1);  // its init is not tried again
  CHECK(stage.status("puppet").state == PluginState::running);
  CHECK(contains(stage.status("puppet").reason, "runs the file it had before: init()"));
  CHECK(stage.status("puppet").refused_reloads == 1);
}

TEST_CASE_FIXTURE(Reloading, "when the new file is refused the old one goes on ticking, and the reason is reported") {
  REQUIRE(runs());
  stage.shelf().replace("puppet");
  std::filesystem::permissions(stage.shelf().file("puppet"), std::filesystem::perms(0777));
  CHECK(contains(why_not(stage.replace("puppet", "Second=true")), "found mode 0777"));
  std::size_t before = old.count("collect");
  CHECK(old.await("collect", before + 3));
}

TEST_CASE_FIXTURE(Reloading, "a mapped file that was written to is refused: only another file can be mapped") {
  REQUIRE(runs());
  stage.shelf().patch("puppet", 0, "\x7f");  // same content, but written again
  CHECK(contains(why_not(replace()),
                 "is mapped and was written to since: expected a new file put in its place by rename"));
  std::size_t before = old.count("collect");
  CHECK(old.await("collect", before + 3));
}

TEST_CASE_FIXTURE(Reloading, "a reload of the same file starts a new session") {
  REQUIRE(runs());
  REQUIRE(why_not(replace()) == "");
  CHECK(old.count("create") == 2);
  CHECK(old.count("destroy") == 1);
}

TEST_CASE_FIXTURE(Reloading, "the intents of a new strategy outlast the end of the old one") {
  stage.shelf().put("strategy");
  config::PluginSettings often = stage.settings().settings["puppet"];
  stage.settings().settings["strategy"] = often;
  Puppet old_strategy(stage.shelf().file("strategy"));
  const Door door;  // the old instance ends slowly
  old_strategy.on("stop", [door](const PuppetCall&) {
    door.pass();
    return KOORD_OK;
  });
  stage.apply("Strategy=true");
  REQUIRE(old_strategy.await("evaluate"));
  stage.shelf().replace("strategy");
  Puppet new_strategy(stage.shelf().path() + "//strategy.so");
  // It proposes once, then fails. A failed call proposes nothing and leaves the plan unchanged.
  new_strategy.on("evaluate", [first = std::make_shared<std::atomic_flag>()](const PuppetCall& call) {
    return first->test_and_set() ? KOORD_E_AGAIN : propose(call.host);
  });
  REQUIRE(why_not(stage.replace("strategy", "Strategy=true")) == "");
  REQUIRE(new_strategy.await("evaluate", 2));
  CHECK(old_strategy.count("destroy") == 0);
  CHECK(stage.governor().active_intents() == 1);
  door.open();
  REQUIRE(old_strategy.await("destroy"));
  REQUIRE(new_strategy.await("evaluate", new_strategy.count("evaluate") + 3));  // the old instance has ended
  CHECK(stage.governor().active_intents() == 1);
}

TEST_CASE_FIXTURE(Reloading, "a parked plugin starts with the new file") {
  old.on("init", [](const PuppetCall&) { return KOORD_E_IO; });
  stage.apply("Puppet=true");
  REQUIRE(stage.await("puppet", PluginState::parked));
  put_new_file();
  REQUIRE(why_not(replace()) == "");
  CHECK(fresh->await("collect"));
}

TEST_CASE_FIXTURE(Reloading, "a plugin that was put into the directory is started, and no other one") {
  stage.apply("");
  stage.shelf().put("runner");
  stage.shelf().put("strategy");
  REQUIRE(why_not(stage.replace("runner", "Runner=true,Strategy=true")) == "");
  CHECK(stage.status("runner").state == PluginState::running);
  CHECK(stage.status("strategy").id.empty());
}

TEST_CASE_FIXTURE(Reloading, "a plugin without a file, or with its gate off, is refused with the reason") {
  stage.apply("Puppet=true");
  CHECK(why_not(stage.replace("nobody", "")) == "no plugin directory has a plugin of this id");
  CHECK(why_not(stage.replace("second", "Second=false")) == "its feature gate Second is off");
}

TEST_CASE_FIXTURE(Reloading, "a file that cannot be read as a plugin is named when a plugin is missing") {
  const std::string file = stage.shelf().file("broken");
  std::ofstream(file) << "no plugin";
  stage.apply("Puppet=true");
  CHECK(why_not(stage.replace("com.acme.broken", ""))
            .starts_with("no plugin directory has a plugin of this id; a refused file may have it: '" + file + "': "));
}

TEST_CASE_FIXTURE(Reloading, "the other plugins notice nothing") {
  Puppet other(stage.shelf().file("second"));
  REQUIRE(runs());
  REQUIRE(other.await("collect"));
  put_new_file();
  REQUIRE(why_not(replace()) == "");
  CHECK(other.count("create") == 1);
  CHECK(stage.status("second").restarts == 0);
  std::size_t before = other.count("collect");
  CHECK(other.await("collect", before + 3));
}

TEST_CASE_FIXTURE(Reloading, "a hundred replacements leave nothing behind but the mapped files") {
  REQUIRE(runs());
  for (int i = 0; i < 100; ++i) REQUIRE(why_not(replace()) == "");
  CHECK(old.count("create") == 101);
  CHECK(old.count("destroy") == 100);
  CHECK(stage.manager().status().size() == 2);
}
