// SPDX-License-Identifier: Apache-2.0
// koordctl plugins with the answers of an agent.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "agent_answers.hpp"
#include "core/ctl/command.hpp"

using namespace koord;
using namespace koord::ctl;

namespace {

// The cells of the only row of `koordctl plugins`, by column title.
struct PluginRow {
  std::string titles, cells;

  explicit PluginRow(const std::string& plugin) {
    test::AgentAnswers agent(R"({"plugins": [)" + plugin + "]}");
    std::ostringstream out;
    REQUIRE(kPlugins.run(Invocation{{}, agent.socket(), Output::table, out}));
    std::istringstream lines(out.str());
    std::getline(lines, titles);
    std::getline(lines, cells);
  }
  // Two blanks end a cell, because titles and texts of these columns are aligned to the left.
  std::string operator[](const std::string& title) const {
    const std::size_t at = titles.find(title + " ");
    REQUIRE(at != std::string::npos);
    const std::string rest = cells.substr(at);
    return rest.substr(0, rest.find("  "));
  }
};

}  // namespace

TEST_CASE("a plugin with a process that has ended has none, one in the agent has the agent's") {
  const PluginRow ended(
      R"({"id": "x", "isolation": {"layers": ["uid", "seccomp"]}, "instances": [{"process": 0}], "reason": "r"})");
  CHECK(ended["PROCESS"] == "-");
  CHECK(ended["ISOLATION"] == "uid+seccomp");
  const PluginRow runs(
      R"({"id": "x", "isolation": {"layers": ["uid"]}, "instances": [{"process": 71}, {"process": 0}], "reason": "r"})");
  CHECK(runs["PROCESS"] == "71");
  const PluginRow own(R"({"id": "x", "isolation": {"layers": []}, "instances": [{"process": 0}], "reason": "r"})");
  CHECK(own["PROCESS"] == "agent");
  CHECK(own["ISOLATION"] == "none (in process)");
}

TEST_CASE("a capability that amounts to root is shown beside the layers") {
  const PluginRow row(
      R"({"id": "x", "isolation": {"layers": ["uid", "seccomp"], "rootCapabilities": ["CAP_SYS_ADMIN"]}, "instances": [{"process": 7}]})");
  CHECK(row["ISOLATION"] == "uid+seccomp +CAP_SYS_ADMIN");
}

TEST_CASE("the grants of a plugin are shown, and a dash for one without any") {
  const PluginRow row(
      R"({"id": "x", "grants": {"capabilities": ["CAP_BPF", "CAP_PERFMON"], "network": ["tcp"], "files": ["proc/*/io"]}, "reason": "r"})");
  CHECK(row["GRANTS"] == "capabilities CAP_BPF, CAP_PERFMON; network tcp; files proc/*/io");
  CHECK(PluginRow(R"({"id": "x", "grants": {}, "instances": [], "reason": "r"})")["GRANTS"] == "-");
}
