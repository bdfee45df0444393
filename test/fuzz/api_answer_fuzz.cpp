// SPDX-License-Identifier: Apache-2.0
// Answers of an API server: lists, lines of a watch, refusals, version numbers.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/utf8.hpp"
#include "core/json/scanner.hpp"
#include "core/json/writer.hpp"
#include "core/kube/eviction.hpp"
#include "core/kube/object.hpp"
#include "core/kube/reflector.hpp"
#include "core/kube/refusal.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::kube;

namespace {

// Checks that the text of each result is an object, and stays the same when it is parsed again.
void check_object(const ObjectView& object) {
  auto again = parse_object(object.json);
  check(again && again->name == object.name && again->uid == object.uid &&
        again->resource_version == object.resource_version);
  auto changed = with_json_member(object.json, "status", "{\"a\":1}");
  check(changed.has_value());
  auto status = json_member(*changed, "status");
  check(status && *status && **status == "{\"a\":1}");
}

// Checks that, whatever the server answers, a reflector soon asks for a wait. So 1100 steps must advance the clock,
// even with endless pages.
void check_reflector(std::string_view text) {
  Time now = from_ns(1'700'000'000'000'000'000);
  Reflector reflector({.path = "/api/v1/pods"}, {}, now, 1);
  const Time begin = now;
  for (int round = 0; round < 1100; ++round) {
    const Reflector::Step step = reflector.next(now);
    if (step.what == Reflector::Step::Do::wait) {
      now = step.at == Time::max() ? now + std::chrono::minutes(30) : step.at;
      if (step.at == Time::max()) reflector.watch_ended(now, Reply{200, ""});
    } else if (step.what == Reflector::Step::Do::list) {
      reflector.listed(now, parse_list(text, 100));
    } else if (!reflector.line(now, text).ends) {
      reflector.watch_ended(now, Reply{200, std::string(text)});
    }
  }
  check(now > begin);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto page = parse_list(text, 1000))
    for (const ObjectView& object : page->objects) check_object(object);
  if (auto event = parse_watch_event(text)) {
    if (event->kind != WatchEvent::Kind::error && event->kind != WatchEvent::Kind::bookmark)
      check_object(event->object);
  }
  (void)find_eviction_version(text, text);
  const std::string refusal = describe(Reply{429, std::string(text)});
  check(refusal.find('\n') == std::string::npos && refusal.size() < 1000);
  const EvictionAnswer answer = classify_eviction(Reply{429, std::string(text)});
  check(answer.outcome != EvictionAnswer::Outcome::evicted && answer.message.size() < 1000);
  check(!answer.retry_after || (answer.retry_after->count() > 0 && *answer.retry_after <= std::chrono::hours(24)));
  const std::string quoted = json_quote(text);
  auto read = JsonScanner(quoted).string();
  check(read && (*read == text || !is_valid_utf8(text)));
  if (size < 1024) check_reflector(text);
  return 0;
}
