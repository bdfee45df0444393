// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/key_sets.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace koord::cgroup;

namespace {

WantedKey wanted(std::string_view kernel_key, std::string word = {}) {
  return {kernel_key, std::move(word), Conversion::none, 1};
}

}  // namespace

TEST_CASE("files with the same requested keys share one set, which is removed with the last file") {
  KeySets sets;
  KeySets::Set& first = sets.take({Format::flat, {wanted("anon"), wanted("file")}});
  KeySets::Set& second = sets.take({Format::flat, {wanted("anon"), wanted("file")}});
  CHECK(&first == &second);
  sets.release(first);
  CHECK(sets.size() == 1);
  sets.release(second);
  CHECK(sets.size() == 0);
}

TEST_CASE("other keys, other places, other users and another format are other sets") {
  KeySets sets;
  sets.take({Format::flat, {wanted("anon"), wanted("file")}});
  sets.take({Format::flat, {wanted("file"), wanted("anon")}});
  sets.take({Format::flat, {wanted("anon"), {"file", {}, Conversion::none, 2}}});
  sets.take({Format::flat, {wanted("anon"), {"file", {}, Conversion::pages_to_bytes, 1}}});
  sets.take({Format::numa, {wanted("anon", "N0")}});
  sets.take({Format::numa, {wanted("anon", "N1")}});
  sets.take({Format::flat, {}});
  sets.take({Format::numa, {}});
  CHECK(sets.size() == 8);
}

TEST_CASE("a set reads its keys, and leaves out free places") {
  KeySets sets;
  KeySets::Set& set = sets.take({Format::numa, {wanted("anon", "N1"), WantedKey(), wanted("anon", "N0")}});
  std::array<std::int64_t, 3> values = {7, 7, 7};
  set.extraction.apply("anon N0=10 N1=11\n", values);
  CHECK(values == std::array<std::int64_t, 3>{11, 7, 10});
}
