// SPDX-License-Identifier: Apache-2.0
// koord.verdict/1 with valid and invalid arguments, in both runners.
#include "core/log/capture.hpp"
#include "test/core/child/both_runners.hpp"
#include "test/core/service/verdict_records.hpp"
#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr std::uint64_t kPodHandle = 1, kDockerHandle = 2;

using Change = std::function<void(koord_verdict&)>;

koord_status post(const Side& side, const Change& change = {}) {
  koord_verdict verdict = abi_verdict(kPodHandle);
  if (change) change(verdict);
  return side.call(&koord_svc_verdict::post, &verdict, 1, sizeof verdict);
}

koord_status post_with(const Side& side, const std::function<void(koord_suspect&)>& change) {
  koord_suspect suspect = abi_suspect(KOORD_SUSPECT_SUBJECT, kDockerHandle);
  if (change) change(suspect);
  return post(side, [&](koord_verdict& verdict) {
    verdict.suspects = &suspect;
    verdict.n_suspects = 1;
    verdict.suspect_stride = sizeof suspect;
  });
}

koord_status end(const Side& side, std::uint32_t kind, koord_str why) {
  return side.call(&koord_svc_verdict::end, kPodHandle, KOORD_RESOURCE_MEMORY, kind, why);
}

std::string text(koord_str text) { return {text.p, static_cast<std::size_t>(text.n)}; }

std::string described(const koord_verdict& verdict) {
  std::string line = std::to_string(verdict.id) + ' ' + text(verdict.plugin) + ' ' + std::to_string(verdict.origin) +
                     ' ' + text(verdict.victim_name) + ' ' + std::to_string(verdict.kind) + ' ' +
                     std::to_string(verdict.resource) + ' ' + std::to_string(verdict.method) + ' ' +
                     text(verdict.statistic) + '=' + std::to_string(verdict.value) + text(verdict.statistic_unit) +
                     " quiet " + std::to_string(verdict.baseline) + " ttl " + std::to_string(verdict.ttl_ns);
  for (std::uint32_t i = 0; i < verdict.n_suspects; ++i)
    line += ", " + std::to_string(verdict.suspects[i].subject) + ' ' + text(verdict.suspects[i].name) + ' ' +
            std::to_string(verdict.suspects[i].share);
  return line;
}

// Returns the verdicts of an acquired list. The counts are 77 before the call.
Reply listed(const Side& side, const koord_verdict_list* list) {
  std::uint32_t n = 77, stride = 77;
  const koord_verdict* verdicts = side.get(&koord_svc_verdict::verdicts, list, &n, &stride);
  std::string answer = std::to_string(n) + " of " + std::to_string(stride) + " bytes";
  for (std::uint32_t i = 0; verdicts && i < n; ++i) answer += "; " + described(verdicts[i]);
  return {verdicts ? KOORD_OK : kNothing, answer};
}

Reply list(const Side& side) {
  const koord_verdict_list* list = nullptr;
  if (const koord_status status = side.call(&koord_svc_verdict::acquire, &list); status != KOORD_OK) return status;
  Reply reply = listed(side, list);
  reply.answer += ", generation " + std::to_string(side.get(&koord_svc_verdict::generation, list));
  side.call(&koord_svc_verdict::release, list);
  return reply;
}

const std::string kText65(65, 'x');

// clang-format off
const RowsOf<koord_svc_verdict> kRows = {
    {"post", [](const Side& s) { return post(s); }, KOORD_OK},
    {"list", list, KOORD_OK, "1 of 256 bytes; 1 com.acme.x 2 web 1 3 3 refaults=12.0000001/s quiet nan ttl 60000000000, generation 2"},
    {"post with a suspect", [](const Side& s) { return post_with(s, {}); }, KOORD_OK},
    {"list with a suspect", list, KOORD_OK},
    {"list again", list, KOORD_OK},
    {"post none", [](const Side& s) { return s.call(&koord_svc_verdict::post, nullptr, 0, 0); }, KOORD_OK},
    {"post NULL", [](const Side& s) { return s.call(&koord_svc_verdict::post, nullptr, 1, sizeof(koord_verdict)); }, KOORD_E_INVALID},
    {"post too many", [](const Side& s) { const koord_verdict one = abi_verdict(kPodHandle); return s.call(&koord_svc_verdict::post, &one, 4097, sizeof one); }, KOORD_E_INVALID},
    {"post a short record", [](const Side& s) { return post(s, [](auto& v) { v.struct_size = 1; }); }, KOORD_E_INVALID},
    {"post no kind", [](const Side& s) { return post(s, [](auto& v) { v.kind = 99; }); }, KOORD_E_INVALID},
    {"post no resource", [](const Side& s) { return post(s, [](auto& v) { v.resource = 0; }); }, KOORD_E_INVALID},
    {"post no method", [](const Side& s) { return post(s, [](auto& v) { v.method = 0; }); }, KOORD_E_INVALID},
    {"post about nothing", [](const Side& s) { return post(s, [](auto& v) { v.victim = KOORD_NO_SUBJECT; }); }, KOORD_E_INVALID},
    {"post about an unknown subject", [](const Side& s) { return post(s, [](auto& v) { v.victim = 4711; }); }, KOORD_E_GONE},
    {"post from after to", [](const Side& s) { return post(s, [](auto& v) { v.from_ns = 3; }); }, KOORD_E_INVALID},
    {"post for the future", [](const Side& s) { return post(s, [](auto& v) { v.to_ns = UINT64_MAX; }); }, KOORD_E_INVALID},
    {"post for the future about an unknown subject", [](const Side& s) { return post(s, [](auto& v) { v.to_ns = UINT64_MAX, v.victim = 4711; }); }, KOORD_E_INVALID},
    {"post for too long", [](const Side& s) { return post(s, [](auto& v) { v.ttl_ns = UINT64_MAX; }); }, KOORD_E_INVALID},
    {"post NaN", [](const Side& s) { return post(s, [](auto& v) { v.value = std::nan(""); }); }, KOORD_E_INVALID},
    {"post NaN at no kind", [](const Side& s) { return post(s, [](auto& v) { v.value = std::nan(""), v.kind = 0; }); }, KOORD_E_INVALID},
    {"post a NULL statistic", [](const Side& s) { return post(s, [](auto& v) { v.statistic = {nullptr, 3}; }); }, KOORD_E_INVALID},
    {"post a long statistic", [](const Side& s) { return post(s, [](auto& v) { v.statistic = str(kText65); }); }, KOORD_E_INVALID},
    {"post a huge note", [](const Side& s) { return post(s, [](auto& v) { v.note = str(kHuge); }); }, KOORD_E_INVALID},
    {"post as another plugin", [](const Side& s) { return post(s, [](auto& v) { v.plugin = str("advisor-interference"); }); }, KOORD_E_INVALID},
    {"post an origin", [](const Side& s) { return post(s, [](auto& v) { v.origin = KOORD_ORIGIN_OWN; }); }, KOORD_E_INVALID},
    {"post a member of the future", [](const Side& s) { return post(s, [](auto& v) { v.rsv = 1; }); }, KOORD_E_TOO_NEW},
    {"post suspects NULL", [](const Side& s) { return post(s, [](auto& v) { v.n_suspects = 1; }); }, KOORD_E_INVALID},
    {"post others NULL", [](const Side& s) { return post(s, [](auto& v) { v.n_others = 1; }); }, KOORD_E_INVALID},
    {"post a share above 1", [](const Side& s) { return post_with(s, [](auto& p) { p.share = 1.5; }); }, KOORD_E_INVALID},
    {"post a suspect of no kind", [](const Side& s) { return post_with(s, [](auto& p) { p.kind = 0; }); }, KOORD_E_INVALID},
    {"post the victim as a suspect", [](const Side& s) { return post_with(s, [](auto& p) { p.subject = kPodHandle; }); }, KOORD_E_INVALID},
    {"post an unknown suspect", [](const Side& s) { return post_with(s, [](auto& p) { p.subject = 4711, p.name = str("etl"); }); }, KOORD_OK},
    {"list with an unknown suspect", list, KOORD_OK},

    {"end of no kind", [](const Side& s) { return end(s, 0, {}); }, KOORD_E_INVALID},
    {"end without a text", [](const Side& s) { return end(s, KOORD_VERDICT_INTERFERED, {nullptr, 3}); }, KOORD_E_INVALID},
    {"end what does not stand", [](const Side& s) { return end(s, KOORD_VERDICT_UNKNOWN, {}); }, KOORD_E_NOT_FOUND},
    {"end", [](const Side& s) { return end(s, KOORD_VERDICT_INTERFERED, str("it is quiet")); }, KOORD_OK},
    {"list none", list, kNothing},

    {"acquire NULL", [](const Side& s) { return s.call(&koord_svc_verdict::acquire, nullptr); }, KOORD_E_INVALID},
    {"release NULL", [](const Side& s) { return s.call(&koord_svc_verdict::release, nullptr), Reply(kNothing); }, kNothing},
    {"verdicts of NULL", [](const Side& s) { return listed(s, nullptr); }, kNothing, "0 of 256 bytes"},
    {"generation of NULL", [](const Side& s) { const std::uint64_t none = s.get(&koord_svc_verdict::generation, nullptr); return Reply(kNothing, none); }, kNothing, "0"},
    {"subscribe", [](const Side& s) { return s.call(&koord_svc_verdict::subscribe, 1); }, KOORD_OK},
    {"subscribe to a number", [](const Side& s) { return s.call(&koord_svc_verdict::subscribe, 2); }, KOORD_E_INVALID},
};
// clang-format on

}  // namespace

TEST_CASE("koord.verdict/1 gives a plugin in the agent and one in a child the same answer") { kRows.check(); }

TEST_CASE("both runners log a refused verdict") {
  BothRunners both;
  for (const Side& side : {both.near_side, both.far_side}) {
    const log::Capture log;
    CHECK(post(side, [](koord_verdict& verdict) { verdict.plugin = str("advisor-interference"); }) == KOORD_E_INVALID);
    REQUIRE(log.lines().size() == 1);
    CHECK(log.lines()[0].find("com.acme.x: a post is refused: verdict 0: plugin is set, which the host writes") !=
          std::string::npos);
  }
}

TEST_CASE("both runners hold a bounded number of lists") {
  BothRunners both;
  for (const Side& side : {both.near_side, both.far_side}) {
    std::vector<const koord_verdict_list*> lists(65);
    for (const koord_verdict_list*& list : lists) {
      const bool is_last = &list == &lists.back();
      CHECK(side.call(&koord_svc_verdict::acquire, &list) == (is_last ? KOORD_E_AGAIN : KOORD_OK));
    }
    const log::Capture log;
    for (const koord_verdict_list* list : lists) side.call(&koord_svc_verdict::release, list);
    CHECK(log.lines().empty());
    side.call(&koord_svc_verdict::release, lists[0]);
    CHECK(test::eventually([&] { return log.lines().size() == 1; }));
  }
  CHECK(error_text(both.near_host.context) == error_text(both.far.remote()));
}
