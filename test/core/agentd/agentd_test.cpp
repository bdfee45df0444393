// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/agentd/command_line.hpp"
#include "core/agentd/gates.hpp"
#include "core/agentd/process.hpp"
#include "core/agentd/reload.hpp"
#include "test/support/sanitized.hpp"

using namespace koord;
using namespace koord::agentd;

namespace {

std::uint64_t status_bytes(std::string_view key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return std::stoull(line.substr(key.size())) * 1024;
  return 0;
}

}  // namespace

TEST_CASE("the command line names the file, the overrides and the gates") {
  auto line =
      parse_command_line({"--config", "/etc/k.yaml", "--set", "a.b=c", "--set=d=e", "--feature-gates=A=true,B=false"});
  REQUIRE(line);
  CHECK(line->action == CommandLine::Action::run);
  CHECK(line->config_path == "/etc/k.yaml");
  CHECK(line->overrides == std::vector<std::string>{"a.b=c", "d=e"});
  CHECK(line->feature_gates == "A=true,B=false");
}

TEST_CASE("check-config takes the file as its argument") {
  auto line = parse_command_line({"check-config", "/etc/k.yaml"});
  REQUIRE(line);
  CHECK(line->action == CommandLine::Action::check_config);
  CHECK(line->config_path == "/etc/k.yaml");
  CHECK(parse_command_line({"check-config"}).error().message() == "check-config takes one argument, the file to check");
}

TEST_CASE("a command line that is wrong says in which word") {
  CHECK(parse_command_line({"--confg", "x"}).error().message().find("--confg") != std::string::npos);
  CHECK(parse_command_line({"end-plugins"})->action == CommandLine::Action::end_plugins);
  CHECK(parse_command_line({"end-plugins", "x"}).error().message() ==
        "end-plugins takes no argument, only options: --config, --set");
  CHECK(parse_command_line({"begin"}).error().message() ==
        "unknown command 'begin', expected check-config, end-plugins or restore");
}

TEST_CASE("gates of the command line win over those of the file") {
  config::FeatureGates gates;
  REQUIRE(gates.add({"A", config::Stage::beta, true}));
  CHECK(apply_gates({{"A", true}}, "A=false", gates).empty());
  CHECK_FALSE(gates.enabled("A"));
}

TEST_CASE("an unknown gate is reported, and the other gates are set") {
  config::FeatureGates gates;
  REQUIRE(gates.add({"NodeResourceCollector", config::Stage::alpha, false}));
  auto problems = apply_gates({{"NodeResourceColector", true}, {"NodeResourceCollector", true}}, "", gates);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].find("NodeResourceColector") != std::string::npos);
  CHECK(problems[0].find("NodeResourceCollector") != std::string::npos);
  CHECK(gates.enabled("NodeResourceCollector"));
}

TEST_CASE("a changed level of the log or of /metrics takes effect at once, a changed socket only after a restart") {
  config::Config running, fresh;
  fresh.log.level = log::Level::debug;
  fresh.exporter.detail = config::Detail::node;
  CHECK(keys_needing_restart(running, fresh).empty());
  fresh.listen.socket = "/run/other.sock";
  fresh.workers = 7;
  fresh.plugins.own_directories = {"/opt/own"};
  CHECK(keys_needing_restart(running, fresh) ==
        std::vector<std::string>{"listen", "workers", "plugins.ownDirectories"});
}

TEST_CASE("changed users of plugins take effect only after a restart, a changed minimum isolation at once") {
  config::Config running, fresh;
  fresh.plugins.minimum_isolation = {config::IsolationLayer::uid};
  CHECK(keys_needing_restart(running, fresh).empty());
  fresh.plugins.first_uid += 1;
  fresh.plugins.state_directory = "/var/lib/other";
  CHECK(keys_needing_restart(running, fresh) == std::vector<std::string>{"plugins.uids", "plugins.stateDirectory"});
  keep_until_restart(running, fresh);
  CHECK(fresh.plugins.first_uid == running.plugins.first_uid);
  CHECK(fresh.plugins.state_directory.empty());
  CHECK(fresh.plugins.minimum_isolation == std::vector{config::IsolationLayer::uid});
}

TEST_CASE("the agent knows its own memory, CPU, files and threads") {
  ProcessUsage usage = process_usage();
  CHECK(usage.resident_bytes > 1u << 20);
  CHECK(usage.threads >= 1);
  CHECK(usage.open_files >= 3);
}

TEST_CASE("memory that only the start needed is returned to the kernel" * doctest::skip(test::kSanitized)) {
  std::vector<std::unique_ptr<char[]>> blocks;
  for (int i = 0; i < 32 << 10; ++i) {
    blocks.push_back(std::make_unique<char[]>(1000));
    std::fill_n(blocks.back().get(), 1000, 'x');
  }
  blocks.front() = std::move(blocks.back());  // the last block of the heap stays in use
  blocks.resize(1);
  const std::uint64_t heap = status_bytes("RssAnon:"), files = status_bytes("RssFile:");
  release_startup_memory();
  CHECK(status_bytes("RssAnon:") + (24u << 20) < heap);
  CHECK(status_bytes("RssFile:") < files);
}
