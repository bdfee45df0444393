// SPDX-License-Identifier: Apache-2.0
#include "core/state/kubelet_source.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <utility>

#include "core/base/manual_clock.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::state;
using namespace std::chrono_literals;
using koord::test::FakeNode;

namespace {

constexpr const char* kOnePod = R"({"kind":"PodList","apiVersion":"v1","items":[
  {"metadata":{"name":"web","namespace":"shop","uid":"u1"},"spec":{"containers":[{"name":"app"}]},"status":{"phase":"Running","qosClass":"Burstable"}}]})";
constexpr const char* kTwoPods = R"({"items":[
  {"metadata":{"name":"web","namespace":"shop","uid":"u1"},"spec":{"containers":[{"name":"app"}]},"status":{"phase":"Running","qosClass":"Burstable"}},
  {"metadata":{"name":"db","namespace":"shop","uid":"u2"},"spec":{"containers":[{"name":"app"}]},"status":{"phase":"Running","qosClass":"Burstable"}}]})";
constexpr const char* kConfig =
    R"({"kubeletconfig":{"cgroupDriver":"cgroupfs","cgroupRoot":"/","cpuManagerPolicy":"static"}})";

Result<kube::Reply> answer(unsigned status, std::string body) {
  return kube::Reply{.status = status, .body = std::move(body)};
}
Result<kube::Reply> no_answer() { return Error{std::make_error_code(std::errc::timed_out), "no answer"}; }

// A kubelet with recorded answers: one answer per path, repeated for each request.
struct Kubelet {
  class Asked final : public kube::Client::Pending {};

  Kubelet() {
    node.write("cgroup/cgroup.controllers", "cpu memory\n");
    node.make_directory("cgroup/kubepods/burstable/podu1/c1");
    node.make_directory("cgroup/kubepods/burstable/podu2/c2");
  }

  void begin(const KubeletSource::Options& options) {
    source.emplace(
        KubeletSource::Parts{loop, workers, clock, hub, *cgroup::Layout::detect(node.roots())}, options,
        KubeletSource::Handlers{[this](const KubeletSource::Answer& a) {
                                  reported.push_back(std::string(a.path) + " " + std::to_string(a.status));
                                },
                                [this](const PodPlaces& found) {
                                  root = found.root;
                                  others = found.others;
                                },
                                [this](const KubeletSource::Status&) { ++status_changes; }, [this] { ++moved; }});
    begin_client();
  }
  void begin_client() {
    source->begin([this](const kube::Call& call, kube::Client::OnPiece on_piece, kube::Client::OnReply on_reply) {
      return send(call, on_piece ? in_pieces(std::move(on_piece), std::move(on_reply)) : std::move(on_reply));
    });
  }
  // Delivers the body of a successful answer in pieces, as a client does while it downloads.
  static kube::Client::OnReply in_pieces(kube::Client::OnPiece on_piece, kube::Client::OnReply on_reply) {
    return [on_piece = std::move(on_piece), on_reply = std::move(on_reply)](Result<kube::Reply> reply) {
      constexpr std::size_t kPiece = 7;
      for (std::size_t at = 0; reply && reply->ok() && at < reply->body.size(); at += kPiece) {
        if (Result<void> taken = on_piece(std::string_view(reply->body).substr(at, kPiece)); !taken)
          return on_reply(taken.error());
      }
      if (reply && reply->ok()) reply->body.clear();
      on_reply(std::move(reply));
    };
  }
  kube::Client::PendingPtr send(const kube::Call& call, kube::Client::OnReply on_reply) {
    ++asked[call.target];
    timeout = call.timeout;
    if (call.target == held) {
      held_replies.push_back(std::move(on_reply));
      return std::make_unique<Asked>();
    }
    loop.post([this, target = call.target, on_reply = std::move(on_reply)] { on_reply(answers.at(target)); });
    return std::make_unique<Asked>();
  }

  bool run_until(const std::function<bool()>& condition) {
    auto poll = loop.every(1ms, [&] {
      if (condition()) loop.stop();
    });
    auto limit = loop.after(60s, [&] { loop.stop(); });
    loop.run();
    return condition();
  }
  // Runs until this many more lists of pods were requested and handled.
  bool run_for(int answers_to_pods) {
    const int goal = asked["/pods"] + answers_to_pods + 1;
    return run_until([&] { return asked["/pods"] >= goal; });
  }
  std::size_t pods() const { return hub.current()->pods.size(); }

  FakeNode node;
  event::Loop loop;
  event::WorkerPool workers{2};
  ManualClock clock;
  Hub hub;
  std::map<std::string, Result<kube::Reply>> answers{{"/pods", answer(200, kOnePod)},
                                                     {"/configz", answer(200, kConfig)}};
  std::map<std::string, int> asked;
  std::string held;  // a path without an answer
  std::deque<kube::Client::OnReply> held_replies;
  std::vector<std::string> reported;
  Duration timeout{};
  int status_changes = 0, moved = 0;
  std::optional<cgroup::KubeRoot> root;
  std::vector<std::string> others;
  std::optional<KubeletSource> source;
};

const KubeletSource::Options kOften{.sync_period = 2ms};
const KubeletSource::Options kRarely{.sync_period = 1h, .hurry_gap = 0ms, .settle_time = 1h};

}  // namespace

TEST_CASE("pods and the kubelet's configuration are published, and the place of the pods is reported") {
  Kubelet kubelet;
  kubelet.begin(kRarely);
  REQUIRE(kubelet.run_until([&] { return kubelet.pods() == 1 && kubelet.hub.current()->kubelet; }));
  CHECK(kubelet.hub.current()->pods[0].name == "web");
  CHECK(kubelet.hub.current()->pods[0].cgroup_dir == "kubepods/burstable/podu1");
  CHECK(kubelet.hub.current()->kubelet->cpu_manager_policy == "static");
  CHECK(kubelet.hub.confirmed(kPods) == kubelet.clock.now());
  REQUIRE(kubelet.run_until([&] { return kubelet.root.has_value(); }));
  CHECK(kubelet.root->dir == "kubepods");
  CHECK(kubelet.source->status() == KubeletSource::Status());
  CHECK(kubelet.timeout == 3s);
}

TEST_CASE("a kubelet that is down for 30 minutes leaves the pods as they were, and old") {
  Kubelet kubelet;
  kubelet.begin(kOften);
  REQUIRE(kubelet.run_until([&] { return kubelet.pods() == 1; }));
  kubelet.answers.at("/pods") = no_answer();
  REQUIRE(kubelet.run_until([&] { return !kubelet.source->status().pods_problem.empty(); }));
  const Time last = *kubelet.hub.confirmed(kPods);
  const std::uint64_t version = kubelet.hub.current()->versions.pods;
  for (int minute = 0; minute < 30; ++minute) {
    kubelet.clock.advance(1min);
    REQUIRE(kubelet.run_for(1));
  }
  CHECK(kubelet.pods() == 1);
  CHECK(kubelet.hub.current()->versions.pods == version);
  CHECK(kubelet.clock.now() - *kubelet.hub.confirmed(kPods) >= 30min);
  CHECK(*kubelet.hub.confirmed(kPods) == last);
  CHECK(kubelet.source->status().pods_problem == "/pods: no answer");

  kubelet.answers.at("/pods") = answer(200, kTwoPods);
  REQUIRE(kubelet.run_until([&] { return kubelet.pods() == 2; }));
  CHECK(*kubelet.hub.confirmed(kPods) == kubelet.clock.now());
  CHECK(kubelet.run_until([&] { return kubelet.source->status().pods_problem.empty(); }));
}

TEST_CASE("an invalid answer leaves the pods as they were, and the reason is reported") {
  const std::string in_reason[] = {"/pods: 500",
                                   "/pods: 503",
                                   "/pods: 401",
                                   "/pods: 403",
                                   "/pods: 204",
                                   "",
                                   "",
                                   "/pods: no pods are listed",
                                   "/pods: no pods are listed",
                                   ""};
  const Result<kube::Reply> bad[] = {answer(500, "internal error"),
                                     answer(503, ""),
                                     answer(401, "Unauthorized"),
                                     answer(403, "Forbidden (user=agent, verb=get, resource=nodes, subresource=proxy)"),
                                     answer(204, ""),
                                     answer(200, ""),
                                     answer(200, "<html>not a list</html>"),
                                     answer(200, R"({"items":[]})"),
                                     answer(200, R"({"items":null})"),
                                     answer(200, R"({"kind":"NodeList","items":[{"metadata":{"name":"n"}}]})")};
  for (std::size_t i = 0; i < std::size(bad); ++i) {
    Kubelet kubelet;
    kubelet.begin(kOften);
    REQUIRE(kubelet.run_until([&] { return kubelet.pods() == 1; }));
    const Time last = kubelet.clock.now();
    kubelet.clock.advance(1min);
    kubelet.answers.at("/pods") = bad[i];
    REQUIRE(kubelet.run_until([&] { return !kubelet.source->status().pods_problem.empty(); }));
    // The answer to a request that was in progress during the change may have been valid.
    kubelet.clock.advance(1min);
    REQUIRE(kubelet.run_for(2));
    INFO(kubelet.source->status().pods_problem);
    CHECK(kubelet.pods() == 1);
    CHECK(*kubelet.hub.confirmed(kPods) < kubelet.clock.now());
    CHECK(*kubelet.hub.confirmed(kPods) >= last);
    CHECK(kubelet.source->status().pods_problem.find(in_reason[i]) != std::string::npos);
    CHECK(kubelet.source->status().failures > 0);
  }
}

TEST_CASE("a problem is reported when it comes, changes and goes, not each time") {
  Kubelet kubelet;
  kubelet.answers.at("/pods") = no_answer();
  kubelet.begin(kOften);
  REQUIRE(kubelet.run_for(10));
  CHECK(kubelet.status_changes == 1);
  kubelet.answers.at("/pods") = answer(500, "");
  REQUIRE(kubelet.run_for(10));
  CHECK(kubelet.status_changes == 2);
  kubelet.answers.at("/pods") = answer(200, kOnePod);
  REQUIRE(kubelet.run_for(10));
  CHECK(kubelet.status_changes == 3);
}

TEST_CASE("while an answer is awaited no request is sent, and a hurried one follows it") {
  Kubelet kubelet;
  kubelet.held = "/pods";
  kubelet.begin(kRarely);
  REQUIRE(kubelet.run_until([&] { return kubelet.held_replies.size() == 1; }));
  for (int i = 0; i < 3; ++i) {
    kubelet.source->request();
    bool done = false;
    kubelet.loop.post([&] { done = true; });
    REQUIRE(kubelet.run_until([&] { return done; }));
  }
  CHECK(kubelet.asked["/pods"] == 1);
  kubelet.held_replies.front()(answer(200, kOnePod));
  REQUIRE(kubelet.run_until([&] { return kubelet.held_replies.size() == 2; }));
  CHECK(kubelet.pods() == 1);
  CHECK(kubelet.asked["/pods"] == 2);
}

TEST_CASE("a hurried request is sent at once, and again when the kubelet had time to list new containers") {
  Kubelet kubelet;
  KubeletSource::Options options = kRarely;
  options.settle_time = 10ms;
  kubelet.begin(options);
  REQUIRE(kubelet.run_until([&] { return kubelet.pods() == 1; }));
  const int before = kubelet.asked["/pods"];
  kubelet.source->request();
  REQUIRE(kubelet.run_until([&] { return kubelet.asked["/pods"] == before + 2; }));
}

TEST_CASE("the second of these requests follows an answer that takes longer") {
  Kubelet kubelet;
  KubeletSource::Options options = kRarely;
  options.settle_time = 10ms;
  kubelet.begin(options);
  REQUIRE(kubelet.run_until([&] { return kubelet.pods() == 1; }));
  const int before = kubelet.asked["/pods"];
  kubelet.held = "/pods";
  kubelet.source->request();
  REQUIRE(kubelet.run_until([&] { return kubelet.held_replies.size() == 1; }));
  bool settled = false;
  const auto timer = kubelet.loop.after(options.settle_time, [&] { settled = true; });
  REQUIRE(kubelet.run_until([&] { return settled; }));
  CHECK(kubelet.asked["/pods"] == before + 1);
  kubelet.held.clear();
  kubelet.held_replies.front()(answer(200, kOnePod));
  REQUIRE(kubelet.run_until([&] { return kubelet.asked["/pods"] == before + 2; }));
}

TEST_CASE("those who hurry wait until the last request is old enough") {
  Kubelet kubelet;
  KubeletSource::Options options = kRarely;
  options.hurry_gap = 50ms;
  kubelet.begin(options);
  REQUIRE(kubelet.run_until([&] { return kubelet.pods() == 1; }));
  const auto begun = std::chrono::steady_clock::now();
  const int before = kubelet.asked["/pods"];
  for (int i = 0; i < 5; ++i) kubelet.source->request();
  REQUIRE(kubelet.run_until([&] { return kubelet.asked["/pods"] > before; }));
  CHECK(std::chrono::steady_clock::now() - begun >= 40ms);
  CHECK(kubelet.asked["/pods"] == before + 1);
}

TEST_CASE("the configuration is asked for until it is known, then rarely, and again when the kubelet was unavailable") {
  Kubelet kubelet;
  kubelet.answers.at("/configz") = answer(403, "Forbidden");
  kubelet.begin(kOften);
  REQUIRE(kubelet.run_until([&] { return kubelet.asked["/configz"] >= 3 && kubelet.pods() == 1; }));
  CHECK(kubelet.source->status().config_problem == "/configz: 403: Forbidden");
  kubelet.answers.at("/configz") = answer(200, kConfig);
  REQUIRE(kubelet.run_until([&] { return kubelet.source->status().config_problem.empty(); }));
  int known = kubelet.asked["/configz"];
  REQUIRE(kubelet.run_for(10));
  CHECK(kubelet.asked["/configz"] == known);

  kubelet.clock.advance(11min);
  REQUIRE(kubelet.run_until([&] { return kubelet.asked["/configz"] == known + 1; }));
  kubelet.answers.at("/pods") = no_answer();
  REQUIRE(kubelet.run_until([&] { return !kubelet.source->status().pods_problem.empty(); }));
  REQUIRE(kubelet.run_for(3));
  known = kubelet.asked["/configz"];
  kubelet.answers.at("/pods") = answer(200, kOnePod);
  CHECK(kubelet.run_until([&] { return kubelet.asked["/configz"] == known + 1; }));
}

TEST_CASE("a configuration that was known and could not be asked for again is asked for until it can be") {
  Kubelet kubelet;
  kubelet.begin(kOften);
  // The strand handles the configuration before the second list, so it is known before the clock moves.
  REQUIRE(kubelet.run_for(3));
  REQUIRE(kubelet.asked["/configz"] == 1);
  kubelet.answers.at("/configz") = no_answer();
  kubelet.clock.advance(11min);
  REQUIRE(kubelet.run_until([&] { return !kubelet.source->status().config_problem.empty(); }));
  kubelet.answers.at("/configz") = answer(200, kConfig);
  CHECK(kubelet.run_until([&] { return kubelet.source->status().config_problem.empty(); }));
}

TEST_CASE("a configuration that moves the pods' directories has them computed again at once") {
  Kubelet kubelet;
  for (const char* path : {"podu1/c1", "podu1", "podu2/c2", "podu2"})
    kubelet.node.remove(std::string("cgroup/kubepods/burstable/") + path);
  kubelet.held = "/configz";
  kubelet.begin(kRarely);
  REQUIRE(kubelet.run_until([&] { return kubelet.pods() == 1; }));
  CHECK(kubelet.hub.current()->pods[0].cgroup_dir == "kubepods/burstable/podu1");
  kubelet.held_replies.front()(answer(200, R"({"kubeletconfig":{"cgroupDriver":"systemd","cgroupRoot":"/kubelet"}})"));
  CHECK(kubelet.run_until([&] {
    return kubelet.hub.current()->pods[0].cgroup_dir ==
           "kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-podu1.slice";
  }));
}

TEST_CASE("every answer is recorded with its path and status, none as 0") {
  Kubelet kubelet;
  kubelet.answers.at("/pods") = no_answer();
  kubelet.begin(kRarely);
  REQUIRE(kubelet.run_until([&] { return kubelet.reported.size() == 2; }));
  CHECK(kubelet.reported == std::vector<std::string>{"/pods 0", "/configz 200"});
}

TEST_CASE("with another client what the one before was asked is forgotten") {
  Kubelet kubelet;
  kubelet.held = "/pods";
  kubelet.begin(kRarely);
  REQUIRE(kubelet.run_until([&] { return kubelet.held_replies.size() == 1; }));
  kubelet.held.clear();
  kubelet.begin_client();
  CHECK(kubelet.run_until([&] { return kubelet.pods() == 1; }));
  kubelet.source->end();
  const auto asked = kubelet.asked;
  kubelet.source->request();
  bool done = false;
  kubelet.loop.post([&] { done = true; });
  REQUIRE(kubelet.run_until([&] { return done; }));
  CHECK(kubelet.asked == asked);
}

TEST_CASE("the tree with the listed pods is used, and another one with pods is named") {
  Kubelet kubelet;
  kubelet.node.make_directory("cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podother.slice");
  kubelet.answers.at("/configz") = answer(403, "");
  kubelet.begin(kRarely);
  REQUIRE(kubelet.run_until([&] { return kubelet.root.has_value(); }));
  CHECK(kubelet.root->dir == "kubepods");
  CHECK(kubelet.others == std::vector<std::string>{"kubepods.slice"});
  CHECK(kubelet.hub.current()->pods[0].cgroup_dir == "kubepods/burstable/podu1");
}

TEST_CASE("if another source knows the pods only the configuration is requested, and its effects are published") {
  Kubelet kubelet;
  kubelet.node.make_directory("cgroup/elsewhere/kubepods/burstable/podu1/c1");
  kubelet.answers.at("/configz") =
      answer(200, R"({"kubeletconfig":{"cgroupDriver":"cgroupfs","cgroupRoot":"/elsewhere"}})");
  KubeletSource::Options options = kOften;
  options.pods = false;
  kubelet.begin(options);
  REQUIRE(kubelet.run_until([&] { return kubelet.moved > 0; }));
  CHECK(kubelet.hub.current()->kubelet->cgroup_root == "/elsewhere");
  CHECK(kubelet.asked["/pods"] == 0);
  kubelet.source->request();
  kubelet.answers.at("/configz") = no_answer();
  REQUIRE(kubelet.run_until([&] { return kubelet.asked["/configz"] >= 1; }));
  CHECK(kubelet.asked["/pods"] == 0);
}
