// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/sdk/joined.hpp"

#include <doctest/doctest.h>

#include <string_view>

using koord::settings::joined;

namespace {

constexpr char kShared[] = R"("slots": 7)";
constexpr auto kText = joined("{", kShared, "}");

}  // namespace

TEST_CASE("the parts follow one another, and the text ends where the last part ends") {
  CHECK(std::string_view(kText.data()) == R"({"slots": 7})");
  CHECK(kText.size() == std::string_view(kText.data()).size() + 1);
}
