// SPDX-License-Identifier: Apache-2.0
// Verdicts from the store, through the data API, to the output of koordctl.
#include <algorithm>
#include <boost/json.hpp>

#include "core/api/wait_matrix.hpp"
#include "core/ctl/interference_view.hpp"
#include "test/core/api/api_node.hpp"

using namespace koord;
using namespace koord::api;
using namespace std::chrono_literals;
using test::ApiNode;
namespace json = boost::json;

namespace {

metric::Labels labels(const char* uid, const char* name_space, const char* pod, const char* container) {
  return {{"container_name", container}, {"pod_uid", uid}, {"pod_name", pod}, {"pod_namespace", name_space}};
}

verdict::Suspect etl() {
  verdict::Suspect suspect;
  suspect.name = "batch/etl/main";
  suspect.subject = {4, labels("u2", "batch", "etl", "main")};
  suspect.value = 0.0381;
  suspect.share = 0.62;
  suspect.excess = 0.0379;
  suspect.usage = 1.71;
  suspect.request = 0.5;
  return suspect;
}

verdict::Record about_cart(Time now) {
  verdict::Record record;
  record.victim = {2, labels("u1", "shop", "cart", "app")};
  record.victim_name = "shop/cart/app";
  record.kind = verdict::Kind::interfered;
  record.method = verdict::Method::exact;
  record.from = now - 30s;
  record.to = now;
  record.windows_over = 28;
  record.windows_seen = 30;
  record.statistic = {"held_up_by_others", "ratio", 0.042, 0.003, 0.01};
  record.amount_unit = "seconds/second";
  record.own = 0.0031;
  record.throttled = 0;
  verdict::Suspect kernel;
  kernel.kind = verdict::SuspectKind::kernel;
  kernel.value = 0.0064;
  kernel.share = 0.1;
  record.suspects = {etl(), kernel};
  record.others = {{"memory", "0 refaults/s"}};
  return record;
}

host::PluginStatus judge(host::PluginState state) {
  host::PluginStatus plugin;
  plugin.id = "advisor-interference";
  plugin.gate = "InterferenceCollector";
  plugin.state = state;
  plugin.period = 1s;
  return plugin;
}

struct JudgedNode : ApiNode {
  explicit JudgedNode(host::PluginState state = host::PluginState::running) { plugins.push_back(judge(state)); }

  void post(verdict::Record record, const char* plugin = "advisor-interference",
            verdict::Origin origin = verdict::Origin::own) {
    std::vector<verdict::Record> records;
    records.push_back(std::move(record));
    REQUIRE(shared.verdicts.post(clock.now(), {plugin, origin, 1}, std::move(records)));
  }
  json::object ask(const std::string& query = "") {
    const http::Response response = get(get_interference, query);
    REQUIRE_MESSAGE(response.status == 200, response.body);
    return json::parse(response.body).as_object();
  }
  std::string text(const std::string& query = "") {
    return *ctl::render_interference(get(get_interference, query).body, false);
  }
  void record_wait(std::uint64_t victim, const metric::Labels& victim_labels, const char* culprit, double waited) {
    metric::Desc desc;
    desc.name = kWaitsFor;
    desc.unit = "ratio";
    desc.help = "Waits.";
    desc.exported = false;
    desc.resolution = 1e-6;
    const auto id = registry.define("advisor-interference", desc);
    REQUIRE(id);
    const auto series = registry.series("advisor-interference", *id, {victim, victim_labels},
                                        {{"resource", "cpu"}, {"kind", "container"}, {"culprit", culprit}});
    REQUIRE(series);
    const metric::Point points[] = {{*series, waited}};
    REQUIRE(registry.record("advisor-interference", clock.now(), points));
  }
};

std::size_t verdicts_of(const json::object& answer) { return answer.at("verdicts").as_array().size(); }

}  // namespace

TEST_CASE("a posted verdict is in the answer with victim, suspects, statistic, method, windows and times") {
  JudgedNode node;
  node.post(about_cart(node.clock.now()));
  const json::object answer = node.ask();
  REQUIRE(verdicts_of(answer) == 1);
  const json::object& verdict = answer.at("verdicts").as_array()[0].as_object();
  CHECK(verdict.at("state") == "standing");
  CHECK(verdict.at("kind") == "interfered");
  CHECK(verdict.at("resource") == "cpu");
  CHECK(verdict.at("plugin") == "advisor-interference");
  CHECK(verdict.at("origin") == "own");
  CHECK(verdict.at("method") == "exact");
  CHECK(
      verdict.at("victim") ==
      json::parse(
          R"({"name": "shop/cart/app", "container": "app", "pod": {"uid": "u1", "name": "cart", "namespace": "shop"}})"));
  CHECK(verdict.at("statistic") ==
        json::parse(
            R"({"name": "held_up_by_others", "unit": "ratio", "value": 0.042, "baseline": 0.003, "threshold": 0.01})"));
  CHECK(verdict.at("windows") == json::parse(R"({"over": 28, "seen": 30})"));
  const json::array& suspects = verdict.at("suspects").as_array();
  REQUIRE(suspects.size() == 2);
  CHECK(suspects[0].at("name") == "batch/etl/main");
  CHECK(suspects[0].at("share") == 0.62);
  CHECK(suspects[1].at("kind") == "kernel");
  CHECK(verdict.at("self") == 0.0031);
  CHECK(verdict.at("throttled") == 0.0);
  CHECK(verdict.at("from").to_number<double>() + 30 == doctest::Approx(verdict.at("to").to_number<double>()));
}

TEST_CASE("a value that the plugin does not know is left out, and is neither null nor 0") {
  JudgedNode node;
  node.post(about_cart(node.clock.now()));
  const std::string body = node.get(get_interference, "").body;
  CHECK(body.find("unexplained") == std::string::npos);
  CHECK(body.find("null") == std::string::npos);
}

TEST_CASE("koordctl prints the parts of the answer: effect, cause, other candidates, method") {
  JudgedNode node;
  node.post(about_cart(node.clock.now()));
  const std::string text = node.text();
  const std::string expected = R"(shop/cart/app  INTERFERED  resource cpu  (28 of 30 windows)
  felt     a request finds the container held up for > 1 ms during 4.2 % of the time (quiet 0.3 %, limit 1.0 %)
  caused   1. batch/etl/main   38 ms/s  62 %  ran 1.71 CPU, requests 0.50  +38 ms/s over quiet
           2. kernel threads  6.4 ms/s  10 %
           own threads 3.1 ms/s, own limits 0 ms/s
  not it   memory 0 refaults/s
  method   exact
)";
  CHECK_MESSAGE(text.ends_with(expected), text);
  CHECK_MESSAGE(text.find(" - now  ") != std::string::npos, text);
}

TEST_CASE("an ended verdict is shown only for a query with a time or a state") {
  JudgedNode node;
  node.post(about_cart(node.clock.now()));
  node.clock.advance(20s);
  REQUIRE(node.shared.verdicts.end(node.clock.now(), "advisor-interference", about_cart(node.clock.now()).key(),
                                   "10 s without a finding"));
  CHECK(verdicts_of(node.ask()) == 0);
  CHECK(node.text().starts_with("Nothing holds a container up now.\nVerdicts that have ended: 1; --since 1h"));
  for (const char* query : {"since=1h", "state=ended", "state=any", "since=1h&kind=interfered&resource=cpu"}) {
    CAPTURE(query);
    REQUIRE(verdicts_of(node.ask(query)) == 1);
    CHECK(node.ask(query).at("verdicts").as_array()[0].at("state") == "ended");
  }
  CHECK(node.text("since=1h").find("  ended    10 s without a finding\n") != std::string::npos);
  CHECK(verdicts_of(node.ask("since=1h&resource=memory")) == 0);
  CHECK(verdicts_of(node.ask("since=1h&kind=unknown")) == 0);
  CHECK(verdicts_of(node.ask("since=1h&namespace=batch")) == 0);
  CHECK(verdicts_of(node.ask("since=5s")) == 1);
  node.clock.advance(1h);
  CHECK(verdicts_of(node.ask("since=30m")) == 0);
}

TEST_CASE("a pod that neither the node nor a verdict has is an error, so a typing error is noticed") {
  JudgedNode node;
  CHECK(node.get(get_interference, "pod=cart").status == 200);
  CHECK(node.get(get_interference, "pod=shop/cart").status == 200);
  const http::Response unknown = node.get(get_interference, "pod=carr");
  CHECK(unknown.status == 404);
  CHECK(unknown.body.find("no pod 'carr' on this node") != std::string::npos);
  CHECK(node.text("pod=cart").starts_with("Nothing holds cart up now.\n"));
  CHECK(node.get(get_interference, "limit=0").status == 400);
  verdict::Record gone = about_cart(node.clock.now());
  gone.victim = {9, labels("u9", "shop", "gone", "app")};
  node.post(gone);
  CHECK(node.shared.verdicts.end_all_about(node.clock.now(), 9, "the container has ended") == 1);
  CHECK(node.get(get_interference, "pod=gone&resource=memory").status == 200);
}

TEST_CASE("verdicts of the node's own plugins come before those of third parties") {
  JudgedNode node;
  node.post(about_cart(node.clock.now()));
  for (std::uint64_t victim = 10; victim < 15; ++victim) {
    verdict::Record record = about_cart(node.clock.now());
    record.victim.handle = victim;
    node.post(std::move(record), "com.acme.judge", verdict::Origin::third_party);
  }
  const json::object answer = node.ask("limit=2");
  REQUIRE(verdicts_of(answer) == 2);
  CHECK(answer.at("verdicts").as_array()[0].at("origin") == "own");
}

TEST_CASE("with a limit the newest are shown, and the output says that older ones exist") {
  JudgedNode node;
  for (std::uint64_t victim = 10; victim < 13; ++victim) {
    verdict::Record record = about_cart(node.clock.now());
    record.victim.handle = victim;
    node.post(std::move(record));
  }
  const json::object answer = node.ask("limit=2");
  REQUIRE(verdicts_of(answer) == 2);
  CHECK(answer.at("hasOlder") == true);
  CHECK(answer.at("verdicts").as_array()[0].at("id") == 3);
  CHECK(node.text("limit=2").ends_with("\nOlder verdicts are left out: --limit, --until\n"));
  CHECK(node.ask("limit=3").at("hasOlder") == false);
}

TEST_CASE("without a judge the answer says which gate to turn on, or why it does not run") {
  CHECK(JudgedNode(host::PluginState::disabled)
            .text()
            .find("The feature gate InterferenceCollector is off, so advisor-interference does not judge.\n"
                  "Turn it on: --feature-gates=InterferenceCollector=true") == 0);
  JudgedNode absent(host::PluginState::absent);
  absent.plugins[0].reason = "no BTF";
  CHECK(absent.text() == "advisor-interference is absent: no BTF\n");
  JudgedNode none;
  none.plugins.clear();
  CHECK(none.text() == "The plugin advisor-interference is not installed, so nothing is judged.\n");
}

TEST_CASE("the answer has the rule in force, as the judge alone reports it") {
  JudgedNode node;
  CHECK(node.ask().at("rule") == "");
  REQUIRE(
      node.capabilities.report({"verdict.rule", service::CapabilityState::supported, "it is mine", "com.acme.judge"}));
  CHECK(node.ask().at("rule") == "");
  REQUIRE(node.capabilities.report(
      {"verdict.rule", service::CapabilityState::supported, "built in", "advisor-interference"}));
  CHECK(node.ask().at("rule") == "built in");
  CHECK(node.text().ends_with("\nRule: built in.\n"));
}

TEST_CASE("capabilities say for each resource whether it is judged, how, and why not") {
  JudgedNode node;
  REQUIRE(node.capabilities.report(
      {"verdict.cpu", service::CapabilityState::supported, "exact: run segments", "advisor-interference"}));
  const json::object answer = json::parse(node.get(get_capabilities, "").body).as_object();
  std::string seen;
  for (const json::value& one : answer.at("capabilities").as_array())
    if (const std::string name(one.at("name").as_string()); name.starts_with("verdict."))
      seen += name + " " + std::string(one.at("state").as_string()) + ", " + std::string(one.at("detail").as_string()) +
              "\n";
  CHECK(seen == "verdict.cpu supported, exact: run segments\n"
                "verdict.blkio absent, advisor-interference does not judge it\n"
                "verdict.memory absent, advisor-interference does not judge it\n"
                "verdict.cache absent, advisor-interference does not judge it\n");
  const json::array resources = node.ask().at("resources").as_array();
  CHECK(resources[0].at("method") == "exact");
  CHECK(resources[1].at("method") == "");
  CHECK(node.text() ==
        "Nothing holds a container up now.\n"
        "Judged: cpu (exact). Not judged: blkio, memory, cache; koordctl capabilities has the reasons.\n");
  node.plugins[0].state = host::PluginState::disabled;
  node.capabilities.forget("advisor-interference");
  CHECK(node.ask().at("resources").as_array()[0].at("detail") == "the feature gate InterferenceCollector is off");
}

TEST_CASE("a third-party verdict is marked, and its text cannot send control characters to the terminal") {
  JudgedNode node;
  verdict::Record record = about_cart(node.clock.now());
  record.statistic = {"\x1b[2Jclean", "x\ny", 1e300, verdict::kUnknown, -0.5};
  record.note = "a\nb\x07";
  record.suspects[0].name = "\x1b]0;owned\x07";
  record.others = {{"m\n", "\r0"}};
  record.windows_over = record.windows_seen = 0;
  node.post(std::move(record), "com.acme.judge", verdict::Origin::third_party);
  const std::string text = node.text();
  CHECK_MESSAGE(text.find("by plugin com.acme.judge") != std::string::npos, text);
  for (const char c : text) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
  CHECK(std::count(text.begin(), text.end(), '\n') == 7);
}

TEST_CASE("the matrix has the pairs of the last window, the longest wait first, and an old one is left out") {
  JudgedNode node;
  const metric::Labels cart = labels("u1", "shop", "cart", "app"), etl_labels = labels("u2", "batch", "etl", "main");
  node.record_wait(2, cart, "kernel threads", 0.004);
  node.record_wait(2, cart, "batch/etl/main", 0.038);
  node.record_wait(4, etl_labels, "shop/cart/app", 0.010);
  node.record_wait(4, etl_labels, "idle", 0);
  const json::value all = json::parse(node.get(get_wait_matrix, "").body);
  const json::object matrix = all.at("matrices").as_array().at(0).as_object();
  CHECK(matrix.at("resource") == "cpu");
  CHECK(matrix.at("to").to_number<double>() - matrix.at("from").to_number<double>() == doctest::Approx(1));
  const json::array pairs = matrix.at("pairs").as_array();
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[0].at("victim").at("name") == "shop/cart/app");
  CHECK(pairs[0].at("culprit").at("name") == "batch/etl/main");
  CHECK(pairs[0].at("value") == 0.038);
  CHECK(pairs[1].at("victim").at("name") == "batch/etl/main");
  const auto text = ctl::render_matrix(node.get(get_wait_matrix, "pod=cart&limit=1").body);
  REQUIRE(text);
  CHECK_MESSAGE(text->ends_with(", window 1.00s, by advisor-interference\n"
                                "VICTIM         WAITED FOR         WAIT\n"
                                "shop/cart/app  batch/etl/main  38 ms/s\n"
                                "and 1 shorter pairs\n"),
                *text);
  CHECK(json::parse(node.get(get_wait_matrix, "resource=memory").body).at("matrices").as_array().empty());
  CHECK(node.get(get_wait_matrix, "limit=x").status == 400);
  node.clock.advance(3s);
  CHECK(*ctl::render_matrix(node.get(get_wait_matrix, "").body) == "No window yet.\n");
}
