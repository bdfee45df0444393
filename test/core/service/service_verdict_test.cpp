// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "core/log/capture.hpp"
#include "test/core/service/verdict_fixture.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
const std::string kText65(65, 'x'), kText257(257, 'x'), kText1025(1025, 'x');

}  // namespace

TEST_CASE_FIXTURE(Verdicts, "a posted verdict is listed word for word, with its plugin, its origin and its names") {
  koord_verdict posted = abi_verdict(cart);
  const koord_suspect suspects[] = {abi_suspect(KOORD_SUSPECT_SUBJECT, etl, "a name of the plugin's"),
                                    abi_suspect(KOORD_SUSPECT_KERNEL, KOORD_NO_SUBJECT)};
  const koord_label others[] = {label("cpu", "0.4 ms/s")};
  posted.suspects = suspects;
  posted.n_suspects = 2;
  posted.suspect_stride = sizeof suspects[0];
  posted.others = others;
  posted.n_others = 1;
  posted.other_stride = sizeof others[0];
  posted.note = str("swap is off");
  posted.ttl_ns = 5'000'000'000;
  REQUIRE(post(posted) == KOORD_OK);
  const Listed listed(*this);
  CHECK(service->generation(listed.list) == host.services().verdicts.generation());
  const std::vector<koord_verdict> verdicts = listed.verdicts();
  REQUIRE(verdicts.size() == 1);
  const koord_verdict& verdict = verdicts[0];
  CHECK(verdict.struct_size == sizeof verdict);
  CHECK(verdict.kind == posted.kind);
  CHECK(verdict.resource == posted.resource);
  CHECK(verdict.method == posted.method);
  CHECK(verdict.victim == cart);
  CHECK(verdict.from_ns == 1);
  CHECK(verdict.to_ns == 2);
  CHECK(verdict.windows_over == 3);
  CHECK(verdict.windows_seen == 5);
  CHECK(text(verdict.statistic) == "refaults");
  CHECK(text(verdict.statistic_unit) == "1/s");
  CHECK(verdict.value == 12);
  CHECK(std::isnan(verdict.baseline));
  CHECK(verdict.threshold == 10);
  CHECK(text(verdict.amount_unit) == "seconds/second");
  CHECK(verdict.own == 0.01);
  CHECK(verdict.throttled == 0);
  CHECK(std::isnan(verdict.unexplained));
  CHECK(text(verdict.note) == "swap is off");
  CHECK(verdict.ttl_ns == posted.ttl_ns);
  CHECK(verdict.id == 1);
  CHECK(verdict.since_ns == to_ns(host.clock().now()));
  CHECK(text(verdict.plugin) == "test");
  CHECK(text(verdict.victim_name) == "shop/cart/app");
  CHECK(verdict.origin == KOORD_ORIGIN_OWN);
  REQUIRE(verdict.n_suspects == 2);
  CHECK(verdict.suspect_stride == sizeof(koord_suspect));
  CHECK(verdict.suspects[0].subject == etl);
  CHECK(text(verdict.suspects[0].name) == "shop/etl/app");
  CHECK(verdict.suspects[0].value == 0.03);
  CHECK(verdict.suspects[0].share == 0.5);
  CHECK(verdict.suspects[0].excess == -0.01);
  CHECK(verdict.suspects[0].usage == 1.5);
  CHECK(std::isnan(verdict.suspects[0].request));
  CHECK(verdict.suspects[1].kind == KOORD_SUSPECT_KERNEL);
  REQUIRE(verdict.n_others == 1);
  CHECK(text(verdict.others[0].key) == "cpu");
  CHECK(text(verdict.others[0].value) == "0.4 ms/s");
}

TEST_CASE_FIXTURE(Verdicts, "a member outside of what it may be refuses the verdict, and the log names the plugin") {
  using Spoil = void (*)(koord_verdict&);
  const Spoil spoils[] = {
      [](koord_verdict& v) { v.struct_size = 0; },
      [](koord_verdict& v) { v.struct_size = 1u << 20; },
      [](koord_verdict& v) { v.kind = 0; },
      [](koord_verdict& v) { v.kind = 7; },
      [](koord_verdict& v) { v.resource = 0; },
      [](koord_verdict& v) { v.resource = 5; },
      [](koord_verdict& v) { v.method = 0; },
      [](koord_verdict& v) { v.method = 4; },
      [](koord_verdict& v) { v.victim = KOORD_NO_SUBJECT; },
      [](koord_verdict& v) { v.from_ns = 0; },
      [](koord_verdict& v) { v.from_ns = 3; },
      [](koord_verdict& v) { v.to_ns = UINT64_MAX; },
      [](koord_verdict& v) { v.windows_over = 6; },
      [](koord_verdict& v) { v.statistic = {}; },
      [](koord_verdict& v) {
        v.statistic = {nullptr, 3};
      },
      [](koord_verdict& v) { v.statistic = str("no \xff text"); },
      [](koord_verdict& v) { v.statistic = str(kText65); },
      [](koord_verdict& v) { v.statistic_unit = {}; },
      [](koord_verdict& v) { v.statistic_unit = str("\x1b[2J"); },
      [](koord_verdict& v) { v.amount_unit = str(kText65); },
      [](koord_verdict& v) { v.note = str(kText1025); },
      [](koord_verdict& v) { v.note = str("two\nlines"); },
      [](koord_verdict& v) {
        v.note = {"x", UINT64_MAX};
      },
      [](koord_verdict& v) { v.value = std::nan(""); },
      [](koord_verdict& v) { v.value = kInfinite; },
      [](koord_verdict& v) { v.value = -1; },
      [](koord_verdict& v) { v.baseline = -1; },
      [](koord_verdict& v) { v.threshold = kInfinite; },
      [](koord_verdict& v) { v.own = -0.1; },
      [](koord_verdict& v) { v.throttled = kInfinite; },
      [](koord_verdict& v) { v.unexplained = -kInfinite; },
      [](koord_verdict& v) { v.n_suspects = 1; },
      [](koord_verdict& v) { v.n_others = 1; },
      [](koord_verdict& v) { v.ttl_ns = 3'600'000'000'001; },
      [](koord_verdict& v) { v.ttl_ns = UINT64_MAX; },
      [](koord_verdict& v) { v.plugin = str("advisor-interference"); },
      [](koord_verdict& v) { v.origin = KOORD_ORIGIN_OWN; },
      [](koord_verdict& v) { v.id = 1; },
      [](koord_verdict& v) { v.since_ns = 1; },
      [](koord_verdict& v) { v.victim_name = str("shop/etl/app"); },
  };
  for (const Spoil& spoil : spoils) {
    koord_verdict bad = abi_verdict(cart);
    spoil(bad);
    const auto at = &spoil - spoils;
    CAPTURE(at);
    const log::Capture log;
    CHECK(post(bad) == KOORD_E_INVALID);
    CHECK(host.last_error().find("verdict 0: ") == 0);
    REQUIRE(log.lines().size() <= 1);  // each text once per hour
  }
  CHECK(standing().empty());
}

TEST_CASE_FIXTURE(Verdicts, "a suspect outside of what it may be refuses the verdict") {
  using Spoil = void (*)(koord_suspect&);
  const Spoil spoils[] = {
      [](koord_suspect& s) { s.struct_size = 0; },
      [](koord_suspect& s) { s.kind = 0; },
      [](koord_suspect& s) { s.kind = 5; },
      [](koord_suspect& s) { s.subject = KOORD_NO_SUBJECT; },
      [](koord_suspect& s) { s.share = 1.5; },
      [](koord_suspect& s) { s.share = -0.1; },
      [](koord_suspect& s) { s.share = kInfinite; },
      [](koord_suspect& s) { s.value = kInfinite; },
      [](koord_suspect& s) { s.value = -1; },
      [](koord_suspect& s) { s.usage = -1; },
      [](koord_suspect& s) { s.request = kInfinite; },
      [](koord_suspect& s) { s.excess = -kInfinite; },
      [](koord_suspect& s) { s.kind = KOORD_SUSPECT_OUTSIDE; },
      [](koord_suspect& s) { s.name = str(kText257); },
      [](koord_suspect& s) { s.name = str("\x9b\xff"); },
      [](koord_suspect& s) { s.kind = KOORD_SUSPECT_OTHER, s.subject = KOORD_NO_SUBJECT; },
  };
  for (const Spoil& spoil : spoils) {
    koord_verdict bad = abi_verdict(cart);
    koord_suspect suspect = abi_suspect(KOORD_SUSPECT_SUBJECT, etl);
    spoil(suspect);
    bad.suspects = &suspect;
    bad.n_suspects = 1;
    bad.suspect_stride = sizeof suspect;
    const auto at = &spoil - spoils;
    CAPTURE(at);
    CHECK(post(bad) == KOORD_E_INVALID);
    CHECK(host.last_error().find("verdict 0: suspect 0: ") == 0);
  }
  koord_verdict bad = abi_verdict(cart);
  const koord_suspect itself = abi_suspect(KOORD_SUSPECT_SUBJECT, cart);
  bad.suspects = &itself;
  bad.n_suspects = 1;
  bad.suspect_stride = sizeof itself;
  CHECK(post(bad) == KOORD_E_INVALID);
  std::vector<koord_suspect> many(3, abi_suspect(KOORD_SUSPECT_KERNEL, KOORD_NO_SUBJECT));
  bad.suspects = many.data();
  bad.n_suspects = 3;
  CHECK(post(bad) == KOORD_E_INVALID);
  CHECK(host.last_error() == "verdict 0: the shares of the suspects are 1.500000 together, expected at most 1");
  many.assign(33, many[0]);
  bad.suspects = many.data();
  bad.n_suspects = 33;
  CHECK(post(bad) == KOORD_E_INVALID);
  CHECK(standing().empty());
}

TEST_CASE_FIXTURE(Verdicts, "a bad verdict refuses the whole post, and the verdicts of earlier posts stay") {
  REQUIRE(post(abi_verdict(cart)) == KOORD_OK);
  koord_verdict both[] = {abi_verdict(etl), abi_verdict(cart)};
  both[0].value = 99;
  both[1].kind = 0;
  CHECK(service->post(abi, both, 2, sizeof both[0]) == KOORD_E_INVALID);
  both[1] = abi_verdict(4711);
  CHECK(service->post(abi, both, 2, sizeof both[0]) == KOORD_E_GONE);
  CHECK(host.last_error() == "verdict 1: no pod or container has the handle 4711");
  REQUIRE(standing().size() == 1);
  CHECK(standing()[0]->statistic.value == 12);
}

TEST_CASE_FIXTURE(Verdicts, "the array of verdicts is checked, and its stride is the plugin's") {
  const koord_verdict verdict = abi_verdict(cart);
  CHECK(service->post(abi, nullptr, 1, sizeof verdict) == KOORD_E_INVALID);
  CHECK(service->post(abi, &verdict, 1, 2) == KOORD_E_INVALID);
  CHECK(service->post(abi, &verdict, 5000, sizeof verdict) == KOORD_E_INVALID);
  CHECK(service->post(abi, nullptr, 0, 0) == KOORD_OK);
  struct Newer {
    koord_verdict known;
    std::uint64_t added;
  };
  Newer newer[] = {{abi_verdict(cart), 0}, {abi_verdict(etl), 0}};
  for (Newer& one : newer) one.known.struct_size = sizeof one;
  CHECK(service->post(abi, &newer[0].known, 2, sizeof newer[0]) == KOORD_OK);
  newer[1].added = 1;
  CHECK(service->post(abi, &newer[0].known, 2, sizeof newer[0]) == KOORD_E_TOO_NEW);
  CHECK(standing().size() == 2);
}

TEST_CASE_FIXTURE(Verdicts,
                  "a suspect that has ended keeps its handle, and the name that a plugin of the node gives it") {
  koord_verdict verdict = abi_verdict(cart);
  const koord_suspect ended = abi_suspect(KOORD_SUSPECT_SUBJECT, 4711, "batch/etl-5/main");
  verdict.suspects = &ended;
  verdict.n_suspects = 1;
  verdict.suspect_stride = sizeof ended;
  REQUIRE(post(verdict) == KOORD_OK);
  CHECK(standing()[0]->suspects[0].name == "batch/etl-5/main");
  CHECK(standing()[0]->suspects[0].subject.labels.empty());
  service::PluginContext other(host.services(), "com.acme.rule", {"koord.verdict/1"}, "{}",
                               service::Rights{.host_plugin = false, .files = {}, .cgroups = {}});
  REQUIRE(service->post(other.host(), &verdict, 1, sizeof verdict) == KOORD_OK);
  CHECK(standing()[1]->suspects[0].subject.handle == 4711);
  CHECK(standing()[1]->suspects[0].name.empty());
}

TEST_CASE_FIXTURE(Verdicts, "suspects are listed by their values, unknown ones last") {
  koord_suspect suspects[] = {abi_suspect(KOORD_SUSPECT_OUTSIDE, KOORD_NO_SUBJECT, ""),
                              abi_suspect(KOORD_SUSPECT_KERNEL, KOORD_NO_SUBJECT, ""),
                              abi_suspect(KOORD_SUSPECT_OTHER, KOORD_NO_SUBJECT, "interrupts")};
  suspects[0].value = std::numeric_limits<double>::quiet_NaN();
  suspects[1].value = 0.01;
  suspects[2].value = 0.9;
  for (koord_suspect& one : suspects) one.share = 0.1;
  koord_verdict verdict = abi_verdict(cart);
  verdict.suspects = suspects;
  verdict.n_suspects = 3;
  verdict.suspect_stride = sizeof suspects[0];
  REQUIRE(post(verdict) == KOORD_OK);
  const std::vector<verdict::Suspect>& listed = standing()[0]->suspects;
  REQUIRE(listed.size() == 3);
  CHECK(listed[0].name == "interrupts");
  CHECK(listed[1].kind == verdict::SuspectKind::kernel);
  CHECK(listed[2].kind == verdict::SuspectKind::outside);
}

TEST_CASE_FIXTURE(Verdicts, "a plugin that was abandoned while it runs has no verdicts, and posts no further ones") {
  service::PluginContext hanging(host.services(), "com.acme.rule", {"koord.verdict/1"}, "{}");
  const koord_verdict verdict = abi_verdict(cart);
  REQUIRE(service->post(hanging.host(), &verdict, 1, sizeof verdict) == KOORD_OK);
  hanging.verdict_closer()("its plugin does not return");
  CHECK(standing().empty());
  CHECK(service->post(hanging.host(), &verdict, 1, sizeof verdict) == KOORD_E_GONE);
  CHECK(standing().empty());
}

TEST_CASE_FIXTURE(Verdicts, "a third party's verdict is marked as such, whatever its method") {
  service::PluginContext other(host.services(), "com.acme.rule", {"koord.verdict/1"}, "{}",
                               service::Rights{.host_plugin = false, .files = {}, .cgroups = {}});
  koord_verdict verdict = abi_verdict(cart);
  verdict.method = KOORD_METHOD_EXACT;
  REQUIRE(service->post(other.host(), &verdict, 1, sizeof verdict) == KOORD_OK);
  REQUIRE(post(abi_verdict(cart)) == KOORD_OK);
  const Listed listed(*this);
  const std::vector<koord_verdict> verdicts = listed.verdicts();
  REQUIRE(verdicts.size() == 2);
  CHECK(text(verdicts[0].plugin) == "com.acme.rule");
  CHECK(verdicts[0].origin == KOORD_ORIGIN_THIRD_PARTY);
  CHECK(verdicts[1].origin == KOORD_ORIGIN_OWN);
}

TEST_CASE_FIXTURE(Verdicts, "a plugin ends its own verdicts only") {
  service::PluginContext other(host.services(), "com.acme.rule", {"koord.verdict/1"}, "{}");
  REQUIRE(post(abi_verdict(cart)) == KOORD_OK);
  const auto end = [&](const koord_host* by, std::uint32_t kind, koord_str why) {
    return service->end(by, cart, KOORD_RESOURCE_MEMORY, kind, why);
  };
  CHECK(end(other.host(), KOORD_VERDICT_INTERFERED, str("not its own")) == KOORD_E_NOT_FOUND);
  CHECK(end(abi, KOORD_VERDICT_UNKNOWN, {}) == KOORD_E_NOT_FOUND);
  CHECK(end(abi, 0, {}) == KOORD_E_INVALID);
  CHECK(end(abi, KOORD_VERDICT_INTERFERED, str("\xff")) == KOORD_E_INVALID);
  CHECK(end(abi, KOORD_VERDICT_INTERFERED, str(kText1025)) == KOORD_E_INVALID);
  CHECK(service->end(abi, KOORD_NO_SUBJECT, KOORD_RESOURCE_MEMORY, KOORD_VERDICT_INTERFERED, {}) == KOORD_E_INVALID);
  CHECK(standing().size() == 1);
  CHECK(end(abi, KOORD_VERDICT_INTERFERED, str("10 s without a finding")) == KOORD_OK);
  CHECK(standing().empty());
  CHECK(host.services().verdicts.history()[0]->why_ended == "10 s without a finding");
}

TEST_CASE_FIXTURE(Verdicts, "verdicts end with their victim and with their plugin's session") {
  {
    service::PluginContext other(host.services(), "com.acme.rule", {"koord.verdict/1"}, "{}");
    for (const std::uint64_t victim : {cart, etl}) {
      const koord_verdict verdict = abi_verdict(victim);
      REQUIRE(service->post(other.host(), &verdict, 1, sizeof verdict) == KOORD_OK);
    }
    REQUIRE(post(abi_verdict(etl)) == KOORD_OK);
    publish({"cart"});
    REQUIRE(standing().size() == 1);
    CHECK(standing()[0]->victim.handle == cart);
  }
  CHECK(standing().empty());
  std::vector<std::string> reasons;
  for (const verdict::RecordPtr& record : host.services().verdicts.history()) reasons.push_back(record->why_ended);
  const std::string gone = "the pod or container has ended";
  CHECK(reasons == std::vector<std::string>{gone, gone, "its plugin has ended"});
  CHECK(post(abi_verdict(etl)) == KOORD_E_GONE);
}

TEST_CASE_FIXTURE(Verdicts, "a flood of verdicts is refused at the limit of the plugin, which is named once") {
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("pod-" + std::to_string(i));
  publish(names);
  service::PluginContext other(host.services(), "com.acme.rule", {"koord.verdict/1"}, "{}",
                               service::Rights{.host_plugin = false, .files = {}, .cgroups = {}});
  const log::Capture log;
  int refused = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const koord_verdict verdict = abi_verdict(handle(i));
    const koord_status status = service->post(other.host(), &verdict, 1, sizeof verdict);
    if (status != KOORD_OK) ++refused;
    CHECK((status == KOORD_OK || status == KOORD_E_AGAIN));
  }
  CHECK(standing().size() <= 256);
  CHECK(refused == 300 - static_cast<int>(standing().size()));
  REQUIRE(log.lines().size() == 1);
  CHECK(log.lines()[0].find("com.acme.rule: it has more than 256 standing verdicts") != std::string::npos);
  CHECK(post(abi_verdict(handle(0))) == KOORD_OK);
}
