// SPDX-License-Identifier: Apache-2.0
// Evaluates every expression of the dashboards and rules in a Prometheus that scrapes two agents: one with pods of this
// kernel, and one in a cluster with numbers from a fake tree.
#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <regex>
#include <set>

#include "test/composed/strategy_rows.hpp"
#include "test/e2e/crowded_node.hpp"
#include "test/support/prometheus_process.hpp"

using namespace koord;
using namespace koord::test;

namespace json = boost::json;

namespace {

const std::string kPackaging = KOORD_SOURCES "/packaging/";
constexpr const char* kDashboards[] = {"fleet", "node", "pod", "agent"};
constexpr auto kLong = std::chrono::minutes(2);

// A node on this kernel: its eBPF advisors measure waits and post verdicts about its pods.
struct RealNode : Sessions {
  RealNode() : Sessions(given()) {
    configure("exporter: {detail: all}\n");
    arguments = {"--feature-gates=InterferenceCollector=true", "--set", "roots.proc=/proc"};
  }

 private:
  static Given given() {
    Given given = quota().given;
    for (const char* advisor :
         {"advisor-be-resource", "advisor-block-latency", "advisor-interference", "advisor-memory-events",
          "advisor-memory-latency", "advisor-psi", "advisor-sched-latency"})
      given.plugins.emplace_back(advisor);
    return given;
  }
};

// A node in a cluster, with reports and evictions.
struct ClusterNode : CrowdedNode {
  ClusterNode() {
    for (const char* resource : {"cpu", "memory", "io"})
      tree.write(std::string("proc/pressure/") + resource, "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    configure("BEMemoryEvict: true", "shadow");
    REQUIRE(agent->start({"--set", "plugins.ownDirectories=[" + plugins() + "]"}));
  }
  static std::string plugins() {
    std::vector<std::string> all;
    for (const char* id : {"advisor-be-resource", "advisor-node-resource", "advisor-pod-resource", "advisor-psi",
                           "qos-cpu-evict", "qos-memory-evict"})
      all.push_back(built(std::string("plugins/") + id));
    return join(all, ", ");
  }
};

json::value parsed(const std::string& text) {
  json::error_code error;
  json::value value = json::parse(text, error);
  return error ? json::value(nullptr) : value;
}

// Selects all nodes and pods in the dashboard's variables.
std::string with_variables(std::string expression) {
  for (const auto& [variable, value] :
       {std::pair{"$__rate_interval", "1m"}, {"$node", ".*"}, {"$namespace", ".*"}, {"$pod", ".*"}})
    for (std::size_t at = 0; (at = expression.find(variable)) != std::string::npos;)
      expression.replace(at, std::string(variable).size(), value);
  return expression;
}

// Returns the expressions of a dashboard's panels.
std::vector<std::string> expressions_of(const std::string& dashboard) {
  const json::value all = parsed(read_file(kPackaging + "grafana/" + dashboard + ".json").value_or(""));
  REQUIRE(all.is_object());
  std::vector<std::string> expressions;
  for (const json::value& panel : all.at("panels").as_array())
    for (const json::value& target : panel.at("targets").as_array())
      expressions.emplace_back(with_variables(std::string(target.at("expr").as_string())));
  return expressions;
}

bool has_data(const PrometheusProcess& prometheus, const std::string& expression) {
  const json::value answer = parsed(prometheus.query(expression));
  if (!answer.is_object() || answer.at("status") != "success") return false;
  const json::value& data = answer.at("data");
  return data.at("resultType") != "vector" || !data.at("result").as_array().empty();
}

std::set<std::string> metrics_in(const std::string& expression) {
  static const std::regex kName("koordetector_[a-z0-9_]+");
  std::set<std::string> names;
  for (std::sregex_iterator at(expression.begin(), expression.end(), kName), end; at != end; ++at)
    names.insert(at->str());
  return names;
}

struct Rule {
  std::string name, expression, health;
  bool is_alert = false;
};

std::vector<Rule> rules_of(const PrometheusProcess& prometheus) {
  std::vector<Rule> rules;
  const json::value answer = parsed(prometheus.get("/api/v1/rules"));
  if (!answer.is_object()) return rules;
  for (const json::value& group : answer.at("data").at("groups").as_array())
    for (const json::value& rule : group.at("rules").as_array())
      rules.push_back({std::string(rule.at("name").as_string()), std::string(rule.at("query").as_string()),
                       std::string(rule.at("health").as_string()), rule.at("type") == "alerting"});
  return rules;
}

}  // namespace

TEST_CASE("each expression of the dashboards and recording rules has data, and each metric of an alert exists") {
  RealNode real;
  REQUIRE(real.start());
  ClusterNode cluster;
  const PrometheusProcess prometheus({real.agent->tcp_address(), cluster.agent->tcp_address()},
                                     kPackaging + "prometheus/rules.yaml");
  REQUIRE(eventually([&] { return prometheus.value("sum(up)") == 2; }, kLong));

  std::vector<std::string> without_data;
  for (const std::string dashboard : kDashboards)
    for (const std::string& expression : expressions_of(dashboard)) without_data.push_back(expression);
  CHECK(without_data.size() > 40);
  REQUIRE(eventually([&] { return !rules_of(prometheus).empty() && rules_of(prometheus)[0].health == "ok"; }, kLong));
  std::size_t alerts = 0;
  for (const Rule& rule : rules_of(prometheus)) {
    CHECK_MESSAGE(rule.health == "ok", rule.name);
    if (!rule.is_alert) without_data.push_back(rule.name);
    if (!rule.is_alert) continue;
    ++alerts;
    if (rule.name == "KoordetectorDirectReportStale") continue;  // this test runs no koord-manager
    for (const std::string& metric : metrics_in(rule.expression)) without_data.push_back(metric);
  }
  CHECK(alerts == 16);
  CHECK_MESSAGE(eventually(
                    [&] {
                      std::erase_if(without_data,
                                    [&](const auto& expression) { return has_data(prometheus, expression); });
                      return without_data.empty();
                    },
                    kLong),
                "without data:\n", join(without_data, "\n"));
  CHECK(real.agent->stop() == 0);
  CHECK(cluster.agent->stop() == 0);
}
