// SPDX-License-Identifier: Apache-2.0
#include "core/config/reference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/config/json.hpp"
#include "core/config/load.hpp"

using namespace koord::config;

namespace {

// Uncomments the example of a plugin's settings.
std::string with_example(std::string text) {
  const std::string off = "  settings: {}\n";
  text.replace(text.find(off), off.size(), "  settings:\n");
  for (std::size_t at = text.find("  #   "); at != std::string::npos; at = text.find("\n  #   ", at + 1))
    text[text.find('#', at)] = ' ';
  return text;
}

}  // namespace

TEST_CASE("the reference is YAML that loads to the defaults") {
  const std::string text = reference_yaml();
  const koord::Result<Config> config = parse(text, "reference");
  INFO(text);
  REQUIRE(config);
  CHECK(config->store.max_bytes == load("")->store.max_bytes);
  CHECK(config->plugins.settings.empty());
}

TEST_CASE("the reference's plugin example loads when it is uncommented") {
  const std::string text = with_example(reference_yaml());
  const koord::Result<Config> config = parse(text, "reference");
  INFO(text);
  INFO((config ? "" : config.error().message()));
  REQUIRE(config);
  CHECK(config->plugins.settings.contains("advisor-example"));
}

TEST_CASE("every key has a type and a help, and no two have one path") {
  std::set<std::string> paths;
  for (const KeyReference& key : list_keys()) {
    INFO(key.path);
    CHECK(paths.insert(key.path).second);
    CHECK_FALSE(key.type.empty());
    CHECK(key.help.ends_with('.'));
  }
}

TEST_CASE("the list has the keys of a plugin under its id") {
  const std::vector<KeyReference> keys = list_keys();
  const auto key =
      std::find_if(keys.begin(), keys.end(), [](const auto& k) { return k.path == "plugins.settings.<id>.maxSeries"; });
  REQUIRE(key != keys.end());
  CHECK(key->default_value == "20000");
  CHECK(key->type == "integer from 1 to 10000000");
}

TEST_CASE("the reference names a key with its help and type above") {
  CHECK(reference_yaml().find("store:\n"
                              "  # File of the metric cache. Off: the cache is in memory and ends with the agent.\n"
                              "  # absolute path, or \"\" for off\n"
                              "  path: /var/lib/koordetector/metrics.db\n") != std::string::npos);
}
