// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/options.hpp"

#include <doctest/doctest.h>

using namespace koord::criproxy;
using namespace std::chrono_literals;

TEST_CASE("without arguments the proxy stands before containerd") {
  const auto options = parse_options({});
  REQUIRE(options);
  CHECK(options->runtime == "/run/containerd/containerd.sock");
  CHECK(options->agent_wait == 200ms);
}

TEST_CASE("sockets may be written as a kubelet writes them") {
  const auto options =
      parse_options({"--listen=unix:///run/a.sock", "--runtime", "unix:///run/crio/crio.sock", "--agent=none"});
  REQUIRE(options);
  CHECK(options->listen == "/run/a.sock");
  CHECK(options->runtime == "/run/crio/crio.sock");
  CHECK(options->agent.empty());
  CHECK(parse_options({"--health=none"})->health.empty());
}

TEST_CASE("a wrong option is named") {
  const std::pair<std::vector<std::string>, std::string> lines[] = {
      {{"--listen=relative"}, "--listen"},
      {{"--agent-timeout=5"}, "--agent-timeout"},
      {{"--drain=-1s"}, "--drain"},
      {{"--log-level=loud"}, "loud"},
      {{"--unknown"}, "unknown"},
      {{"word"}, "unexpected argument 'word', expected only options"},
      {{"--listen=/a", "--runtime=/a"}, "the same socket"}};
  for (const auto& [arguments, expected] : lines) {
    const auto& shown = arguments.front();
    CAPTURE(shown);
    const auto options = parse_options(arguments);
    REQUIRE_FALSE(options);
    CAPTURE(options.error().text);
    CHECK(options.error().text.find(expected) != std::string::npos);
  }
}

TEST_CASE("the help shows every option with its default") {
  const std::string text = usage();
  for (const char* part :
       {"--listen", "--runtime", "--agent-timeout", "200ms", "--hook-servers", "hookserver.d", "--drain"})
    CHECK(text.find(part) != std::string::npos);
}
