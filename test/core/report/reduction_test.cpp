// SPDX-License-Identifier: Apache-2.0
#include "core/report/reduction.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::report;

namespace {

constexpr const char* kDevice =
    R"({"metadata":{"name":"a","annotations":{"x":"1"}},"spec":{"devices":[{"id":"GPU-a","resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu":1}},)"
    R"({"id":"GPU-b","conditions":[{"reason":"15","type":"Healthy"}]},{"id":"GPU-c"}]}})";
const ReductionRules kRules{.whole = {"spec.devices[].conditions[]"}, .needed = {"metadata.name", "spec.devices[].id"}};

std::string parts(const std::vector<std::string>& fields, const ReductionRules& rules = kRules) {
  std::vector<kube::Status::Cause> causes;
  for (const std::string& field : fields) causes.push_back({"FieldValueInvalid", "wrong", field});
  const auto found = parts_to_leave_out(kDevice, causes, rules);
  if (!found) return "error: " + found.error().text;
  std::string text;
  for (const std::string& part : *found) text += (text.empty() ? "" : " ") + part;
  return text;
}
std::string rest(const std::vector<std::string>& fields) {
  const Result<std::string> text = without(kDevice, fields);
  REQUIRE(text);
  return *text;
}

}  // namespace

TEST_CASE("a refused field is left out, and an entry of a list that goes only as a whole goes as a whole") {
  CHECK(parts({"metadata.annotations"}) == "metadata.annotations");
  CHECK(parts({"spec.devices[1].conditions[0].reason"}) == "spec.devices[1].conditions[0]");
  CHECK(parts({"spec.devices[1].conditions[0].reason", "spec.devices[1].conditions[0].type"}) ==
        "spec.devices[1].conditions[0]");
}

TEST_CASE("a name with dots is found, the longest first") {
  CHECK(parts({"spec.devices[0].resources.koordinator.sh/gpu-core"}) ==
        "spec.devices[0].resources.koordinator.sh/gpu-core");
  CHECK(parts({"spec.devices[0].resources.koordinator.sh/gpu"}) == "spec.devices[0].resources.koordinator.sh/gpu");
}

TEST_CASE("an entry that lacks a member that must be there is left out") {
  CHECK(parts({"spec.devices[2].health"}, {}) == "spec.devices[2]");
  CHECK(parts({"spec.devices[1].conditions[0].message"}) == "spec.devices[1].conditions[0]");
}

TEST_CASE("a needed member is not left out, nor anything around it, nor a top-level member") {
  CHECK(parts({"metadata.name"}) == "error: 'metadata.name' cannot be left out");
  CHECK(parts({"spec.devices[2].health"}) == "error: 'spec.devices[2].health' cannot be left out");
  CHECK(parts({"spec.devices"}) == "error: 'spec.devices' cannot be left out");
  CHECK(parts({"spec"}, {}) == "error: 'spec' cannot be left out");
  CHECK(parts({"metadata.annotations", ""}) == "error: '' cannot be left out");
  CHECK(parts({}) == "error: the refusal names no field");
}

TEST_CASE("several entries of one list are left out together, and fields that are not there are passed over") {
  CHECK(
      rest({"spec.devices[0]", "spec.devices[2]", "spec.devices[7]", "status.x"}) ==
      R"({"metadata":{"name":"a","annotations":{"x":"1"}},"spec":{"devices":[{"id":"GPU-b","conditions":[{"reason":"15","type":"Healthy"}]}]}})");
  CHECK(rest({"metadata.annotations", "metadata.annotations.x", "spec.devices[0]", "spec.devices[1].conditions[0]"}) ==
        R"({"metadata":{"name":"a"},"spec":{"devices":[{"id":"GPU-b","conditions":[]},{"id":"GPU-c"}]}})");
  CHECK_FALSE(without("[]", {"x"}));
}
