// SPDX-License-Identifier: Apache-2.0
// The real kubectl with the API. Skipped if kubectl is not installed; KOORD_KUBECTL sets a different path.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api_fixture.hpp"
#include "running_api.hpp"
#include "test/support/child_process.hpp"
#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::test;

namespace {

std::string kubectl() {
  const char* named = std::getenv("KOORD_KUBECTL");
  if (named != nullptr) return named;
  return std::filesystem::exists("/usr/bin/kubectl") ? "/usr/bin/kubectl" : "";
}

bool is_installed() {
  if (!kubectl().empty()) return true;
  std::puts("SKIPPED: kubectl is not installed");
  return false;
}

struct Kubectl {
  RunningApi api{kEpoch};
  std::string home = (std::filesystem::temp_directory_path() / "koord-kubectl-XXXXXX").string();

  Kubectl() { REQUIRE(::mkdtemp(home.data()) != nullptr); }
  ~Kubectl() { std::filesystem::remove_all(home); }

  std::vector<std::string> command(std::vector<std::string> arguments) const {
    std::vector<std::string> all = {"/usr/bin/env", "HOME=" + home, "KUBECONFIG=/dev/null", kubectl(),
                                    "--server=" + api.url()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }
  std::string run(std::vector<std::string> arguments) const {
    const Finished finished = run_to_end(command(std::move(arguments)));
    CHECK(finished.exit_status == 0);
    return finished.output;
  }
  void report(const std::string& name, int milli) {
    http::Request request;
    request.method = http::Method::put;
    request.path = std::string(kNodeMetrics) + "/" + name + "/status";
    request.body = node_metric(name, usage_status(milli));
    CHECK(api.api().answer(request, {}).status < 300);
  }
};

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string file_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

const std::string kName = "nodemetrics.metrics.koordetector.sh";

}  // namespace

TEST_CASE("kubectl get shows the columns, one object, YAML and a selection") {
  if (!is_installed()) return;
  Kubectl k;
  k.report("node-a", 1500);
  k.report("node-b", 250);
  const std::string table = k.run({"get", kName});
  CAPTURE(table);
  CHECK(has(table, "NAME"));
  CHECK(has(table, "CPU"));
  CHECK(has(table, "1500m"));
  CHECK(has(k.run({"get", kName, "node-b", "-o", "yaml"}), "cpu: 250m"));
  const std::string selected = k.run({"get", kName, "--field-selector", "metadata.name=node-b"});
  CHECK(has(selected, "node-b"));
  CHECK_FALSE(has(selected, "node-a"));
  CHECK(has(k.run({"get", kName, "-o", "name", "--chunk-size=1"}), "node-b"));
  CHECK(has(k.run({"get", "--raw", std::string(kNodeMetrics) + "/node-a"}), "\"1500m\""));
}

TEST_CASE("kubectl get -w shows changes as they come") {
  if (!is_installed()) return;
  Kubectl k;
  k.report("node-a", 1);
  const std::string output = k.home + "/watch";
  ChildProcess watch(k.command({"get", kName, "-w"}), output);
  REQUIRE(eventually([&] { return k.api.api().counters().watches.open == 1; }));
  k.report("node-a", 777);
  CHECK(eventually([&] { return has(file_text(output), "777m"); }));
}

TEST_CASE("kubectl explain describes the fields") {
  if (!is_installed()) return;
  Kubectl k;
  const std::string text =
      k.run({"explain", "--api-version=metrics.koordetector.sh/v1alpha1", "nodemetrics.status.podsMetric.pressure"});
  CAPTURE(text);
  CHECK(has(text, "schedulingDelaySeconds"));
  CHECK(has(text, "memoryStallSeconds"));
}

TEST_CASE("kubectl labels, patches and deletes an object") {
  if (!is_installed()) return;
  Kubectl k;
  k.report("node-a", 1);
  k.run({"label", kName, "node-a", "pool=gold"});
  CHECK(has(k.run({"get", kName, "-l", "pool=gold"}), "node-a"));
  k.run({"patch", kName, "node-a", "--type=json", "-p", R"([{"op":"remove","path":"/metadata/labels/pool"}])"});
  CHECK_FALSE(has(k.run({"get", kName, "-l", "pool=gold"}), "node-a"));
  k.run({"delete", kName, "node-a"});
  CHECK(k.api.store().find("node-a") == nullptr);
}
