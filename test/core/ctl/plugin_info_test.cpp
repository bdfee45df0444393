// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <sstream>

#include "core/ctl/command.hpp"
#include "core/ctl/grant_view.hpp"
#include "core/host/grants.hpp"
#include "test/core/host/plugin_shelf.hpp"

using namespace koord;
using namespace koord::ctl;

namespace {

struct Asked {
  Result<void> done;
  std::string output;

  bool says(std::string_view text) const { return output.find(text) != std::string::npos; }
  // The value in the table's row of this key; empty if missing.
  std::string value(const std::string& key) const {
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(key + " ")) return line.substr(line.find_first_not_of(' ', key.size()));
    return {};
  }
};

Asked ask(const std::string& file, Output output = Output::table, const std::string& own_directory = "/none") {
  std::ostringstream out;
  po::variables_map options;
  options.insert({"argument", po::variable_value(file, false)});
  options.insert({"own-directory", po::variable_value(own_directory, false)});
  Result<void> done = kPluginInfo.run(Invocation{options, "", output, out});
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

TEST_CASE("a plugin in the agent's own directory would live in the agent and may be on by default, elsewhere it would not") {
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

TEST_CASE("a plugin that an agent would refuse is shown with the reason, without a failure") {
  test::PluginShelf shelf{"other-major", "wants-knobs", "puppet"};
  ::chmod(shelf.file("puppet").c_str(), 0666);
  CHECK(ask(shelf.file("other-major")).value("refused") == "wanted plugin ABI 1.x, found 2.0");
  CHECK(ask(shelf.file("wants-knobs")).value("refused").starts_with("wants-knobs wanted service koord.knobs/1"));
  CHECK(ask(shelf.file("puppet")).says("found mode 0666"));
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
  CHECK(asked.done.error().message().find("no-manifest.so': wanted a section '.koord_manifest'") != std::string::npos);
}

TEST_CASE("each service of a plugin is shown with what it allows, also those that its kind gets unnamed") {
  test::PluginShelf shelf{"vendor"};
  const Asked asked = ask(shelf.file("vendor"));
  CHECK(asked.value("koord.metrics/1") == "required  defines metrics, appends samples; reads the history of all metrics");
  CHECK(asked.value("koord.fs/1").starts_with("kind "));
  CHECK_FALSE(asked.says("koord.knobs/1"));
  CHECK(ask(shelf.file("vendor"), Output::json).says(R"({"service":"koord.metrics/1","namedAs":"required","allows":"defines metrics)"));
}

TEST_CASE("each service that the host offers has a sentence on what it allows") {
  for (const std::string& kind : host::known_kinds())
    for (const std::string& service : host::granted_services(kind)) {
      CAPTURE(service);
      CHECK(service_allows(service) != "unknown to this version");
    }
}
