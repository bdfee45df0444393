// SPDX-License-Identifier: Apache-2.0
#include "core/child/verdict_wire.hpp"

#include <doctest/doctest.h>

#include "test/core/verdict/records.hpp"

using namespace koord;
using namespace koord::child;
using namespace koord::test;

namespace {

verdict::Record full_record() {
  verdict::Record record = verdict_about(7);
  record.from = from_ns(1);
  record.to = from_ns(2);
  record.windows_over = 3;
  record.windows_seen = 5;
  record.own = 0.25;
  record.throttled = 0.5;
  record.suspects = {suspect(8, 0.03), suspect(9, 0.01)};
  record.suspects[1].name = "batch/etl-5/main";
  record.others = {{"memory", "0 refaults/s"}};
  record.note = "swap is off";
  record.ttl = std::chrono::seconds(5);
  record.id = 4;
  record.since = from_ns(6);
  record.plugin = "com.acme.rule";
  return record;
}

void check_posted(const verdict::Record& taken, const verdict::Record& record) {
  CHECK(taken.key() == record.key());
  CHECK(taken.method == record.method);
  CHECK(taken.from == record.from);
  CHECK(taken.to == record.to);
  CHECK(taken.windows_over == 3);
  CHECK(taken.windows_seen == 5);
  CHECK(taken.statistic.name == "held_up");
  CHECK(taken.statistic.threshold == 0.01);
  CHECK(taken.own == 0.25);
  REQUIRE(taken.suspects.size() == 2);
  CHECK(taken.suspects[0].subject.handle == 8);
  CHECK(taken.suspects[1].name == "batch/etl-5/main");
  CHECK(taken.others == record.others);
  CHECK(taken.note == "swap is off");
  CHECK(taken.ttl == record.ttl);
}

}  // namespace

TEST_CASE("posted verdicts are read from a message unchanged") {
  Packer message;
  add_posted(message, {full_record(), verdict_about(1)});
  Unpacker in(message.bytes());
  const std::vector<verdict::Record> taken = take_posted(in);
  CHECK(in.complete());
  REQUIRE(taken.size() == 2);
  check_posted(taken[0], full_record());
  CHECK(taken[1].victim.handle == 1);
}

TEST_CASE("active verdicts are read from a message with the host's additions") {
  verdict::CurrentVerdicts standing;
  standing.generation = 11;
  standing.version = 12;
  standing.records.push_back(std::make_shared<verdict::Record>(full_record()));
  Packer message;
  add_standing(message, standing);
  Unpacker in(message.bytes());
  const verdict::CurrentVerdicts taken = take_standing(in);
  CHECK(in.complete());
  CHECK(taken.generation == 11);
  CHECK(taken.version == 12);
  REQUIRE(taken.records.size() == 1);
  check_posted(*taken.records[0], full_record());
  CHECK(taken.records[0]->id == 4);
  CHECK(taken.records[0]->since == from_ns(6));
  CHECK(taken.records[0]->plugin == "com.acme.rule");
  CHECK(taken.records[0]->victim_name == "shop/cart/app");
  CHECK(taken.records[0]->origin == verdict::Origin::third_party);
}

TEST_CASE("a message that is cut anywhere is not complete") {
  Packer message;
  add_posted(message, {full_record()});
  for (std::size_t n = 0; n < message.bytes().size(); ++n) {
    Unpacker in(std::string_view(message.bytes()).substr(0, n));
    take_posted(in);
    CHECK_FALSE(in.complete());
  }
}

TEST_CASE("a count that the message cannot hold makes no room for as many records") {
  Packer message;
  message.add(std::uint32_t{0xffffffff});
  Unpacker in(message.bytes());
  CHECK(take_posted(in).empty());
  CHECK_FALSE(in.ok());
}
