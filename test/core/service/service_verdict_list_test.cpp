// SPDX-License-Identifier: Apache-2.0
#include "core/log/capture.hpp"
#include "core/service/verdict_list.hpp"
#include "test/core/service/verdict_fixture.hpp"

using namespace koord;
using namespace koord::test;

TEST_CASE_FIXTURE(Verdicts, "an acquired list stays as it was until it is released") {
  REQUIRE(post(abi_verdict(cart)) == KOORD_OK);
  const Listed before(*this);
  REQUIRE(service->end(abi, cart, KOORD_RESOURCE_MEMORY, KOORD_VERDICT_INTERFERED, {}) == KOORD_OK);
  const Listed after(*this);
  CHECK(before.verdicts().size() == 1);
  CHECK(text(before.verdicts()[0].victim_name) == "shop/cart/app");
  CHECK(after.verdicts().empty());
  CHECK(service->generation(after.list) > service->generation(before.list));
}

TEST_CASE_FIXTURE(Verdicts, "a plugin holds a bounded number of lists, and releasing one twice does no harm") {
  CHECK(service->acquire(abi, nullptr) == KOORD_E_INVALID);
  std::vector<const koord_verdict_list*> lists(service::kMostVerdictLists);
  for (const koord_verdict_list*& list : lists) REQUIRE(service->acquire(abi, &list) == KOORD_OK);
  const koord_verdict_list* another = nullptr;
  CHECK(service->acquire(abi, &another) == KOORD_E_AGAIN);
  CHECK(host.last_error() == "it holds 64 lists of verdicts, expected it to release one");
  service->release(abi, lists[0]);
  CHECK(service->acquire(abi, &another) == KOORD_OK);
  for (const koord_verdict_list* list : lists) service->release(abi, list);
  const log::Capture log;
  service->release(abi, another);
  service->release(abi, nullptr);
  CHECK(log.lines().size() == 1);
  CHECK(service->verdicts(nullptr, nullptr, nullptr) == nullptr);
  CHECK(service->generation(nullptr) == 0);
}

TEST_CASE_FIXTURE(Verdicts, "a subscription is on or off") {
  CHECK_FALSE(host.context().wants_verdicts());
  CHECK(service->subscribe(abi, 1) == KOORD_OK);
  CHECK(host.context().wants_verdicts());
  CHECK(service->subscribe(abi, 2) == KOORD_E_INVALID);
  CHECK(service->subscribe(abi, -1) == KOORD_E_INVALID);
  CHECK(host.context().wants_verdicts());
  CHECK(service->subscribe(abi, 0) == KOORD_OK);
  CHECK_FALSE(host.context().wants_verdicts());
}
