// SPDX-License-Identifier: Apache-2.0
// A third-party rule in an agent on this machine's kernel: examples/interference-rule judges, in its own process, a
// container that its quota throttles. KOORD_READER is a second plugin, which reads the verdict in a different process.
#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "test/conformance/author.hpp"
#include "test/support/eventually.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord::test;
namespace fs = std::filesystem;

namespace {

const char* const kRule = "com.example.throttling-rule";

// A container that could use a whole CPU and may use a twentieth of it.
class ThrottledContainer {
 public:
  explicit ThrottledContainer(const std::string& pod_list) {
    std::ofstream(pod_list) << "items:\n- metadata: {uid: u1, namespace: shop, name: cart, annotations: "
                               "{koordetector.sh/cgroup-dir: "
                            << pod_.dir() << ", koordetector.sh/cgroup-dir.app: " << app_.dir()
                            << "}}\n  spec: {containers: [{name: app}]}\n  status: {phase: Running}\n";
    app_.limit_cpu(0.05);
    app_.add_process(spinner_.pid());
  }

 private:
  RealCgroup pod_{"throttled"}, app_{pod_, "app"};
  ChildProcess spinner_{{"sh", "-c", "while :; do :; done"}};
};

struct Reading {
  Reading() {
    REQUIRE(author.make().exit_status == 0);
    install(author.plugin(), "rule.so");
    install(from_environment("KOORD_READER"), "reader.so");
    configure(true);
  }
  void install(const std::string& plugin, const std::string& name) {
    const std::string installed = agent.plugin_folder() + "/" + name;
    fs::copy_file(plugin, installed);
    fs::permissions(installed, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove);
  }
  void configure(bool rule_is_on) {
    agent.write_config(std::string("  settings: {com.example.throttling-rule: {period: 100ms}}\n") +
                       "featureGates: {VerdictReader: true, ThrottlingRuleExample: " + (rule_is_on ? "true" : "false") +
                       "}\nstate: {source: file, file: {pods: \"" + pods + "\"}}");
  }
  double metric(const std::string& name, const std::vector<std::string>& labels = {}) const {
    return find_metric(agent.metrics(), "koordetector_test_" + name, labels).value_or(-1);
  }
  bool stands() const {
    return metric("standing_verdict", {std::string("from=\"") + kRule + "\"", "kind=\"2\"", "origin=\"2\"",
                                       "victim=\"shop/cart/app\""}) == 1;
  }
  // Returns the process of the rule; 0 if it does not run.
  pid_t rule_process() const {
    const std::string plugins = agent.ctl({"plugins", "-o", "json"}).output;
    const std::size_t at = plugins.find(kRule);
    const std::size_t process = plugins.find("\"process\":", at);
    return at == std::string::npos || process == std::string::npos ? 0 : std::atoi(plugins.c_str() + process + 10);
  }

  AgentProcess agent;
  const std::string pods = agent.folder() / "pods.yaml";
  ThrottledContainer container{pods};
  const Author author{"interference-rule", "rule.so"};
};

}  // namespace

TEST_CASE("a third party's verdict stands in an agent with its name, and ends with its process, gate and agent" *
          doctest::skip(RealCgroup::unavailable().has_value())) {
  Reading on;
  REQUIRE(on.agent.start());
  REQUIRE(eventually([&] { return on.stands(); }));
  CHECK(eventually([&] { return on.metric("verdict_events") >= 1; }));

  const double generation = on.metric("verdict_generation");
  const pid_t process = on.rule_process();
  REQUIRE(process > 0);
  REQUIRE(::kill(process, SIGKILL) == 0);
  // the verdict ended and is active again
  CHECK(eventually([&] { return on.metric("verdict_generation") >= generation + 2; }));
  CHECK(eventually([&] { return on.stands(); }));

  on.configure(false);
  on.agent.process().signal(SIGHUP);
  CHECK(eventually([&] { return !on.stands(); }));

  CHECK(on.agent.stop() == 0);
  on.configure(true);
  REQUIRE(on.agent.start());
  CHECK(eventually([&] { return on.stands(); }));
  CHECK(on.agent.stop() == 0);
}
