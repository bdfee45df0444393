// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/config/load.hpp"

using namespace koord;
using namespace koord::config;
using namespace std::chrono_literals;

namespace {

Config with(std::string_view text, const std::vector<std::string>& overrides) {
  Result<Config> config = parse(text, "f.yaml", overrides);
  INFO((config ? "" : config.error().message()));
  REQUIRE(config);
  return *std::move(config);
}

std::string error_of(const std::string& override_text, std::string_view text = "") {
  const Result<Config> config = parse(text, "f.yaml", {override_text});
  return config ? "" : config.error().message();
}

}  // namespace

TEST_CASE("an override wins over the file and leaves its neighbours") {
  const Config config = with("store: {retention: 6h, maxBytes: 32Mi}", {"store.retention=1h"});
  CHECK(config.store.retention == 1h);
  CHECK(config.store.max_bytes == 32u << 20);
}

TEST_CASE("the last of several overrides wins") { CHECK(with("", {"workers=2", "workers=3"}).workers == 3); }

TEST_CASE("an override's value is YAML") {
  CHECK(with("", {"plugins.directories=[/a, /b]"}).plugins.directories == std::vector<std::string>{"/a", "/b"});
  CHECK(with("", {"log={level: warn}"}).log.level == log::Level::warn);
}

TEST_CASE("an override may make the mappings on its way") {
  const Config config = with("plugins:", {"plugins.settings.a.config.deep.er=5"});
  CHECK(config.plugins.of("a").config_json == R"({"deep":{"er":5}})");
}

TEST_CASE("a part in double quotes may hold dots and equals signs") {
  const Config config = with("plugins: {settings: {com.example.x: {required: true}}}",
                             {R"(plugins.settings."com.example.x".period=1s)",
                              R"(plugins.settings."com.example.x".config."a.b=c"=5)", R"("workers"=2)"});
  CHECK(config.plugins.of("com.example.x").required);
  CHECK(config.plugins.of("com.example.x").period == 1s);
  CHECK(config.plugins.of("com.example.x").config_json == R"({"a.b=c":5})");
  CHECK(config.workers == 2);
}

TEST_CASE("a plugin id with dots and without quotes is an error that shows the quotes") {
  CHECK(error_of("plugins.settings.com.example.x.period=1s") ==
        "a plugin id with dots is expected in double quotes at --set plugins.settings.com.example.x.period=1s, did "
        "you mean 'plugins.settings.\"com.example.x\".period'?");
}

TEST_CASE("an override reaches a single gate") {
  CHECK(with("featureGates: {A: true}", {"featureGates.B=false"}).feature_gates == GateMap{{"A", true}, {"B", false}});
}

TEST_CASE("an empty override is the empty string, null brings back the default") {
  CHECK(with("", {"listen.metrics="}).listen.metrics.empty());
  CHECK(with("listen: {metrics: ':1'}", {"listen.metrics=null"}).listen.metrics == "127.0.0.1:9316");
}

TEST_CASE("a value may hold equals signs") { CHECK(with("", {"nodeName=a=b"}).node_name == "a=b"); }

TEST_CASE("an override's error names the override") {
  CHECK(error_of("stor.path=/x") == "unknown key 'stor' at --set stor.path=/x, did you mean 'store'?");
  CHECK(error_of("workers=x") == "workers: expected an integer, found 'x' at --set workers=x");
}

TEST_CASE("an override of another form is an error") {
  for (const char* bad :
       {"workers", "=5", ".a=5", "a.=5", "a..b=5", "", R"("a=5)", R"("a"b=5)", R"(a"b"=5)", R"("".a=5)", R"("a")"})
    CHECK(error_of(bad) == "expected 'key.key=value' at --set " + std::string(bad));
}

TEST_CASE("an override inside a plain value is an error") {
  CHECK(error_of("workers.x=1", "workers: 4") ==
        "'x' is set inside '4', expected a mapping there at --set workers.x=1");
}

TEST_CASE("an override with broken YAML is an error") { CHECK(error_of("log={level").starts_with("not valid YAML: ")); }

TEST_CASE("an override with endless parts is refused") {
  std::string key = "plugins";
  for (int i = 0; i < 1000; ++i) key += ".x";
  CHECK(error_of(key + "=1").starts_with("the key has too many parts at --set plugins.x.x"));
}
