// SPDX-License-Identifier: Apache-2.0
// advisor-sched-latency and advisor-interference in two processes: one BPF program at each context switch serves both,
// even after one of them was killed.
#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>

#include "test/support/agent_process.hpp"

using namespace koord::test;
using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

constexpr const char* kConfig = R"(  settings:
    advisor-sched-latency: {isolation: process, capabilities: [CAP_BPF, CAP_PERFMON]}
    advisor-interference: {isolation: process, capabilities: [CAP_BPF, CAP_PERFMON]}
)";

struct SharedWaitsFixture {
  bool reads_from(const std::string& source) const {
    return agent.get("/metrics").find("source=\"" + source + "\"} 1\n") != std::string::npos;
  }
  double waits() const {
    const std::string metrics = agent.get("/metrics"), name = "\nkoordetector_node_sched_latency_seconds_count{";
    const std::size_t at = metrics.find("} ", metrics.find(name));
    return at == std::string::npos ? 0 : std::strtod(metrics.c_str() + at + 2, nullptr);
  }
  // Returns the process in which the agent runs advisor-interference; 0 if it does not run.
  pid_t interference_process() const {
    const json::value answer = json::parse(agent.ctl({"plugins", "-o", "json"}).output);
    for (const json::value& plugin : answer.at("plugins").as_array())
      if (plugin.at("id").as_string() == "advisor-interference")
        for (const json::value& instance : plugin.at("instances").as_array())
          return static_cast<pid_t>(instance.at("process").to_number<int>());
    return 0;
  }
  bool reads_more_waits() const {
    const double before = waits();
    return eventually([&] { return waits() > before; }, 1min);
  }

  AgentProcess agent{kConfig, {built("plugins/advisor-interference"), built("plugins/advisor-sched-latency")}};
};

}  // namespace

TEST_CASE_FIXTURE(SharedWaitsFixture, "plugins in two processes share the BPF program that one of them has loaded") {
  REQUIRE(agent.start({"--feature-gates=InterferenceCollector=true"}));
  CHECK(eventually([&] { return reads_from("interference"); }, 2min));
  CHECK_FALSE(reads_from("sched_info"));
  CHECK(reads_more_waits());

  const pid_t killed = interference_process();
  REQUIRE(killed > 1);
  REQUIRE(::kill(killed, SIGKILL) == 0);
  CHECK(eventually([&] { return interference_process() > 1 && interference_process() != killed; }, 2min));
  CHECK(eventually([&] { return reads_from("interference"); }, 2min));
  CHECK(reads_more_waits());
}
