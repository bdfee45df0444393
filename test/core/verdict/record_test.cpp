// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "test/core/verdict/records.hpp"

using namespace koord;
using namespace koord::test;
using namespace koord::verdict;

TEST_CASE("a kind and a resource are found by their names") {
  for (Kind kind : kKinds) CHECK(kind_named(name_of(kind)) == kind);
  for (Resource resource : kResources) CHECK(resource_named(name_of(resource)) == resource);
  CHECK_FALSE(kind_named("self"));
  CHECK_FALSE(kind_named(""));
  CHECK_FALSE(resource_named("CPU"));
}

TEST_CASE("a subject is named by pod and container") {
  CHECK(name_of_subject({{"container_id", "c1"},
                         {"container_name", "app"},
                         {"pod_uid", "u"},
                         {"pod_name", "cart"},
                         {"pod_namespace", "shop"}}) == "shop/cart/app");
  CHECK(name_of_subject({{"pod_uid", "u"}, {"pod_name", "cart"}, {"pod_namespace", "shop"}}) == "shop/cart");
  CHECK(name_of_subject({{"container_name", "docker.service"}}) == "docker.service");
  CHECK(name_of_subject({{"container_id", "c1"}}) == "c1");
  CHECK(name_of_subject({}).empty());
}

TEST_CASE("the size of a record grows with all its texts") {
  const Record record = verdict_about(1);
  const std::size_t bytes = bytes_of(record);
  for (auto grow :
       {+[](Record& r) { r.note.assign(100, 'x'); }, +[](Record& r) { r.plugin.assign(100, 'x'); },
        +[](Record& r) { r.victim_name.assign(113, 'x'); }, +[](Record& r) { r.why_ended.assign(100, 'x'); },
        +[](Record& r) { r.statistic.unit.assign(105, 'x'); }, +[](Record& r) { r.amount_unit.assign(114, 'x'); },
        +[](Record& r) {
          r.victim.labels = {{"pod_name", std::string(92, 'x')}};
        },
        +[](Record& r) { r.suspects.push_back(suspect(2, 1)); },
        +[](Record& r) {
          r.others = {{"memory", std::string(100, 'x')}};
        }}) {
    Record larger = record;
    grow(larger);
    CHECK(bytes_of(larger) >= bytes + 100);
  }
}
