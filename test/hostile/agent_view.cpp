// SPDX-License-Identifier: Apache-2.0
#include "test/hostile/agent_view.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/base/parse.hpp"
#include "test/hostile/answers.hpp"

namespace koord::hostile {
namespace {

using test::AgentProcess;

std::string object_of(const std::string& plugins, const std::string& id) {
  const std::size_t at = plugins.find("{\"id\":\"" + id + "\"");
  if (at == std::string::npos) return "";
  const std::size_t next = plugins.find("{\"id\":\"", at + 1);
  return plugins.substr(at, next == std::string::npos ? next : next - at);
}

std::string text_member(const std::string& object, const std::string& key) {
  const std::string start = "\"" + key + "\":\"";
  const std::size_t at = object.find(start);
  if (at == std::string::npos) return "";
  return object.substr(at + start.size(), object.find('"', at + start.size()) - at - start.size());
}

double number_member(const std::string& object, const std::string& key) {
  const std::string start = "\"" + key + "\":";
  const std::size_t at = object.find(start);
  return at == std::string::npos ? 0 : std::strtod(object.c_str() + at + start.size(), nullptr);
}

}  // namespace

PluginView plugin_view(const AgentProcess& agent, const std::string& id) {
  const std::string object = object_of(agent.get("/api/v1/plugins"), id);
  return {text_member(object, "state"), text_member(object, "reason"), object,
          number_member(object, "serviceCpuSeconds"), static_cast<long>(number_member(object, "restarts"))};
}

std::vector<pid_t> plugin_pids(const AgentProcess& agent) {
  constexpr std::string_view kKey = "\"process\":";
  std::vector<pid_t> pids;
  const std::string plugins = agent.get("/api/v1/plugins");
  for (std::size_t at = plugins.find(kKey); at != std::string::npos; at = plugins.find(kKey, at + 1))
    if (const int pid = std::atoi(plugins.c_str() + at + kKey.size()); pid > 0) pids.push_back(pid);
  return pids;
}

std::string answer_of(const AgentProcess& agent, std::string_view attack) { return answer_in(agent.log(), attack); }

std::vector<double> sample_times(const AgentProcess& agent, const std::string& metric) {
  constexpr std::string_view kSamples = "\"samples\":[";
  std::vector<double> times;
  const std::string answer = agent.get("/api/v1/query?raw=true&metric=" + metric);
  for (std::size_t row = answer.find(kSamples); row != std::string::npos; row = answer.find(kSamples, row + 1))
    for (const char* at = answer.c_str() + row + kSamples.size(); *at == '['; at += *at == ',') {
      char* end = nullptr;
      times.push_back(std::strtod(at + 1, &end));
      std::strtod(end + 1, &end);
      at = end + 1;
    }
  std::sort(times.begin(), times.end());
  return times;
}

std::string level_of(const AgentProcess& agent, const std::string& id) {
  for (const std::string& line : split(agent.ctl({"plugins"}).output, '\n')) {
    if (!line.starts_with(id + " ")) continue;
    for (const std::string& word : split(line, ' '))
      if (word.find("seccomp") != std::string::npos) return word;
  }
  return "";
}

bool names_culprit(const AgentProcess& agent, const std::string& id, std::string_view file) {
  const PluginView view = plugin_view(agent, id);
  if (!view.reason.empty() || view.text.find("\"lastError\":\"\"") == std::string::npos) return true;
  for (const std::string& line : split(agent.log(), '\n')) {
    const bool is_bad = line.find(" WARN ") != std::string::npos || line.find(" ERROR ") != std::string::npos;
    // The agent logs this for every plugin on this node, including the bystander.
    if (line.find(": runs without some of its limits: ") != std::string::npos) continue;
    if (is_bad && line.find(": attack ") == std::string::npos &&
        (line.find(id) != std::string::npos || line.find(file) != std::string::npos))
      return true;
  }
  return false;
}

}  // namespace koord::hostile
