// SPDX-License-Identifier: Apache-2.0
// The metric cache after SIGKILL and after damage to its file.
#include <doctest/doctest.h>

#include <fstream>

#include "core/base/parse.hpp"
#include "test/support/agent_process.hpp"

using namespace koord::test;

namespace {

std::vector<std::string> node_resource() { return {built("plugins/advisor-node-resource")}; }

// Returns how many samples of the node's memory `koordctl sql` finds in the file.
double samples_in_file(const AgentProcess& agent) {
  Finished counted = run_to_end({built("core/ctl/koordctl"), "sql", "--db", agent.store_path(),
                                 "SELECT count(*) AS n FROM samples WHERE metric = 'node_memory_usage'"});
  auto lines = koord::split(counted.output, '\n');
  return lines.size() == 2 ? koord::parse_double(koord::trim(lines[1])).value_or(-1) : -1;
}

}  // namespace

TEST_CASE("after SIGKILL the history lacks at most the last second, and the file is sound") {
  AgentProcess agent("", node_resource());
  REQUIRE(agent.start());
  REQUIRE(eventually([&] { return samples_in_file(agent) >= 4; }));
  double before = samples_in_file(agent);
  agent.kill();
  CHECK(samples_in_file(agent) >= before);
  CHECK(run_to_end({built("core/ctl/koordctl"), "sql", "--db", agent.store_path(), "PRAGMA integrity_check"})
            .output.find("ok") != std::string::npos);
  REQUIRE(agent.start());
  CHECK(agent.log().find("its journal is restored\n") !=
        std::string::npos);  // a separate line, without an escaped line end
  CHECK(eventually([&] { return samples_in_file(agent) > before; }));
}

TEST_CASE("a corrupt file is renamed with its reason, and a new one is created") {
  AgentProcess agent("", node_resource());
  std::ofstream(agent.store_path()) << std::string(8192, 'x');
  REQUIRE(agent.start());
  CHECK(agent.log().find("set aside") != std::string::npos);
  CHECK(eventually([&] { return samples_in_file(agent) >= 1; }));
}
