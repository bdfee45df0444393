// SPDX-License-Identifier: Apache-2.0
#include "core/service/verdict_arguments.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/utf8.hpp"
#include "core/service/arguments.hpp"
#include "core/service/record.hpp"
#include "core/verdict/store.hpp"

namespace koord::service {
namespace {

static_assert(static_cast<unsigned>(verdict::Kind::interfered) == KOORD_VERDICT_INTERFERED);
static_assert(static_cast<unsigned>(verdict::Kind::self_quota) == KOORD_VERDICT_SELF_QUOTA);
static_assert(static_cast<unsigned>(verdict::Kind::self_threads) == KOORD_VERDICT_SELF_THREADS);
static_assert(static_cast<unsigned>(verdict::Kind::self_memory_limit) == KOORD_VERDICT_SELF_MEMORY_LIMIT);
static_assert(static_cast<unsigned>(verdict::Kind::shared_parent) == KOORD_VERDICT_SHARED_PARENT);
static_assert(static_cast<unsigned>(verdict::Kind::unknown) == KOORD_VERDICT_UNKNOWN);
static_assert(static_cast<unsigned>(verdict::Resource::cpu) == KOORD_RESOURCE_CPU);
static_assert(static_cast<unsigned>(verdict::Resource::cache) == KOORD_RESOURCE_CACHE);
static_assert(static_cast<unsigned>(verdict::Method::exact) == KOORD_METHOD_EXACT);
static_assert(static_cast<unsigned>(verdict::Method::suspected) == KOORD_METHOD_SUSPECTED);
static_assert(static_cast<unsigned>(verdict::SuspectKind::subject) == KOORD_SUSPECT_SUBJECT);
static_assert(static_cast<unsigned>(verdict::SuspectKind::other) == KOORD_SUSPECT_OTHER);
static_assert(static_cast<unsigned>(verdict::Origin::own) == KOORD_ORIGIN_OWN);
static_assert(static_cast<unsigned>(verdict::Origin::third_party) == KOORD_ORIGIN_THIRD_PARTY);

constexpr std::uint32_t kMostVerdicts = verdict::kOwnLimits.standing;  // maximum in one post
constexpr std::size_t kMostBytes = verdict::kOwnLimits.standing_bytes;
constexpr std::uint32_t kMostSuspects = 32, kMostOthers = 16;
constexpr std::size_t kMostNameBytes = 64, kMostTextBytes = 256, kMostNoteBytes = 1024;
constexpr Duration kLongestTtl = std::chrono::hours(1);
constexpr double kWhole = 1.000001;  // the sum of shares may exceed 1 by rounding

// Checks text that operators see on a terminal.
Result<std::string> shown_text(koord_str text, const char* what, std::size_t most) {
  const std::string_view shown = TRY(text_argument(text, what));
  if (shown.size() > most)
    return invalid(std::string(what) + " is " + std::to_string(shown.size()) + " bytes long, expected at most " +
                   std::to_string(most));
  if (!is_valid_utf8(shown)) return invalid(std::string(what) + " is not UTF-8");
  for (std::string_view rest = shown; !rest.empty(); rest.remove_prefix(utf8_length(rest)))
    if (control_length(rest) > 0) return invalid(std::string(what) + " has a control character");
  return std::string(shown);
}

Result<std::string> shown_name(koord_str text, const char* what, std::size_t most) {
  if (text.n == 0) return invalid(std::string(what) + " is empty");
  return shown_text(text, what, most);
}

Result<void> enumeration_argument(std::uint32_t value, std::uint32_t last, const char* what, const char* expected) {
  if (value >= 1 && value <= last) return {};
  return invalid(std::string(what) + " is " + std::to_string(value) + ", expected a " + expected);
}

// Accepts NaN, which means unknown.
Result<void> amount_argument(double amount, const char* what) {
  if (std::isnan(amount) || (std::isfinite(amount) && amount >= 0)) return {};
  return invalid(std::string(what) + " is " + std::to_string(amount) + ", expected a finite number from 0 on, or NaN");
}

Result<void> share_argument(double share) {
  if (std::isnan(share) || (share >= 0 && share <= kWhole)) return {};
  return invalid("share is " + std::to_string(share) + ", expected 0 to 1, or NaN");
}

Result<verdict::Suspect> suspect_argument(const Array<koord_suspect>& suspects, std::uint32_t i) {
  const auto record = TRY(take_record<koord_suspect>(suspects.at(i), "suspect", suspects.stride()));
  TRY(enumeration_argument(record.kind, KOORD_SUSPECT_OTHER, "kind", "KOORD_SUSPECT_*"));
  const bool is_subject = record.kind == KOORD_SUSPECT_SUBJECT;
  if (is_subject && record.subject == KOORD_NO_SUBJECT)
    return invalid("subject is KOORD_NO_SUBJECT, expected the handle of a pod or container");
  if (!is_subject && record.subject != KOORD_NO_SUBJECT)
    return invalid("subject is " + std::to_string(record.subject) + ", expected KOORD_NO_SUBJECT for this kind");
  verdict::Suspect suspect;
  suspect.kind = static_cast<verdict::SuspectKind>(record.kind);
  suspect.subject.handle = record.subject;
  suspect.name = TRY(shown_text(record.name, "name", kMostTextBytes));
  if (record.kind == KOORD_SUSPECT_OTHER && suspect.name.empty()) return invalid("name is empty");
  TRY(amount_argument(record.value, "value"));
  TRY(share_argument(record.share));
  if (std::isinf(record.excess)) return invalid("excess is infinite, expected a finite number, or NaN");
  TRY(amount_argument(record.usage, "usage"));
  TRY(amount_argument(record.request, "request"));
  suspect.value = record.value;
  suspect.share = record.share;
  suspect.excess = record.excess;
  suspect.usage = record.usage;
  suspect.request = record.request;
  return suspect;
}

Result<void> take_suspects(const koord_verdict& from, verdict::Record& record) {
  const auto suspects = TRY(records_argument(from.suspects, from.n_suspects, from.suspect_stride, "suspects"));
  if (suspects.size() > kMostSuspects)
    return invalid("n_suspects is " + std::to_string(suspects.size()) + ", expected at most " +
                   std::to_string(kMostSuspects));
  double shares = 0;
  for (std::uint32_t i = 0; i < suspects.size(); ++i) {
    Result<verdict::Suspect> suspect = suspect_argument(suspects, i);
    if (!suspect) return std::move(suspect).error().context("suspect " + std::to_string(i));
    if (suspect->subject.handle == from.victim)
      return invalid("suspect " + std::to_string(i) + " is the victim itself, which `own` is for");
    if (!std::isnan(suspect->share)) shares += suspect->share;
    record.suspects.push_back(*std::move(suspect));
  }
  if (shares > kWhole)
    return invalid("the shares of the suspects are " + std::to_string(shares) + " together, expected at most 1");
  // Sorts unknown values to the end.
  std::stable_sort(record.suspects.begin(), record.suspects.end(),
                   [](const verdict::Suspect& a, const verdict::Suspect& b) {
                     return a.value > b.value || (std::isnan(b.value) && !std::isnan(a.value));
                   });
  return {};
}

Result<void> take_others(const koord_verdict& from, verdict::Record& record) {
  const auto others = TRY(array_argument(from.others, from.n_others, from.other_stride, "others"));
  if (others.size() > kMostOthers)
    return invalid("n_others is " + std::to_string(others.size()) + ", expected at most " +
                   std::to_string(kMostOthers));
  for (std::uint32_t i = 0; i < others.size(); ++i) {
    std::string resource = TRY(shown_name(others[i].key, "a key of others", kMostTextBytes));
    std::string finding = TRY(shown_text(others[i].value, "a value of others", kMostTextBytes));
    record.others.emplace_back(std::move(resource), std::move(finding));
  }
  return {};
}

Result<void> take_times(const koord_verdict& from, verdict::Record& record) {
  if (from.from_ns == 0) return invalid("from_ns is 0, expected the begin of the first window");
  if (from.from_ns > from.to_ns) return invalid("from_ns is after to_ns");
  if (from.windows_over > from.windows_seen)
    return invalid("windows_over is " + std::to_string(from.windows_over) +
                   ", expected at most windows_seen, which is " + std::to_string(from.windows_seen));
  const Duration ttl = ttl_of(from.ttl_ns);
  if (ttl > kLongestTtl) return invalid("ttl_ns is " + std::to_string(from.ttl_ns) + ", expected at most one hour");
  record.from = from_ns(from.from_ns);
  record.to = from_ns(from.to_ns);
  record.windows_over = from.windows_over;
  record.windows_seen = from.windows_seen;
  if (from.ttl_ns != 0) record.ttl = ttl;
  return {};
}

Result<void> take_figures(const koord_verdict& from, verdict::Record& record) {
  record.statistic.name = TRY(shown_name(from.statistic, "statistic", kMostNameBytes));
  record.statistic.unit = TRY(shown_name(from.statistic_unit, "statistic_unit", kMostNameBytes));
  record.amount_unit = TRY(shown_text(from.amount_unit, "amount_unit", kMostNameBytes));
  if (std::isnan(from.value)) return invalid("value is NaN, expected the statistic");
  TRY(amount_argument(from.value, "value"));
  TRY(amount_argument(from.baseline, "baseline"));
  TRY(amount_argument(from.threshold, "threshold"));
  TRY(amount_argument(from.own, "own"));
  TRY(amount_argument(from.throttled, "throttled"));
  TRY(amount_argument(from.unexplained, "unexplained"));
  record.statistic.value = from.value;
  record.statistic.baseline = from.baseline;
  record.statistic.threshold = from.threshold;
  record.own = from.own;
  record.throttled = from.throttled;
  record.unexplained = from.unexplained;
  return {};
}

// Refuses members that only the host writes.
Result<void> check_host_members(const koord_verdict& from) {
  const char* set = nullptr;
  if (from.plugin.n != 0) set = "plugin";
  if (from.victim_name.n != 0) set = "victim_name";
  if (from.origin != 0) set = "origin";
  if (from.id != 0) set = "id";
  if (from.since_ns != 0) set = "since_ns";
  if (set) return invalid(std::string(set) + " is set, which the host writes, expected it to be zero");
  if (from.rsv != 0) return refuse(KOORD_E_TOO_NEW, "rsv is " + std::to_string(from.rsv) + ", expected 0");
  return {};
}

Result<verdict::Record> verdict_argument(const Array<koord_verdict>& verdicts, std::uint32_t i) {
  const auto from = TRY(take_record<koord_verdict>(verdicts.at(i), "verdict", verdicts.stride()));
  TRY(check_host_members(from));
  const verdict::Key key = TRY(verdict_key_argument(from.victim, from.resource, from.kind));
  TRY(enumeration_argument(from.method, KOORD_METHOD_SUSPECTED, "method", "KOORD_METHOD_*"));
  verdict::Record record;
  record.victim.handle = key.victim;
  record.resource = key.resource;
  record.kind = key.kind;
  record.method = static_cast<verdict::Method>(from.method);
  TRY(take_times(from, record));
  TRY(take_figures(from, record));
  TRY(take_suspects(from, record));
  TRY(take_others(from, record));
  record.note = TRY(shown_text(from.note, "note", kMostNoteBytes));
  return record;
}

}  // namespace

Result<verdict::Key> verdict_key_argument(std::uint64_t victim, std::uint32_t resource, std::uint32_t kind) {
  if (victim == KOORD_NO_SUBJECT)
    return invalid("victim is KOORD_NO_SUBJECT, expected the handle of a pod or container");
  TRY(enumeration_argument(resource, KOORD_RESOURCE_CACHE, "resource", "KOORD_RESOURCE_*"));
  TRY(enumeration_argument(kind, KOORD_VERDICT_UNKNOWN, "kind", "KOORD_VERDICT_*"));
  return verdict::Key{victim, static_cast<verdict::Resource>(resource), static_cast<verdict::Kind>(kind)};
}

Result<std::vector<verdict::Record>> verdicts_argument(const koord_verdict* verdicts, std::uint32_t n,
                                                       std::uint32_t stride) {
  const auto array = TRY(records_argument(verdicts, n, stride, "verdicts"));
  if (n > kMostVerdicts)
    return invalid("n is " + std::to_string(n) + ", expected at most " + std::to_string(kMostVerdicts) + " verdicts");
  std::vector<verdict::Record> records;
  records.reserve(n);
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    Result<verdict::Record> record = verdict_argument(array, i);
    if (!record) return std::move(record).error().context("verdict " + std::to_string(i));
    bytes += verdict::bytes_of(*record);
    if (bytes > kMostBytes)
      return invalid("the verdicts have more than " + std::to_string(kMostBytes) + " bytes, expected fewer at once");
    records.push_back(*std::move(record));
  }
  return records;
}

Result<std::string> why_argument(koord_str why) { return shown_text(why, "why", kMostNoteBytes); }

Result<void> on_argument(std::int32_t on) {
  if (on == 0 || on == 1) return {};
  return invalid("on is " + std::to_string(on) + ", expected 0 or 1");
}

Refusal refusal_of_verdict(const Error& error) {
  return {status_of(error), "a post is refused: " + why(error), why(error)};
}

}  // namespace koord::service
