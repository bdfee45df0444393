// SPDX-License-Identifier: Apache-2.0
#include "core/metric/own_labels.hpp"

#include <doctest/doctest.h>

using namespace koord::metric;

TEST_CASE("equal own labels are kept once, until their last user releases them") {
  OwnLabelsPool pool;
  const OwnLabels* first = pool.take({{"kind", "reclaim"}}, false);
  const OwnLabels* second = pool.take({{"kind", "reclaim"}}, false);
  CHECK(first == second);
  CHECK(pool.share(first) == first);
  CHECK(pool.size() == 1);
  pool.release(first);
  pool.release(second);
  REQUIRE(pool.size() == 1);
  CHECK(first->labels == Labels{{"kind", "reclaim"}});
  CHECK(first->text == ",kind=\"reclaim\"");
  pool.release(first);
  CHECK(pool.size() == 0);
}

TEST_CASE("own labels that begin the labels of a line are another set than those behind a subject's") {
  OwnLabelsPool pool;
  const OwnLabels* behind = pool.take({{"kind", "reclaim"}}, false);
  const OwnLabels* first = pool.take({{"kind", "reclaim"}}, true);
  CHECK(behind->text == ",kind=\"reclaim\"");
  CHECK(first->text == "{kind=\"reclaim\"");
}

TEST_CASE("no own labels are no set") {
  OwnLabelsPool pool;
  CHECK(pool.take({}, true) == nullptr);
  CHECK(pool.share(nullptr) == nullptr);
  pool.release(nullptr);
  CHECK(pool.size() == 0);
}
