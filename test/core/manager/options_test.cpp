// SPDX-License-Identifier: Apache-2.0
#include "core/manager/options.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::manager;

TEST_CASE("the command line names the configuration, overrides and gates") {
  const auto line =
      parse_command_line({"-c", "/f", "--set", "lease.name=a", "--set", "listen=", "--feature-gates", "NodeSLO=false"});
  REQUIRE(line);
  CHECK(line->config_path == "/f");
  CHECK(line->overrides == std::vector<std::string>{"lease.name=a", "listen="});
  CHECK(line->feature_gates == "NodeSLO=false");
  CHECK(line->action == CommandLine::Action::run);
  CHECK(parse_command_line({"--help"})->action == CommandLine::Action::help);
  CHECK(parse_command_line({"--check-config"})->action == CommandLine::Action::check_config);
  CHECK_FALSE(parse_command_line({"--unknown"}));
  CHECK(parse_command_line({"--listen", "a", "run"}).error().message().find("--listen") != std::string::npos);
  CHECK(parse_command_line({"-c", "/f", "run"}).error().message() ==
        "unexpected argument 'run', expected only options; see --help");
}

TEST_CASE("all controllers are on, and a gate switches one off") {
  auto gates = controller_gates({}, "");
  REQUIRE(gates);
  for (std::string_view name : {kNodeSloGate, kNodeMetricGate, kBatchGate}) {
    CHECK(gates->enabled(name));
    CHECK(usage().find(name) != std::string::npos);
  }
  CHECK_FALSE(gates->enabled(kMirrorGate));
  CHECK(usage().find(kMirrorGate) != std::string::npos);
  gates = controller_gates({{"NodeSLO", false}, {"NodeMetric", false}}, "NodeMetric=true");
  CHECK_FALSE(gates->enabled(kNodeSloGate));
  CHECK(gates->enabled(kNodeMetricGate));
  CHECK_FALSE(controller_gates({{"NodeSlow", false}}, ""));
}

TEST_CASE("the defaults are valid, and the reference gives the same") {
  const auto defaults = config::parse_manager("", "none");
  REQUIRE_MESSAGE(defaults, defaults.error().message());
  CHECK(defaults->lease.duration == std::chrono::seconds(6));
  CHECK(defaults->slo_config_map == "koordinator-system/slo-controller-config");
  const auto again = config::parse_manager(config::manager_reference_yaml(), "reference");
  REQUIRE_MESSAGE(again, again.error().message());
  CHECK(again->listen == defaults->listen);
  CHECK(again->batch.grace == defaults->batch.grace);
}

TEST_CASE("times that could let two replicas lead are refused, and all errors are named at once") {
  const auto config =
      config::parse_manager("lease: {duration: 4s, renew: 4s, retry: 3s}\nsloConfigMap: x\nunknown: 1\n", "f");
  REQUIRE_FALSE(config);
  const std::string error = config.error().message();
  for (const char* part : {"lease.renew", "lease.retry", "sloConfigMap", "unknown"}) {
    CAPTURE(part);
    CHECK(error.find(part) != std::string::npos);
  }
}

TEST_CASE("a lease is not configured to last longer than other replicas count it") {
  CHECK(config::parse_manager("lease: {duration: 5m}", "f"));
  CHECK_FALSE(config::parse_manager("lease: {duration: 6m}", "f"));
}
