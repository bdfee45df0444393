// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <sstream>

#include "agent_answers.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/grant_view.hpp"
#include "core/load/grants.hpp"
#include "test/core/load/plugin_shelf.hpp"

using namespace koord;
using namespace koord::ctl;

namespace {

struct Asked {
  Result<void> done;
  std::string output;

  bool says(std::string_view text) const { return output.find(text) != std::string::npos; }
  // Returns the value in the table row with this key; empty if no row has it.
  std::string value(const std::string& key) const {
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(key + " ")) return line.substr(line.find_first_not_of(' ', key.size()));
    return {};
  }
};

Asked ask(const std::string& file, Output output = Output::table, const std::string& own_directory = "/none",
          const std::string& socket = "/none/agent.sock") {
  std::ostringstream out;
  po::variables_map options;
  options.insert({"argument", po::variable_value(file, false)});
  options.insert({"own-directory", po::variable_value(own_directory, false)});
  Result<void> done = kPluginInfo.run(Invocation{options, socket, output, out});
  return {std::move(done), out.str()};
}

}  // namespace

TEST_CASE("a plugin's manifest is shown, and where it would live") {
  test::PluginShelf shelf{"vendor"};
  Asked asked = ask(shelf.file("vendor"));
  REQUIRE(asked.done);
  CHECK(asked.value("id") == "com.acme.puppet");
  CHECK(asked.value("version") == "1.2.3");
  CHECK(asked.value("kinds") == "koord.advisor/1");
  CHECK(asked.value("requires") == "koord.metrics/1");
  CHECK(asked.value("default") == "off");
  CHECK(asked.value("isolation") == "a process of its own");
  CHECK_FALSE(asked.says("refused"));
}

TEST_CASE(
    "a plugin in the agent's own directory would run in the agent and may be on by default; elsewhere it would not") {
  test::PluginShelf shelf{"puppet"};
  Asked own = ask(shelf.file("puppet"), Output::table, shelf.path());
  CHECK(own.value("isolation") == "the agent");
  CHECK(own.value("default") == "on");
  Asked elsewhere = ask(shelf.file("puppet"));
  CHECK(elsewhere.value("isolation") == "a process of its own");
  CHECK(elsewhere.value("default") == "off");
}

TEST_CASE("a plugin with a constructor that aborts is shown like any other: none of its code is run") {
  test::PluginShelf shelf{"aborts"};
  Asked asked = ask(shelf.file("aborts"));
  REQUIRE(asked.done);
  CHECK(asked.value("id") == "aborts");
}

TEST_CASE("a plugin that an agent would refuse is shown with the reason, and the command fails with it") {
  test::PluginShelf shelf{"other-major", "wants-knobs", "puppet"};
  ::chmod(shelf.file("puppet").c_str(), 0666);
  CHECK(ask(shelf.file("other-major")).value("refused") == "expected plugin ABI 1.x, found 2.0");
  CHECK(ask(shelf.file("wants-knobs")).value("refused").starts_with("wants-knobs requests service koord.knobs/1"));
  const Asked writable = ask(shelf.file("puppet"));
  CHECK(writable.says("found mode 0666"));
  REQUIRE_FALSE(writable.done);
  CHECK(writable.done.error().message() ==
        "an agent refuses '" + shelf.file("puppet") + "': " + writable.value("refused"));
  CHECK_FALSE(ask(shelf.file("puppet"), Output::json).done);
}

TEST_CASE("as JSON, lists are lists") {
  test::PluginShelf shelf{"puppet"};
  Asked asked = ask(shelf.file("puppet"), Output::json);
  CHECK(asked.says(R"("kinds":["koord.advisor/1"])"));
  CHECK(asked.says(R"("refused":"")"));
}

TEST_CASE("a file without a manifest is an error that names the file") {
  test::PluginShelf shelf{"no-manifest"};
  Asked asked = ask(shelf.file("no-manifest"));
  REQUIRE_FALSE(asked.done);
  CHECK(asked.done.error().message().find("no-manifest.so': expected a section '.koord_manifest'") !=
        std::string::npos);
}

TEST_CASE("each service of a plugin is shown with what it allows, also those that its kind gets unnamed") {
  test::PluginShelf shelf{"vendor"};
  const Asked asked = ask(shelf.file("vendor"));
  CHECK(asked.value("koord.metrics/1").starts_with("required  "));
  CHECK(
      asked.value("koord.metrics/1").ends_with("  defines metrics, appends samples; reads the history of all metrics"));
  CHECK(asked.value("koord.fs/1").starts_with("not named; every advisor gets it "));
  CHECK_FALSE(asked.says("koord.knobs/1"));
  CHECK(ask(shelf.file("vendor"), Output::json)
            .says(R"({"service":"koord.metrics/1","namedAs":"required","allows":"defines metrics)"));
}

TEST_CASE("the settings that a third party's external advisor needs are shown with what they allow") {
  test::PluginShelf shelf{"external", "vendor"};
  const Asked asked = ask(shelf.file("external"));
  CHECK(asked.says("SETTING OF plugins.settings.external  "));
  CHECK(asked.value("network: [tcp]") == "the agent scrapes the plugin's http:// and https:// endpoints");
  CHECK(asked.value("network: [unix]; writePaths: [/run/x.sock]")
            .starts_with("the agent scrapes the plugin's unix: endpoints"));
  CHECK(ask(shelf.file("external"), Output::json).says(R"("neededSettings":[{"setting":"network: [tcp]","allows":)"));
  // one of the agent's own plugins
  CHECK_FALSE(ask(shelf.file("external"), Output::table, shelf.path()).says("SETTING OF"));
  CHECK_FALSE(ask(shelf.file("vendor")).says("SETTING OF"));
  CHECK(ask(shelf.file("vendor"), Output::json).says(R"("neededSettings":[])"));
}

TEST_CASE("the settings that a third party's hook needs to change containers, for devices and for mounts are shown") {
  test::PluginShelf shelf{"hook"};
  const Asked asked = ask(shelf.file("hook"));
  CHECK(asked.value("mode: enforce")
            .starts_with("also by qos.mode: enforce: the hook sets environment, annotations and cgroup values of new"));
  CHECK(asked.value("hookFields: [device]").starts_with("the hook gives containers devices of the node"));
  CHECK(asked.value("hookFields: [mount]").starts_with("the hook mounts paths of the node"));
}

TEST_CASE("the grants of a plugin on this node are shown, and the minimum that its isolation needs") {
  test::PluginShelf shelf{"vendor", "puppet"};
  const test::AgentAnswers agent(R"({"plugins": [{"id": "other", "grants": {"files": ["run/x"]}},
    {"id": "com.acme.puppet", "grants": {"capabilities": ["CAP_BPF"], "readPaths": ["/a", "/b"]}}, {"id": "puppet", "grants": {}}],
    "minimumIsolation": ["uid", "cgroup"]})");
  const auto ask_here = [&](const char* file, Output output) {
    return ask(shelf.file(file), output, "/none", agent.socket());
  };
  CHECK(ask_here("vendor", Output::table).value("granted here") == "capabilities CAP_BPF; readPaths /a, /b");
  CHECK(ask_here("vendor", Output::table).value("plugins.minimumIsolation") == "uid, cgroup");
  CHECK(ask_here("puppet", Output::table).value("granted here") == "nothing");
  CHECK(
      ask_here("vendor", Output::json)
          .says(
              R"("grantedHere":{"capabilities":["CAP_BPF"],"readPaths":["/a","/b"]},"minimumIsolation":["uid","cgroup"])"));
}

TEST_CASE("without an agent, or without this plugin in it, the grants are unknown, and the command is fine") {
  test::PluginShelf shelf{"vendor"};
  const Asked alone = ask(shelf.file("vendor"));
  CHECK(alone.done);
  CHECK(alone.value("granted here")
            .starts_with("unknown: the agent does not answer on '/none/agent.sock': cannot connect"));
  CHECK(alone.value("plugins.minimumIsolation").empty());
  CHECK(ask(shelf.file("vendor"), Output::json).says(R"("grantedHere":null,"minimumIsolation":null)"));
  const test::AgentAnswers agent(R"({"plugins": [], "minimumIsolation": ["uid"]})");
  const Asked elsewhere = ask(shelf.file("vendor"), Output::table, "/none", agent.socket());
  CHECK(elsewhere.value("granted here") == "unknown: the agent has found no plugin 'com.acme.puppet'");
  CHECK(elsewhere.value("plugins.minimumIsolation") == "uid");
}

TEST_CASE("the service for files says that it reads command lines, and no environments") {
  const std::string_view allows = service_allows("koord.fs/1");
  CHECK(allows.find("command lines of all processes") != std::string_view::npos);
  CHECK(allows.ends_with("never memory or environments"));
}

TEST_CASE("each service that the host offers has a sentence on what it allows") {
  for (const std::string& kind : load::known_kinds())
    for (const std::string& service : load::granted_services(kind)) {
      CAPTURE(service);
      CHECK(service_allows(service) != "unknown to this version");
    }
}
