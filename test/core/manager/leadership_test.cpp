// SPDX-License-Identifier: Apache-2.0
#include "core/manager/leadership.hpp"

#include <doctest/doctest.h>

#include "core/kube/client.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord;
using namespace koord::manager;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

// Shorter than the real times, in the same proportions, to shorten the tests.
constexpr LeaseTiming kTiming{3s, 2s, 500ms};
const char* const kCertificateUser = "koordetector";  // the user of the client certificate

TestCluster& cluster() {
  static TestCluster cluster;
  return cluster;
}

struct Candidate {
  Candidate(LoopHere& here, const std::string& name, const std::string& lease, const std::string& kubeconfig)
      : client(here.loop, here.workers, clock, *kube::find_config(kubeconfig), {}),
        leadership(here.loop, clock, client, {{"koordetector", lease}, name, kTiming},
                   [this](bool leads) { reported_leads = leads; }) {}

  SystemClock clock;
  kube::Client client;
  bool reported_leads = false;
  Leadership leadership;
};

struct Two : LoopHere {
  explicit Two(const std::string& lease)
      : a(loop_here(), "a", lease, cluster().kubeconfig()),
        b(loop_here(), "b", lease, cluster().kubeconfig_with_certificate()) {
    cluster().clear_faults();
  }
  LoopHere& loop_here() { return *this; }

  // Runs until the condition holds, and checks that both never lead at the same time.
  bool until_safe(const std::function<bool()>& condition) {
    return until([&] {
      REQUIRE_FALSE((a.leadership.leads() && b.leadership.leads()));
      return condition();
    });
  }
  Candidate& leader() { return a.leadership.leads() ? a : b; }
  Candidate& other() { return a.leadership.leads() ? b : a; }
  bool has_leader() { return a.leadership.leads() || b.leadership.leads(); }

  Candidate a, b;
};

}  // namespace

TEST_CASE("one of two replicas leads, both know the leader, and the lease is renewed") {
  Two two("one-leads");
  REQUIRE(two.until_safe([&] { return two.has_leader(); }));
  const std::string leader = &two.leader() == &two.a ? "a" : "b";
  REQUIRE(two.until_safe([&] { return two.other().leadership.holder() == leader; }));
  REQUIRE(two.until_safe([&] { return two.leader().reported_leads; }));
  CHECK_FALSE(two.other().reported_leads);
  const std::string before = *cluster().get("Lease", "one-leads", "koordetector");
  REQUIRE(two.until_safe([&] { return *cluster().get("Lease", "one-leads", "koordetector") != before; }));
  CHECK(two.leader().leadership.leads());
}

TEST_CASE("a leader that ends gives the lease up, and the other leads at once") {
  Two two("release");
  REQUIRE(two.until_safe([&] { return two.has_leader(); }));
  Candidate &old = two.leader(), &next = two.other();
  REQUIRE(two.until_safe([&] { return !next.leadership.holder().empty(); }));
  bool released = false;
  old.leadership.release([&] { released = true; });
  CHECK_FALSE(old.leadership.leads());
  REQUIRE(two.until_safe([&] { return released && next.leadership.leads(); }));
}

TEST_CASE("a leader that the API server does not answer ceases to lead before the other begins") {
  Two two("partition");
  REQUIRE(two.until_safe([&] { return two.has_leader(); }));
  Candidate &old = two.leader(), &next = two.other();
  const bool is_token = &old == &two.a;
  const std::string user = is_token ? "system:serviceaccount:koordinator-system:koordetector" : kCertificateUser;
  cluster().fault("hang", R"({"user": ")" + user + "\"}");
  REQUIRE(two.until_safe([&] { return !old.leadership.leads(); }));
  CHECK_FALSE(next.leadership.leads());
  REQUIRE(two.until_safe([&] { return !old.reported_leads; }));
  REQUIRE(two.until_safe([&] { return next.leadership.leads(); }));
  CHECK(old.leadership.problem() != "");
  cluster().clear_faults();
  REQUIRE(two.until_safe([&] { return old.leadership.problem().empty() && !old.leadership.holder().empty(); }));
  CHECK(next.leadership.leads());
  CHECK(next.leadership.transitions() == 1);
}

TEST_CASE("a refused or unreadable lease gives no leadership, and is named") {
  for (const char* fault : {"deny", "garbage", "error"}) {
    CAPTURE(fault);
    LoopHere here;
    cluster().clear_faults();
    const std::string code = fault == std::string("error") ? R"(, "code": 500)" : "";
    cluster().fault(fault, R"({"kind": "Lease")" + code + "}");
    Candidate one(here, "one", std::string("bad-") + fault, cluster().kubeconfig());
    REQUIRE(here.until([&] { return !one.leadership.problem().empty(); }));
    CHECK_FALSE(one.leadership.leads());
    cluster().clear_faults();
    REQUIRE(here.until([&] { return one.leadership.leads(); }));
  }
}

TEST_CASE("a leader reserves versions with each write of the lease, and the next one gets the last of them") {
  LoopHere here;
  cluster().clear_faults();
  SystemClock clock;
  kube::Client client(here.loop, here.workers, clock, *kube::find_config(cluster().kubeconfig()), {});
  std::vector<std::uint64_t> found, reserved;
  const auto options_of = [&](const std::string& name) {
    Leadership::Options options{{"koordetector", "versions"}, name, kTiming};
    options.reserve = [&](std::uint64_t in_lease) {
      found.push_back(in_lease);
      return in_lease + 5;
    };
    options.on_reserved = [&](std::uint64_t versions) { reserved.push_back(versions); };
    return options;
  };
  std::uint64_t last = 0;
  {
    bool leads = false, is_released = false;
    Leadership a(here.loop, clock, client, options_of("a"), [&](bool now) { leads = now; });
    REQUIRE(here.until([&] { return leads && reserved.size() >= 2; }));
    CHECK(reserved.front() == 5);
    a.release([&] { is_released = true; });
    REQUIRE(here.until([&] { return is_released; }));
    last = found.back() + 5;
  }
  found.clear();
  bool leads = false;
  Leadership b(here.loop, clock, client, options_of("b"), [&](bool now) { leads = now; });
  REQUIRE(here.until([&] { return leads; }));
  CHECK(found.front() == last);
}
