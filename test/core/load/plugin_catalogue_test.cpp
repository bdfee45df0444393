// SPDX-License-Identifier: Apache-2.0
#include "core/load/plugin_catalogue.hpp"

#include <doctest/doctest.h>

#include "plugin_shelf.hpp"

using namespace koord;
using namespace koord::load;

TEST_CASE("a directory of the agent's own plugins without a plugin is a problem, one of third parties is not") {
  const test::PluginShelf shelf;
  config::PluginsSettings settings;
  settings.own_directories = {shelf.path()};
  const Catalogue own = read_catalogue(settings);
  CHECK(own.files.empty());
  CHECK(own.problems == std::vector<std::string>{"plugins.ownDirectories: '" + shelf.path() +
                                                 "' has no *.so file, expected the agent's own plugins"});
  settings.own_directories = {};
  settings.directories = {shelf.path()};
  CHECK(read_catalogue(settings).problems.empty());
}

TEST_CASE("a directory with a plugin, even a refused one, is no problem") {
  test::PluginShelf shelf{"puppet"};
  config::PluginsSettings settings;
  settings.own_directories = {shelf.path()};
  CHECK(read_catalogue(settings).problems.empty());
}
