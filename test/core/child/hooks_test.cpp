// SPDX-License-Identifier: Apache-2.0
// Runtime hooks of third parties in both isolation modes: a request, the answers, and the result without an answer.
#include <doctest/doctest.h>
#include <linux/capability.h>

#include <string>

#include "core/base/parse.hpp"
#include "core/host/hook_dispatcher.hpp"
#include "core/host/hook_statistics.hpp"
#include "test/core/child/deputies.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;
using host::HookVerdict;

namespace {

struct Hooks : Deputies {
  host::HookStatistics statistics{stage.host().clock(), stage.metrics()};
  host::HookDispatcher dispatcher{{.hooks = [this](std::uint32_t stages) { return stage.manager().hooks(stages); },
                                   .clock = stage.host().clock(),
                                   .metrics = stage.metrics(),
                                   .statistics = &statistics}};

  static host::HookRequest request() {
    host::HookRequest made{.stage = KOORD_STAGE_PRE_CREATE_CONTAINER};
    made.pod.uid = "1234";
    made.container.emplace();
    made.container->name = "app";
    return made;
  }
  HookVerdict ask() { return dispatcher.dispatch(request()); }
  // A hook with this role. It has no time limit unless `change` sets one.
  void configure_hook(const char* id, const std::string& part, const Change& change = {}) {
    configure(id, R"({"value": "max", "hook": ")" + part + R"("})", [&](config::PluginSettings& settings) {
      settings.deadline = kLongEnough;
      if (change) change(settings);
    });
  }
  static std::string value_of(const HookVerdict& verdict, std::string_view field) {
    for (const HookVerdict::Setting& setting : verdict.settings)
      if (setting.field == field) return setting.value;
    return "not set";
  }
  // Returns the host's counter for this plugin, and for this result if one is given.
  double count_of(const std::string& family, std::string_view plugin, const std::string& result = {}) {
    std::string text;
    stage.metrics().write_text(text);
    for (std::string_view rest = text; auto line = next_field(rest, '\n');) {
      bool is_it = line->starts_with("koordetector_" + family + "{") && line->find(plugin) != line->npos &&
                   line->find("\"" + result) != line->npos;
      if (is_it) return *parse_double(line->substr(line->rfind(' ') + 1));
    }
    return 0;
  }
  double asked(const std::string& result) { return count_of("plugin_hook_requests_total", kA, result + "\""); }
};

const auto soon = [](config::PluginSettings& settings) { settings.deadline = 50ms; };
const auto soon_or_fail = [](config::PluginSettings& settings) {
  settings.deadline = 50ms;
  settings.on_timeout = config::OnTimeout::fail;
};

}  // namespace

TEST_CASE("a hook's settings arrive, and it sees the pod and the container that it is about") {
  for (config::Isolation isolation : kIsolations) {
    Hooks hooks;
    hooks.isolation = isolation;
    hooks.configure_hook(kA, "set");
    REQUIRE(hooks.begin("Deputya=true"));
    HookVerdict verdict = hooks.ask();
    CHECK_FALSE(verdict.rejection);
    CHECK(hooks.value_of(verdict, "linux.cpu.shares") == "2");
    CHECK(hooks.value_of(verdict, "env:POD_UID_a") == "1234");
    CHECK(hooks.value_of(verdict, "annotation:container") == "app");
    CHECK(hooks.asked("ok") == 1);
  }
}

TEST_CASE("a hook is asked at its stages only") {
  Hooks hooks;
  hooks.configure_hook(kA, "set");
  REQUIRE(hooks.begin("Deputya=true"));
  host::HookRequest other = hooks.request();
  other.stage = KOORD_STAGE_POST_STOP_CONTAINER;
  CHECK(hooks.dispatcher.dispatch(std::move(other)).settings.empty());
}

TEST_CASE("if two hooks set one field differently the first by id keeps it, and the other is named") {
  Hooks hooks;
  for (const char* id : {kB, kA}) hooks.configure_hook(id, "set");
  REQUIRE(hooks.begin());
  HookVerdict verdict = hooks.ask();
  CHECK(hooks.value_of(verdict, "linux.cpu.shares") == "2");
  CHECK(hooks.value_of(verdict, "env:POD_UID_b") == "1234");
  REQUIRE(verdict.conflicts.size() == 1);  // equal values are no conflict
  CHECK(verdict.conflicts[0].field == "linux.cpu.shares");
  CHECK(verdict.conflicts[0].plugin == kB);
  CHECK(verdict.conflicts[0].kept_by == kA);
  CHECK(hooks.count_of("plugin_hook_conflicts_total", kB) == 1);
  const std::vector<host::HookUse> uses = hooks.statistics.all();
  REQUIRE(uses.size() == 2);
  CHECK((uses[0].plugin == kA && uses[0].asked == 1 && uses[0].conflicts == 0));
  CHECK((uses[1].plugin == kB && uses[1].asked == 1 && uses[1].conflicts == 1));
}

TEST_CASE("a hook's rejection is the request's, in its name") {
  for (config::Isolation isolation : kIsolations) {
    Hooks hooks;
    hooks.isolation = isolation;
    hooks.configure_hook(kA, "set");
    hooks.configure_hook(kB, "reject");
    REQUIRE(hooks.begin());
    HookVerdict verdict = hooks.ask();
    REQUIRE(verdict.rejection);
    CHECK(verdict.rejection->plugin == kB);
    CHECK(verdict.rejection->why == "no room for it");
    CHECK(verdict.settings.empty());
  }
}

TEST_CASE("an unknown field is refused to the hook, with the same text with both isolations") {
  for (config::Isolation isolation : kIsolations) {
    Hooks hooks;
    hooks.isolation = isolation;
    hooks.configure_hook(kA, "wrong");
    REQUIRE(hooks.begin("Deputya=true"));
    HookVerdict verdict = hooks.ask();
    CHECK(verdict.settings.empty());
    REQUIRE(verdict.silent.size() == 1);
    CHECK(verdict.silent[0].why.find("a hook cannot set 'linux.cpu.sharez', expected perhaps 'linux.cpu.shares'") !=
          std::string::npos);
  }
}

TEST_CASE("a device or mount of the node needs a grant, with the same text with both isolations") {
  struct Row {
    const char *part, *field, *value;
  };
  for (config::Isolation isolation : kIsolations) {
    for (const Row& row : {Row{"device", "device:/dev/sda", "b 8:0"}, Row{"mount", "mount:/host", "/"}}) {
      for (bool is_granted : {false, true}) {
        Hooks hooks;
        hooks.isolation = isolation;
        hooks.configure_hook(kA, row.part, [&](config::PluginSettings& settings) {
          if (is_granted) settings.hook_fields = {row.part};
        });
        REQUIRE(hooks.begin("Deputya=true"));
        const HookVerdict verdict = hooks.ask();
        CHECK(hooks.value_of(verdict, row.field) == (is_granted ? row.value : "not set"));
        const std::string why = verdict.silent.empty() ? "" : verdict.silent[0].why;
        CHECK((why.find("the fields " + std::string(row.part) + ": need " + row.part) == std::string::npos) ==
              is_granted);
      }
    }
  }
}

TEST_CASE("acceptance 11: after a hook's deadline the request continues or is rejected, and the hook is asked again") {
  Hooks hooks;
  hooks.configure_hook(kA, "hang", soon);
  REQUIRE(hooks.begin("Deputya=true"));
  HookVerdict verdict = hooks.ask();
  CHECK_FALSE(verdict.rejection);
  REQUIRE(verdict.silent.size() == 1);
  CHECK(verdict.silent[0].timed_out);
  CHECK(verdict.silent[0].why == "did not answer within 50ms");
  REQUIRE(hooks.statistics.all().size() == 1);
  CHECK(hooks.statistics.all()[0].late == 1);
  CHECK(hooks.statistics.all()[0].last_error == "did not answer within 50ms");

  hooks.configure_hook(kA, "hang", soon_or_fail);
  hooks.stage.apply("Deputya=true");
  std::optional<HookVerdict::Rejection> rejected;
  CHECK(eventually([&] { return (rejected = hooks.ask().rejection).has_value(); }));  // not while it restarts
  CHECK(rejected->plugin == kA);
  CHECK(hooks.asked("timeout") >= 2);
  CHECK(hooks.stage.status(kA).counts.deadline_misses >= 2);

  hooks.configure_hook(kA, "set");
  hooks.stage.apply("Deputya=true");
  CHECK(eventually([&] { return hooks.value_of(hooks.ask(), "linux.cpu.shares") == "2"; }));
}

TEST_CASE("a hook that hangs ends with its process, and begins again") {
  Hooks hooks;
  hooks.configure_hook(kA, "hang", soon);
  REQUIRE(hooks.begin("Deputya=true"));
  hooks.ask();
  CHECK(eventually([&] { return hooks.stage.status(kA).restarts >= 1; }));
  CHECK(hooks.stage.status(kA).last_error.find("handle() did not return within 1s") != std::string::npos);
}

TEST_CASE("a hook that crashes or throws is left out, and reported") {
  for (std::string part : {"segv", "throw"}) {
    Hooks hooks;
    hooks.configure_hook(kA, part);
    hooks.configure_hook(kB, "set");
    REQUIRE(hooks.begin());
    HookVerdict verdict = hooks.ask();
    CHECK_FALSE(verdict.rejection);
    CHECK(hooks.value_of(verdict, "linux.cpu.shares") == "1024");
    REQUIRE(verdict.silent.size() == 1);
    CHECK_FALSE(verdict.silent[0].timed_out);
    CHECK(verdict.silent[0].why.find(part == "segv" ? "ended by signal 11" : "the hook's text") != std::string::npos);
  }
}
