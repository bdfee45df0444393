// SPDX-License-Identifier: Apache-2.0
#include "core/store/identities.hpp"

#include <doctest/doctest.h>

#include <set>

#include "core/store/catalogue.hpp"

using namespace koord::store;

namespace {

std::set<SeriesId> ids_of(const Identities& identities) {
  std::set<SeriesId> ids;
  identities.for_each([&](SeriesId id, const Identity&) { ids.insert(id); });
  return ids;
}

}  // namespace

TEST_CASE("series are found by number, however far apart their numbers are") {
  LabelSet labels;
  Identities identities;
  const std::set<SeriesId> all = {1, 63, 64, 65, 1u << 20, 0xffffffff};
  for (SeriesId id : all) identities.add(id, Identity(id % 7 + 1, labels, std::nullopt));
  CHECK(identities.size() == all.size());
  CHECK(ids_of(identities) == all);
  CHECK(identities.find(64)->metric == 64 % 7 + 1);
  CHECK_FALSE(identities.contains(62));
  CHECK_FALSE(identities.contains(1000));
}

TEST_CASE("a series that is erased is found no more, its neighbours are") {
  LabelSet labels;
  Identities identities;
  for (SeriesId id : {64, 65, 200}) identities.add(id, Identity(1, labels, std::nullopt));
  identities.erase(64);
  identities.erase(200);
  CHECK(ids_of(identities) == std::set<SeriesId>{65});
  CHECK_FALSE(identities.contains(64));
  CHECK_FALSE(identities.contains(200));
}

TEST_CASE("a series has an end once it has ended, and none when it exists again") {
  LabelSet labels;
  Identity identity(1, labels, std::nullopt);
  CHECK_FALSE(identity.ended_ms());
  identity.set_ended_ms(0);
  CHECK(identity.ended_ms() == 0);
  identity.set_ended_ms(std::nullopt);
  CHECK_FALSE(identity.ended_ms());
}
