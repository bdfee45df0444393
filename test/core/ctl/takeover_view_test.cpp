// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/takeover_view.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::ctl;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string answer_with(const std::string& more, const std::string& result = "applied") {
  return R"({"leftovers":[{"cgroup":"kubepods/podu1","pod":"shop/web","knob":"cpu.max","value":"600000 100000","base":"200000 100000",)"
         R"("why":"limit 2","now":"200000 100000","result":")" +
         result + R"("}],"read":12,"held":0,)" + more + "}";
}

}  // namespace

TEST_CASE("a dry run lists each value with its base, and a takeover also the value read back") {
  const std::string known = answer_with(R"("podsKnown":true)");
  const std::string dry = *render_takeover(known, true), done = *render_takeover(known, false);
  CHECK_MESSAGE(has(dry, "1 of 12 values differ from their base; nothing was written\n"), dry);
  CHECK_FALSE(has(dry, "RESULT"));
  CHECK_MESSAGE(has(done, "600000 100000  200000 100000  limit 2  200000 100000  applied"), done);
  CHECK(takeover_result(known, true));
  CHECK(takeover_result(known, false));
}

TEST_CASE("pods without a spec are counted, with what their quotas would be compared with") {
  const std::string two =
      *render_takeover(answer_with(R"("podsKnown":true,"podsWithoutSpec":2,"podSource":"cgroup")"), true);
  CHECK_MESSAGE(
      two.ends_with(
          "\nthe specs of 2 pods are not known (state.source is cgroup): cpu.max of pods and containers not compared; "
          "expected kubelet, apiserver or file\n"),
      two);
  const std::string one =
      *render_takeover(answer_with(R"("podsKnown":true,"podsWithoutSpec":1,"podSource":"cgroup")"), true);
  CHECK_MESSAGE(has(one, "\nthe spec of 1 pod is not known (state.source is cgroup)"), one);
}

TEST_CASE("a takeover without known pods fails with the reason, and so does a value that could not be set") {
  const std::string unknown = answer_with(R"("podsKnown":false,"podsProblem":"kubelet /pods: 503")");
  CHECK(takeover_result(unknown, true).error().message() ==
        "pods are not known yet (kubelet /pods: 503): only classes compared");
  CHECK(takeover_result(answer_with(R"("podsKnown":false)"), true).error().message() ==
        "pods are not known yet: only classes compared");
  const std::string failed = answer_with(R"("podsKnown":true)", "failed");
  CHECK(takeover_result(failed, false).error().message() ==
        "1 values could not be set to their base; see the column PROBLEM");
  CHECK(takeover_result(failed, true));
}

TEST_CASE("an answer without what is expected is a list of no values, one that is not an object an error") {
  CHECK(*render_takeover("{}", true) == "0 of 0 values differ from their base; nothing was written\n");
  CHECK_FALSE(render_takeover("[]", true));
  CHECK_FALSE(takeover_result("7", true));
}
