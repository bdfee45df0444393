// SPDX-License-Identifier: Apache-2.0
#include "core/json/field.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

#include "core/json/reader.hpp"

using namespace koord;

namespace {

const boost::json::value kPod = *read_json(R"({
  "name": "a", "priority": 5, "ratio": 1.5, "off": false, "none": null, "labels": {"x": "y"}, "bad": {"x": 1},
  "spec": {"containers": [{"resources": {"cpu": "250m", "memory": "1Ki"}}, {"resources": "text"}]}})");

const JsonField kRoot(kPod);

template <class T>
std::string error_of(const Result<T>& result) {
  return result ? "" : result.error().message();
}

}  // namespace

TEST_CASE("values of the expected type are read") {
  CHECK(*kRoot["name"].text() == "a");
  CHECK(*kRoot["priority"].integer(7) == 5);
  CHECK_FALSE(*kRoot["off"].boolean());
  CHECK(kRoot["off"].is_false());
  CHECK(kRoot["labels"].text_map()->at("x") == "y");
  const auto resources = (*kRoot["spec"]["containers"].list())[0]["resources"].resources();
  CHECK(resources->at("cpu") == 250);
  CHECK(resources->at("memory") == 1024);
}

TEST_CASE("a missing value and null are empty") {
  CHECK(kRoot["none"].empty());
  CHECK(kRoot["spec"]["other"]["deeper"].empty());
  CHECK(*kRoot["none"].text() == "");
  CHECK(*kRoot["none"].integer(7) == 7);
  CHECK(kRoot["none"].list()->empty());
  CHECK(kRoot["none"].check_mapping());
}

TEST_CASE("a value of another type is an error with its path") {
  const auto containers = kRoot["spec"]["containers"].list();
  CHECK(error_of((*containers)[1]["resources"].resources()) ==
        "spec.containers[1].resources: expected a mapping, found text");
  CHECK(error_of(kRoot["name"].integer(0)) == "name: expected an integer, found text");
  CHECK(error_of(kRoot["ratio"].integer(0)) == "ratio: expected an integer, found a number");
  CHECK(error_of(kRoot["labels"].text()) == "labels: expected text, found a mapping");
  CHECK(error_of(kRoot["labels"].list()) == "labels: expected a list, found a mapping");
  CHECK(error_of(kRoot["bad"].text_map()) == "bad.x: expected text, found a number");
  CHECK(error_of(kRoot["name"].check_mapping()) == "name: expected a mapping, found text");
  CHECK(error_of(kRoot["name"].boolean()) == "name: expected a boolean, found text");
}

TEST_CASE("the root has a path when it stands in something larger") {
  CHECK(error_of(JsonField(kPod, "items[3]")["name"].integer(0)) == "items[3].name: expected an integer, found text");
  CHECK(error_of(JsonField(kPod).text()) == "the document: expected text, found a mapping");
}

TEST_CASE("a member may be looked up in any case, and the exact name wins") {
  const boost::json::value value = *read_json(R"({"NAME": 1, "Name": 2, "other": 3})");
  CHECK(*JsonField(value).any_case("name").integer(0) == 2);
  CHECK(*JsonField(value).any_case("NAME").integer(0) == 1);
  CHECK(JsonField(value).any_case("nam").empty());
}
