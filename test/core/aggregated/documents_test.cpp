// SPDX-License-Identifier: Apache-2.0
// The documents that clients read before objects: discovery and OpenAPI.
#include <doctest/doctest.h>

#include "api_fixture.hpp"
#include "core/aggregated/accept.hpp"
#include "core/aggregated/openapi.hpp"

using namespace koord;
using namespace koord::test;
using namespace koord::aggregated;

TEST_CASE("the legacy documents name group, version and resource") {
  ApiFixture f;
  const auto groups = f.get_json("/apis");
  CHECK(text_at(groups, "kind") == "APIGroupList");
  CHECK(text_at(json_list(groups, "groups")[0], "preferredVersion.groupVersion") == "metrics.koordetector.sh/v1alpha1");
  CHECK(text_at(f.get_json("/apis/metrics.koordetector.sh"), "kind") == "APIGroup");
  const auto resources = f.get_json("/apis/metrics.koordetector.sh/v1alpha1");
  CHECK(text_at(resources, "kind") == "APIResourceList");
  const auto& list = json_list(resources, "resources");
  REQUIRE(list.size() == 2);
  CHECK(text_at(list[0], "name") == "nodemetrics");
  CHECK(text_at(list[0], "namespaced") == "false");
  CHECK(json_list(list[0], "verbs").size() == 7);
  CHECK(text_at(list[1], "name") == "nodemetrics/status");
}

TEST_CASE("aggregated discovery has an ETag, and an unchanged document is 304") {
  ApiFixture f;
  const std::string v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const auto answer = f.get("/apis", {{"Accept", v2 + ",application/json"}});
  CHECK(answer.content_type == v2);
  const auto list = json_of(answer.body);
  CHECK(text_at(list, "apiVersion") == "apidiscovery.k8s.io/v2");
  const auto& version = json_list(json_list(list, "items")[0], "versions")[0];
  const auto& resource = json_list(version, "resources")[0];
  CHECK(text_at(resource, "scope") == "Cluster");
  CHECK(text_at(json_list(resource, "subresources")[0], "subresource") == "status");
  REQUIRE(answer.headers[0].first == "ETag");
  const auto unchanged = f.get("/apis", {{"Accept", v2}, {"If-None-Match", answer.headers[0].second}});
  CHECK(unchanged.status == 304);
  CHECK(unchanged.body.empty());
  CHECK(f.get("/apis", {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList"}}).status ==
        406);
}

TEST_CASE("the OpenAPI documents describe the fields, with pressure and interference of pods") {
  ApiFixture f;
  CHECK(text_at(at(f.get_json("/openapi/v3"), "paths").as_object().begin()->value(), "serverRelativeURL") ==
        "/openapi/v3/apis/metrics.koordetector.sh/v1alpha1");
  const auto v3 = f.get_json("/openapi/v3/apis/metrics.koordetector.sh/v1alpha1");
  const auto v2 = f.get_json("/openapi/v2");
  for (const auto* schemas : {&at(v3, "components.schemas"), &at(v2, "definitions")}) {
    const auto& schema = *json_member(*schemas, "sh.koordetector.metrics.v1alpha1.NodeMetric");
    CHECK(text_at(json_list(schema, "x-kubernetes-group-version-kind")[0], "kind") == "NodeMetric");
    const auto& pod = at(schema, "properties.status.properties.podsMetric.items.properties");
    CHECK(text_at(pod, "pressure.properties.schedulingDelaySeconds.type") == "number");
    CHECK(text_at(pod, "interference.items.properties.suspects.type") == "array");
  }
}

TEST_CASE("OpenAPI v2 comes as protobuf to clients that read nothing else") {
  ApiFixture f;
  const auto answer = f.get("/openapi/v2", {{"Accept", std::string(kOldOpenApiProtobuf)}});
  CHECK(answer.content_type == kOpenApiProtobuf);
  CHECK(answer.body.starts_with("\x0a\x03"
                                "2.0"));
  CHECK(answer.body == openapi_v2_protobuf());
  CHECK(f.get("/openapi/v2", {{"Accept", "application/json," + std::string(kOpenApiProtobuf)}}).content_type ==
        http::kJson);
}

TEST_CASE("the first served media type of Accept decides") {
  CHECK(accepted_form("")->form == Form::json);
  CHECK(accepted_form("*/*")->form == Form::json);
  CHECK(accepted_form("application/yaml, application/json")->form == Form::json);
  CHECK(accepted_form("application/json;as=Table;v=v1;g=meta.k8s.io,application/json")->form == Form::table);
  CHECK(accepted_form("application/json;as=Table;v=v2;g=meta.k8s.io,application/json")->form == Form::json);
  CHECK(accepted_form("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
                      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
            ->form == Form::metadata_only);
  CHECK_FALSE(accepted_form("text/html"));
}
