// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/report_view.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::ctl;

namespace {

std::string table(const std::string& answer) {
  const Result<std::string> rendered = render_report(answer);
  REQUIRE_MESSAGE(rendered, rendered.error().message());
  return *rendered;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("koordctl report shows the status of each object, and the usage of node and pods") {
  const std::string text = table(
      R"({"NodeMetric":{"written":true,"exists":true,"outcomes":{"written":7},"accepted":1790000000,"problem":"","refusal":"",)"
      R"("problems":["no prediction"],"status":{"nodeMetric":{"nodeUsage":{"resources":{"cpu":"5230m","memory":"12Gi"}},"systemUsage":{}},)"
      R"("podsMetric":[{"namespace":"shop","name":"web-0","podUsage":{"resources":{"cpu":"800m","memory":"2Gi"}}}]}},)"
      R"("NodeResourceTopology":{"written":true,"outcomes":{},"problem":"403 Forbidden"},"Device":{"written":false}})");
  INFO(text);
  for (const char* part :
       {"NodeResourceTopology  -", "403 Forbidden", "off", "5230m", "12Gi", "shop/web-0", "800m", "no prediction"}) {
    CAPTURE(part);
    CHECK(has(text, part));
  }
}

TEST_CASE("koordctl report shows a missing NodeMetric, or why nothing is reported") {
  CHECK(has(table(R"({"NodeMetric":{"written":true,"exists":false}})"), "missing"));
  CHECK(has(table(R"({"NodeMetric":{"written":true,"exists":false,"missing":true}})"),
            "missing, nothing is reported: Koordinator's manager or koord-manager creates it"));
  CHECK(
      has(table(R"({"NodeMetric":{"written":true,"exists":true,"refusal":"no fresh samples"}})"), "no fresh samples"));
  CHECK(has(table(R"({"NodeResourceTopology":{"written":true,"unknown":"no kubelet"}})"), "no kubelet"));
}

TEST_CASE("koordctl report shows direct reports if they are on, and whether the manager writes the NodeMetric") {
  CHECK_FALSE(has(table(R"({"NodeMetric":{"written":true},"direct":{"written":false}})"), "koord-manager"));
  const std::string text = table(
      R"({"NodeMetric":{"written":true,"replaced":true,"exists":true},)"
      R"("direct":{"written":true,"manager":"10.0.0.7:8443","problem":"","outcomes":{"written":42},"accepted":1790000000}})");
  CHECK(has(text, "written by koord-manager, which has direct reports"));
  CHECK(has(text, "to koord-manager"));
  CHECK(has(text, "ok, to 10.0.0.7:8443"));
  CHECK(has(table(R"({"direct":{"written":true,"manager":"","problem":""}})"), "looking for its Lease"));
  CHECK(has(table(R"({"direct":{"written":true,"problem":"there is no manager"}})"), "there is no manager"));
}

TEST_CASE("koordctl report names the parts that the API server refused") {
  const std::string text = table(
      R"({"Device":{"written":true,"problem":"","leftOut":["spec.devices[0].conditions[0]"],"leftOutWhy":"422 Invalid: must be a word"}})");
  CHECK(has(text, "written without 1 part that the API server refused"));
  CHECK(has(text, "Device without spec.devices[0].conditions[0]: 422 Invalid: must be a word"));
}

TEST_CASE("an answer with members of other types is a table without them, one that is not an object an error") {
  CHECK(has(table(R"({"NodeMetric":7,"Device":{"written":true,"outcomes":[],"accepted":"x"}})"), "NodeMetric"));
  CHECK_FALSE(render_report("[]"));
}
