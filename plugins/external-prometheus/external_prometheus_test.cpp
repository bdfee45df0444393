// SPDX-License-Identifier: Apache-2.0
#include "plugins/external-prometheus/external_prometheus.hpp"

#include <doctest/doctest.h>

#include <chrono>

#include "test/support/fake_scrape.hpp"

using namespace koord::external_prometheus;
using koord::metric::Labels;
using koord::test::FakeHost;
using koord::test::FakeNode;
using koord::test::FakeScrape;
using Changes = std::vector<std::pair<std::string, std::string>>;

namespace {

constexpr const char* kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

SubjectIndex node_with_a_pod() {
  SubjectIndex index;
  index.add_pod(1, "u1", "shop", "web");
  index.add_container(2, 1, "nginx", std::string("containerd://") + kId);
  index.add_container(3, 0, "registry", "docker://fedc");
  return index;
}

std::string configured(const std::string& more) {
  return R"({"targets": [{"name": "a", "url": "http://127.0.0.1:9100/metrics")" + more + "}]}";
}

void publish_pod(FakeHost& host) {
  koord::state::Container container;
  container.name = "nginx";
  container.id = std::string("containerd://") + kId;
  koord::state::Pod pod;
  pod.uid = "u1";
  pod.namespace_ = "shop";
  pod.name = "web";
  pod.containers = {container};
  host.hub().publish({.pods = std::vector{pod}});
}

struct Advisor {
  FakeNode node;
  FakeHost host;
  FakeScrape advisor{host, koord_entry_v1()};

  explicit Advisor(const std::string& more) : host(node, configured(more)) { REQUIRE(advisor.init() == KOORD_OK); }
  Labels labels(std::string_view metric) {
    const auto series = host.series(metric);
    return series.size() == 1 ? series[0].labels : Labels{{"found", std::to_string(series.size())}};
  }
};

bool is_accepted(const std::string& json) { return FakeScrape::accepts(koord_entry_v1(), json); }

}  // namespace

TEST_CASE("a star stands for any number of characters, and a pattern must match the whole name") {
  CHECK(glob_matches("node_load1", "node_load1"));
  CHECK_FALSE(glob_matches("node_load1", "node_load15"));
  CHECK(glob_matches("node_load*", "node_load15"));
  CHECK(glob_matches("*_total", "a_total"));
  CHECK(glob_matches("a*b*c", "a_b_b_c"));
  CHECK_FALSE(glob_matches("a*b*c", "a_c_b"));
  CHECK(glob_matches("*", ""));
  CHECK(glob_matches("***", "x"));
  CHECK_FALSE(glob_matches("", "x"));
}

TEST_CASE("a pattern with many stars is fast on a name that almost matches") {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  CHECK_FALSE(glob_matches(pattern + "b", std::string(100'000, 'a')));
}

TEST_CASE("a metric that is not on the list is left out; without a list all are included") {
  CHECK(Naming{{}, ""}.name_of("up") == "up");
  CHECK(Naming{{"node_*", "up"}, ""}.name_of("up") == "up");
  CHECK_FALSE(Naming{{"node_*", "up"}, ""}.name_of("go_threads"));
}

TEST_CASE("a name is replaced according to the list, or else gets the prefix; a colon becomes an underscore") {
  const Naming naming{{}, "exporter_", {{"node_load1", "load_minute"}}};
  CHECK(naming.name_of("node_load1") == "load_minute");
  CHECK(naming.name_of("node_load5") == "exporter_node_load5");
  CHECK(naming.name_of("job:load:mean") == "exporter_job_load_mean");
}

TEST_CASE("each series has the label 'target'; a label of that name from the endpoint is kept under another name") {
  CHECK(place({}, "t", {{"cpu", "0"}}, {}).changes == Changes{{"target", "t"}});
  CHECK(place({}, "t", {{"target", "x"}}, {}).changes == Changes{{"exported_target", "x"}, {"target", "t"}});
}

TEST_CASE("labels are kept, dropped and added according to the rules") {
  const LabelViews labels{{"cpu", "0"}, {"mode", "idle"}, {"host", "h"}};
  CHECK(place({{"cpu", "mode"}}, "t", labels, {}).changes == Changes{{"host", ""}, {"target", "t"}});
  CHECK(place({{}, {"host"}}, "t", labels, {}).changes == Changes{{"host", ""}, {"target", "t"}});
  CHECK(place({{}, {}, {{"zone", "z"}, {"cpu", "9"}}}, "t", labels, {}).changes ==
        Changes{{"target", "t"}, {"zone", "z"}, {"cpu", "9"}});
}

TEST_CASE("a container is found by its id, bare, with a scheme, or at the end of a cgroup's path") {
  const SubjectIndex index = node_with_a_pod();
  const std::string id(kId);
  CHECK(index.container_by_id(id) == 2);
  CHECK(index.container_by_id("cri-o://" + id) == 2);
  CHECK(index.container_by_id("/kubepods.slice/kubepods-podu1.slice/cri-containerd-" + id + ".scope") == 2);
  CHECK(index.container_by_id("/kubepods/podu1/" + id) == 2);
  CHECK(index.container_by_id("fedc") == 3);
  CHECK(index.container_by_id("/") == 0);
  CHECK(index.container_by_id("") == 0);
}

TEST_CASE("labels that name a pod or a container are replaced by that subject") {
  const SubjectIndex index = node_with_a_pod();
  Labelling rules;
  rules.subject = {.pod_uid = {},
                   .pod_namespace = "namespace",
                   .pod_name = "pod",
                   .container_name = "container",
                   .container_id = {}};
  const Placed of_container =
      place(rules, "t", {{"namespace", "shop"}, {"pod", "web"}, {"container", "nginx"}, {"cpu", "0"}}, index);
  CHECK(of_container.subject == 2);
  CHECK(of_container.changes == Changes{{"namespace", ""}, {"pod", ""}, {"container", ""}, {"target", "t"}});
  CHECK(place(rules, "t", {{"namespace", "shop"}, {"pod", "web"}}, index).subject == 1);
  CHECK(place(rules, "t", {{"namespace", "shop"}, {"pod", "web"}, {"container", "POD"}}, index).subject == 1);
}

TEST_CASE("a series of an unknown pod or container is dropped, or kept as a series of the node") {
  const SubjectIndex index = node_with_a_pod();
  Labelling rules;
  rules.subject = {
      .pod_uid = "uid", .pod_namespace = {}, .pod_name = {}, .container_name = "container", .container_id = {}};
  CHECK(place(rules, "t", {{"uid", "u2"}}, index).fate == Placed::Fate::unknown_subject);
  CHECK(place(rules, "t", {{"uid", "u1"}, {"container", "other"}}, index).fate == Placed::Fate::unknown_subject);
  rules.subject.keep_unknown = true;
  const Placed kept = place(rules, "t", {{"uid", "u2"}}, index);
  CHECK(kept.fate == Placed::Fate::kept);
  CHECK(kept.subject == 0);
  CHECK(kept.changes == Changes{{"target", "t"}});
}

TEST_CASE("a series without pod labels belongs to the node") {
  Labelling rules;
  rules.subject.pod_uid = "uid";
  const Placed placed = place(rules, "t", {{"cpu", "0"}, {"uid", ""}}, node_with_a_pod());
  CHECK(placed.fate == Placed::Fate::kept);
  CHECK(placed.subject == 0);
}

TEST_CASE("without targets the plugin is absent") {
  FakeNode node;
  FakeHost host(node);
  FakeScrape advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why() == "no targets configured");
}

TEST_CASE("the host gets a target as configured") {
  Advisor plugin(
      R"(, "periodSeconds": 5, "timeoutSeconds": 0.5, "tokenFile": "/run/token", "limits": {"bodyBytes": 1000, "samples": 100, "series": 10},
                    "tls": {"caFile": "/ca.pem", "certificateFile": "/c.pem", "keyFile": "/k.pem", "serverName": "exporter"})");
  const auto targets = plugin.advisor.targets();
  REQUIRE(targets.size() == 1);
  CHECK(targets[0] == koord::scrape::ScrapeTarget{.name = "a",
                                                  .url = "http://127.0.0.1:9100/metrics",
                                                  .ca_file = "/ca.pem",
                                                  .certificate_file = "/c.pem",
                                                  .key_file = "/k.pem",
                                                  .server_name = "exporter",
                                                  .token_file = "/run/token",
                                                  .period = std::chrono::seconds(5),
                                                  .timeout = std::chrono::milliseconds(500),
                                                  .max_body_bytes = 1000,
                                                  .max_samples = 100,
                                                  .max_series = 10});
}

TEST_CASE("metrics have the names and labels that the rules give them") {
  Advisor plugin(
      R"(, "metrics": ["node_*"], "rename": {"prefix": "x_"}, "labels": {"drop": ["instance"], "add": [{"name": "team", "value": "infra"}]})");
  auto outcome = plugin.advisor.take("a", "node_load1{instance=\"i\"} 0.5\ngo_threads 9\n");
  REQUIRE(outcome);
  CHECK(outcome->taken == 1);
  CHECK(outcome->dropped == 1);
  CHECK(plugin.host.value("x_node_load1") == 0.5);
  CHECK(plugin.labels("x_node_load1") == Labels{{"target", "a"}, {"team", "infra"}});
}

TEST_CASE(
    "a series of a container has the host's labels; a series of an unknown container is counted and tried again") {
  Advisor plugin(R"(, "subject": {"namespace": "namespace", "pod": "pod", "container": "container"})");
  const std::string text =
      "x{namespace=\"shop\",pod=\"web\",container=\"nginx\"} 1\ny{namespace=\"shop\",pod=\"web\"} 2\nz 3\n";
  CHECK(plugin.advisor.take("a", text)->dropped == 2);
  CHECK(plugin.host.value("z") == 3);
  publish_pod(plugin.host);
  CHECK(plugin.advisor.take("a", text)->dropped == 0);
  CHECK(plugin.labels("x") == Labels{{"container_id", std::string("containerd://") + kId},
                                     {"container_name", "nginx"},
                                     {"pod_uid", "u1"},
                                     {"pod_name", "web"},
                                     {"pod_namespace", "shop"},
                                     {"target", "a"}});
  CHECK(plugin.labels("y") ==
        Labels{{"pod_uid", "u1"}, {"pod_name", "web"}, {"pod_namespace", "shop"}, {"target", "a"}});
  plugin.host.hub().publish({.pods = std::vector<koord::state::Pod>{}});
  CHECK(plugin.host.series("x").empty());
  CHECK(plugin.advisor.take("a", text)->dropped == 2);
}

TEST_CASE("two targets with the same series keep them apart") {
  FakeNode node;
  FakeHost host(
      node,
      R"({"targets": [{"name": "a", "url": "http://127.0.0.1:1/"}, {"name": "b", "url": "http://127.0.0.1:2/"}]})");
  FakeScrape advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  REQUIRE(advisor.take("a", "up 1\n"));
  REQUIRE(advisor.take("b", "up 0\n"));
  CHECK(host.value("up", {{"target", "a"}}) == 1);
  CHECK(host.value("up", {{"target", "b"}}) == 0);
}

TEST_CASE("a changed configuration applies from the next scrape on") {
  Advisor plugin(R"(, "metrics": ["a"])");
  CHECK(plugin.advisor.take("a", "a 1\nb 2\n")->taken == 1);
  REQUIRE(plugin.advisor.configure(configured(R"(, "metrics": ["b"])")) == KOORD_OK);
  CHECK(plugin.advisor.take("a", "a 1\nb 2\n")->taken == 1);
  CHECK(plugin.host.value("b") == 2);
}

TEST_CASE("NaN is no value, a duplicate series is left out, and neither does harm to the rest") {
  Advisor plugin("");
  auto outcome = plugin.advisor.take("a", "a NaN\nb 1\nb 2\nc 3\n");
  REQUIRE(outcome);
  CHECK(outcome->left_out == 1);
  CHECK_FALSE(plugin.host.value("a"));
  CHECK(plugin.host.value("b") == 1);
  CHECK(plugin.host.value("c") == 3);
}

TEST_CASE("a million values of a label are refused as a whole") {
  Advisor plugin("");
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text.append("x{user=\"").append(std::to_string(i)).append("\"} 1\n");
  auto outcome = plugin.advisor.take("a", text);
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().message() == "line 100001: found more than 100000 samples, expected at most those");
  CHECK(plugin.host.series("x").empty());
}

TEST_CASE("a wrong configuration is refused before the plugin sees it") {
  CHECK(is_accepted("{}"));
  CHECK(is_accepted(configured(
      R"(, "metrics": ["node_*"], "subject": {"podUid": "uid", "unknown": "node"}, "labels": {"keep": ["cpu"]})")));
  CHECK(is_accepted(
      R"({"targets": [{"name": "x", "url": "https://127.0.0.1:10250/metrics/cadvisor", "tls": {"caFile": "/ca.pem"}}]})"));
  CHECK_FALSE(is_accepted(R"({"targets": [{"name": "x"}]})"));
  CHECK_FALSE(is_accepted(R"({"targets": [{"url": "http://127.0.0.1/"}]})"));
  CHECK_FALSE(is_accepted(R"({"targets": [{"name": "x", "url": "file:/etc/passwd"}]})"));
  CHECK_FALSE(is_accepted(R"({"target": []})"));
  CHECK_FALSE(is_accepted(configured(R"(, "periodSeconds": 0)")));
  CHECK_FALSE(is_accepted(configured(R"(, "metrics": ["a b"])")));
  CHECK_FALSE(is_accepted(configured(R"(, "rename": {"prefix": "1x"})")));
  CHECK_FALSE(is_accepted(configured(R"(, "tls": {"caFile": "relative.pem"})")));
  CHECK_FALSE(is_accepted(configured(R"(, "subject": {"unknown": "keep"})")));
  CHECK_FALSE(is_accepted(configured(R"(, "limits": {"series": 0})")));
}
