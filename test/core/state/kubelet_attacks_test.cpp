// SPDX-License-Identifier: Apache-2.0
// Answers to /pods that are not a list of this node's pods, as a broken kubelet or a proxy may send them. The last
// valid list stays, the fault is named, and no pod is treated as ended.
#include <doctest/doctest.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/manual_clock.hpp"
#include "core/http/async_client.hpp"
#include "core/state/kubelet_source.hpp"
#include "test/core/http/scripted_server.hpp"
#include "test/support/fake_node.hpp"
#include "test/support/loop_here.hpp"

using namespace koord;
using namespace koord::state;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

std::string listed_pod(const std::string& name, const std::string& uid, const std::string& node = "this-node") {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"shop","uid":")" + uid + R"("},"spec":{"nodeName":")" +
         node + R"(","containers":[{"name":"app"}]},"status":{"phase":"Running","qosClass":"Burstable"}})";
}

const std::string kList =
    R"({"kind":"PodList","items":[)" + listed_pod("web", "u1") + "," + listed_pod("db", "u2") + "]}";
const std::string kHalf = kList.substr(0, kList.size() / 2 + 60);  // contains the first pod completely

std::string in_chunks(const std::string& text) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(size) + text + "\r\n";
}

std::string with_length(const std::string& body, std::size_t length, const std::string& status = "200 OK") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n" + body;
}

struct Attack {
  const char* name;
  std::string answer;  // after it the connection ends
  const char* problem;
};

std::vector<Attack> attacks() {
  return {
      {"a list that is cut, with the length of the rest", answer_with(kHalf), "/pods: not JSON"},
      {"a body shorter than its length", with_length(kHalf, kList.size()), "the answer broke off"},
      {"a whole list shorter than its length", with_length(kList, kList.size() + 1), "the answer broke off"},
      {"a body longer than its length", with_length(kList, kHalf.size()), "/pods: not JSON"},
      {"a body until the connection ends, cut", "HTTP/1.1 200 OK\r\n\r\n" + kHalf, "/pods: "},
      {"an end in the middle of a chunk", in_chunks(kList).substr(0, in_chunks(kList).size() - 40),
       "the answer broke off"},
      {"an end between two chunks", in_chunks(kHalf), "the answer broke off"},
      {"an end before the last chunk, after a whole list", in_chunks(kList), "the answer broke off"},
      {"a chunk with a size that is not a number",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + kList, "/pods: "},
      {"an end before the header", "HTTP/1.1 200", "/pods: "},
      {"206", with_length(kHalf, kHalf.size(), "206 Partial Content"), "/pods: 206"},
      {"a redirect", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/pods\r\nContent-Length: 0\r\n\r\n",
       "/pods: 302"},
      {"no body", answer_with(""), "/pods: not JSON"},
      {"a page of HTML", answer_with("<html><body>sign in</body></html>", "Content-Type: text/html\r\n"), "not JSON"},
      {"a list with a page behind it", answer_with(kList + "<html>"), "not JSON: extra data"},
      {"two lists", answer_with(kList + kList), "not JSON: extra data"},
      {"null", answer_with("null"), "expected a mapping, found nothing"},
      {"a list without an object around it", answer_with("[" + listed_pod("web", "u1") + "]"),
       "expected a mapping, found a list"},
      {"a Status", answer_with(R"({"kind":"Status","status":"Failure","code":500})"),
       "kind: expected 'PodList', found 'Status'"},
      {"a list of another kind", answer_with(R"({"kind":"NodeList","items":[{"metadata":{"name":"n"}}]})"),
       "found 'NodeList'"},
      {"items: null", answer_with(R"({"kind":"PodList","items":null})"),
       "no pods are listed while cgroups of pods are there"},
      {"no items", answer_with(R"({"kind":"PodList","items":[]})"),
       "no pods are listed while cgroups of pods are there"},
      {"items that are a mapping", answer_with(R"({"kind":"PodList","items":{}})"),
       "items: expected a list, found a mapping"},
      {"a list without items", answer_with(R"({"kind":"PodList"})"), "items: expected a list, found nothing"},
  };
}

// Returns lists in which each item is invalid.
std::vector<Attack> lists_without_a_usable_pod() {
  return {
      {"items of another kind", answer_with(R"({"items":[{"kind":"Node","metadata":{"name":"n"}}]})"),
       "no listed pod is usable: items[0].kind"},
      {"items that are no objects", answer_with(R"({"kind":"PodList","items":[null,1,"web"]})"),
       "no listed pod is usable: items[0]"},
      {"the pods of another node", answer_with(R"({"items":[)" + listed_pod("x", "u9", "other-node") + "]}"),
       "no listed pod is usable: pod shop/x: spec.nodeName: found 'other-node'"},
      {"uids that climb", answer_with(R"({"items":[)" + listed_pod("x", "../x") + "]}"),
       "no listed pod is usable: pod shop/x: '../x' cannot be"},
  };
}

struct AttackedKubelet : LoopHere {
  // The containers of `web` exist if `web_runs`; the containers of `db` do not exist.
  explicit AttackedKubelet(bool web_runs = true) {
    node.write("cgroup/cgroup.controllers", "cpu memory\n");
    node.make_directory(std::string("cgroup/kubepods/burstable/podu1") + (web_runs ? "/c1" : ""));
    node.make_directory("cgroup/kubepods/burstable/podu2");
    state::Node this_node;
    this_node.name = "this-node";
    hub.publish({.node = std::move(this_node)});
    KubeletSource::Options options;
    options.node = "this-node";
    options.sync_period = 2ms;
    options.timeout = 60s;
    source.emplace(KubeletSource::Parts{loop, workers, clock, hub, *cgroup::Layout::detect(node.roots())}, options,
                   KubeletSource::Handlers{});
    source->begin([this](const kube::Call& call, kube::Client::OnPiece on_piece,
                         const kube::Client::OnReply& on_reply) { return ask(call, std::move(on_piece), on_reply); });
  }

  // Answers requests as kube::Client does, without TLS.
  class Asked final : public kube::Client::Pending {
   public:
    http::AsyncClient::PendingPtr pending;
  };
  kube::Client::PendingPtr ask(const kube::Call& call, kube::Client::OnPiece on_piece,
                               const kube::Client::OnReply& on_reply) {
    auto asked = std::make_unique<Asked>();
    http::AsyncRequest request{.target = call.target, .timeout = call.timeout};
    const auto on_answer = [on_reply](Result<http::ClientResponse> reply) {
      if (!reply) return on_reply(std::move(reply).error());
      on_reply(kube::Reply{.status = reply->status, .body = std::move(reply->body)});
    };
    asked->pending = on_piece ? client.stream(std::move(request), std::move(on_piece), on_answer)
                              : client.send(std::move(request), on_answer);
    return asked;
  }

  void serve(ScriptedServer::Peer& peer) {
    const bool asks_for_pods = peer.read_request().starts_with("GET /pods ");
    if (!asks_for_pods) {
      peer.send(
          answer_with(R"({"kubeletconfig":{"cgroupDriver":"cgroupfs","cgroupRoot":"/"}})", "Connection: close\r\n"));
      return;
    }
    std::string text;
    {
      const std::scoped_lock lock(mutex);
      ++lists;
      text = answer;
    }
    peer.send(text);
  }
  void answer_pods(std::string text) {
    const std::scoped_lock lock(mutex);
    answer = std::move(text);
  }
  // Waits until two more lists were requested and the first of them was handled.
  bool is_asked_twice() {
    const int goal = asked() + 2;
    return until([&] { return asked() >= goal; });
  }
  int asked() {
    const std::scoped_lock lock(mutex);
    return lists;
  }
  std::string problem() const { return source->status().pods_problem; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    const auto now = hub.current();  // keeps the pods during the loop
    for (const Pod& pod : now->pods) names.push_back(pod.name);
    return names;
  }

  void check_unharmed_by(const Attack& attack) {
    INFO(std::string(attack.name));
    const std::vector<std::string> both{"web", "db"};
    answer_pods(answer_with(kList));
    REQUIRE(until([&] { return names() == both && problem().empty(); }));
    answer_pods(attack.answer);
    CHECK_MESSAGE(until([&] { return problem().find(attack.problem) != std::string::npos; }, 10s), problem());
    clock.advance(1min);
    const Time now = clock.now();
    CHECK(is_asked_twice());
    CHECK(is_asked_twice());
    CHECK(names() == both);
    CHECK(*hub.confirmed(kPods) < now);
    CHECK(problem().starts_with("/pods: "));
  }

  std::mutex mutex;
  std::string answer = answer_with(kList);
  int lists = 0;
  FakeNode node;
  ManualClock clock;
  Hub hub;
  ScriptedServer server{[this](ScriptedServer::Peer& peer) { serve(peer); }};
  http::AsyncClient client{loop, workers, {.host = "127.0.0.1", .port = server.port()}};
  std::optional<KubeletSource> source;
};

}  // namespace

TEST_CASE("an answer that is not a list of pods: the last list stays, the fault is named, and no pod counts as gone") {
  AttackedKubelet kubelet;
  for (const Attack& attack : attacks()) kubelet.check_unharmed_by(attack);
}

TEST_CASE("a list without a usable pod is no list, also while no container runs") {
  AttackedKubelet kubelet(false);
  for (const Attack& attack : lists_without_a_usable_pod()) kubelet.check_unharmed_by(attack);
}
