// SPDX-License-Identifier: Apache-2.0
// plugins.settings with ids that belong to no plugin.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/plugin_manager.hpp"
#include "stage.hpp"

using koord::test::HostStage;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("settings of an id that no plugin has are reported with the nearest id, until they name one") {
  HostStage stage{"puppet", "second"};
  stage.settings().settings["pupet"] = stage.settings().defaults;
  stage.settings().settings["com.example.elsewhere"] = stage.settings().defaults;
  stage.apply("");
  CHECK(stage.manager().unknown_settings() ==
        std::vector<std::string>{"plugins.settings.'com.example.elsewhere' names no plugin that was found",
                                 "plugins.settings.'pupet' names no plugin that was found, did you mean 'puppet'?"});
  stage.settings().settings.clear();
  stage.settings().settings["puppet"] = stage.settings().defaults;
  stage.apply("");
  CHECK(stage.manager().unknown_settings().empty());
}

TEST_CASE("settings of a plugin with a file that is refused unread are reported with that file") {
  HostStage stage{"vendor"};  // its id is com.acme.puppet
  stage.settings().settings["com.acme.puppet"] = stage.settings().defaults;
  ::chmod(stage.shelf().file("vendor").c_str(), 0777);
  stage.apply("");
  REQUIRE(stage.manager().unknown_settings().size() == 1);
  CHECK(contains(stage.manager().unknown_settings()[0],
                 "'com.acme.puppet' names no plugin that was found; a refused file may have it: "));
  CHECK(contains(stage.manager().unknown_settings()[0], "found mode 0777"));
}

TEST_CASE("a file that cannot be read as a plugin is named by its path, once") {
  HostStage stage{"vendor"};
  stage.settings().settings["com.acme.puppet"] = stage.settings().defaults;
  const std::string file = stage.shelf().file("vendor");
  std::filesystem::remove(file);
  std::ofstream(file) << "no plugin";
  stage.apply("");
  REQUIRE(stage.manager().unknown_settings().size() == 1);
  CHECK(contains(stage.manager().unknown_settings()[0], "; a refused file may have it: '" + file + "': truncated: "));
  ::chmod(file.c_str(), 0777);
  stage.apply("");
  const std::string line = stage.manager().unknown_settings().at(0);
  CHECK(contains(line, "; a refused file may have it: '" + file + "': expected no write permission"));
}
