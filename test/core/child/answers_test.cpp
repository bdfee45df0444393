// SPDX-License-Identifier: Apache-2.0
#include "core/child/answers.hpp"

#include <doctest/doctest.h>

#include "core/host/hook_response.hpp"

using namespace koord;
using namespace koord::child;

namespace {

// Returns the settings that the agent reads from these bytes of a child's answer to a hook's request.
host::HookSettings settings_of(std::string_view answer) {
  host::HookResponse response(nullptr);
  Unpacker given(answer);
  take_adjustments(given, response.table());
  return response.close();
}

}  // namespace

TEST_CASE("an answer's status, text and time are read unchanged") {
  Packer answer;
  answer.add(koord_status{KOORD_E_IO}).add(std::string_view("the disk is full")).add(std::int64_t{1500});
  Unpacker in(answer.bytes());
  const service::CallResult result = take_result(in);
  CHECK(describe(result) == "KOORD_E_IO: the disk is full");
  CHECK(result.cpu == Duration(1500));
  CHECK(in.complete());
}

TEST_CASE("a child's text is cut at 4096 bytes") {
  Packer answer;
  answer.add(std::string_view(std::string(5000, 'x')));
  Unpacker in(answer.bytes());
  CHECK(take_text(in) == std::string(4096, 'x'));
}

TEST_CASE("a hook's settings are read unchanged, and a truncated field sets no value") {
  Packer answer;
  answer.add(std::uint32_t{1}).add(std::string_view("linux.cpu.shares")).add(std::string_view("1024"));
  answer.add(std::uint32_t{1}).add(std::string_view("linux.cpu.quota")).add(0.5);
  answer.add(std::uint32_t{1}).add(std::string_view("no room"));
  const host::HookSettings whole = settings_of(answer.bytes());
  CHECK(whole.fields == decltype(whole.fields){{"linux.cpu.shares", "1024"}});
  CHECK(whole.scales == decltype(whole.scales){{"linux.cpu.quota", 0.5}});
  CHECK(whole.rejection == "no room");
  const host::HookSettings cut = settings_of(std::string_view(answer.bytes()).substr(0, 30));
  CHECK(cut.fields.empty());
  CHECK_FALSE(cut.rejection);
}

TEST_CASE("an answer with a value or factor that the child's own side would have refused counts as forged") {
  const auto is_taken = [](std::string_view field, std::string_view value, std::string_view scaled, double factor) {
    Packer answer;
    answer.add(std::uint32_t{1}).add(field).add(value);
    answer.add(std::uint32_t{1}).add(scaled).add(factor);
    answer.add(std::uint32_t{0}).add(std::string_view());
    host::HookResponse response(nullptr);
    Unpacker given(answer.bytes());
    take_adjustments(given, response.table());
    return given.ok();
  };
  CHECK(is_taken("linux.cpu.shares", "1024", "linux.cpu.quota", 0.5));
  CHECK_FALSE(is_taken("linux.cpu.quota", "many", "linux.cpu.quota", 0.5));
  CHECK_FALSE(is_taken("linux.cpu.shares", "1024", "linux.cpu.shares", 2.0));
  CHECK_FALSE(is_taken("no.such.field", "1024", "linux.cpu.quota", 0.5));
}

TEST_CASE("a child's targets are limited in number, have names, and are unique") {
  Packer answer;
  answer.add(std::uint32_t{263});
  for (int i = 0; i < 260; ++i) add_target(answer, {.name = std::to_string(i), .url = "unix:/x"});
  add_target(answer, {.name = "0", .url = "unix:/second"});
  add_target(answer, {.name = "", .url = "unix:/nameless"});
  add_target(answer, {.name = "last", .url = "unix:/x"});
  Unpacker in(answer.bytes());
  const std::vector<scrape::ScrapeTarget> targets = take_targets(in);
  CHECK(in.complete());
  CHECK(targets.size() == scrape::kMaxTargets);
  CHECK(targets[0].url == "unix:/x");
}

TEST_CASE("a target is received as it was sent") {
  const scrape::ScrapeTarget sent{.name = "n",
                                  .url = "https://[::1]/",
                                  .ca_file = "/ca",
                                  .certificate_file = "/c",
                                  .key_file = "/k",
                                  .server_name = "s",
                                  .token_file = "/t",
                                  .period = Duration(5),
                                  .timeout = Duration(6),
                                  .max_body_bytes = 7,
                                  .max_samples = 8,
                                  .max_series = 9};
  Packer answer;
  add_target(answer, sent);
  Unpacker in(answer.bytes());
  CHECK(take_target(in) == sent);
}

TEST_CASE("a child's changes of a series are bounded") {
  Packer answer;
  answer.add(koord_status{KOORD_OK}).add(std::uint64_t{7}).add(std::uint32_t{100});
  for (int i = 0; i < 100; ++i) answer.add(std::string_view("name")).add(std::string_view("value"));
  Unpacker in(answer.bytes());
  scrape::ScrapedSeries series;
  take_series(in, series);
  CHECK(in.complete());
  CHECK(series.change.subject == 7);
  CHECK(series.change.labels.size() == 32);
}
