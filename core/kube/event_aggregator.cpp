// SPDX-License-Identifier: Apache-2.0
#include "core/kube/event_aggregator.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "core/base/timestamp.hpp"
#include "core/base/utf8.hpp"
#include "core/json/writer.hpp"

namespace koord::kube {
namespace {

// The limits of the API server.
constexpr std::size_t kMaxMessage = 1024;
constexpr std::size_t kMaxReason = 128;
constexpr std::size_t kMaxName = 253;

std::string text_of(std::string text, std::size_t most) {
  cut_utf8(text, most);
  replace_invalid_utf8(text);
  return text;
}

std::string key_of(const EventInput& input) {
  std::string key;
  const ObjectReference& about = input.about;
  for (const std::string& part :
       {about.api_version, about.kind, about.name_space, about.name, about.uid, input.reason, input.message})
    key += part + '\0';
  return key + (input.warning ? 'W' : 'N');
}

std::string name_space_of(const ObjectReference& about) {
  return about.name_space.empty() ? "default" : about.name_space;
}

std::string timestamp_of(std::int64_t wall_ns) { return format_timestamp(wall_ns / 1'000'000'000); }

class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value) {
    return value.empty() ? *this : raw(name, json_quote(value));
  }
  JsonObject& raw(std::string_view name, std::string_view value) {
    text_ += (text_.empty() ? "" : ",") + json_quote(name) + ':';
    text_ += value;
    return *this;
  }
  std::string json() const { return '{' + text_ + '}'; }

 private:
  std::string text_;
};

}  // namespace

EventAggregator::EventAggregator(Source source, const Limits& limits, std::uint64_t seed)
    : source_(std::move(source)),
      limits_(limits),
      backoff_(limits.first_wait, limits.longest_wait, seed),
      tokens_(limits.burst) {}

void EventAggregator::add(EventInput input, Time now, std::int64_t wall_ns) {
  input.message = text_of(std::move(input.message), kMaxMessage);
  input.reason = text_of(std::move(input.reason), kMaxReason);
  expire(now);
  std::string key = key_of(input);
  auto known = by_key_.find(key);
  if (known == by_key_.end()) {
    if (entries_.size() >= limits_.different && !make_room()) {
      ++dropped_;
      return;
    }
    Entry entry;
    entry.input = std::move(input);
    entry.first_wall_ns = wall_ns;
    entries_.push_back(std::move(entry));
    known = by_key_.emplace(std::move(key), std::prev(entries_.end())).first;
    known->second->key = known->first;
  }
  Entry& entry = *known->second;
  ++entry.count;
  entry.last = now;
  entry.last_wall_ns = wall_ns;
  entries_.splice(entries_.end(), entries_, known->second);
}

std::optional<EventAggregator::Write> EventAggregator::next(Time now) {
  expire(now);
  if (due(now) > now) return std::nullopt;
  auto entry = next_entry(now);
  tokens_ = tokens_at(now) - 1;
  tokens_since_ = now;
  running_ = entry;
  running_count_ = entry->count;
  Write write;
  write.name_space = name_space_of(entry->input.about);
  write.create = !entry->exists;
  if (write.create) {
    if (entry->name.empty()) entry->name = new_name(*entry);
    write.body = event_json(*entry);
  } else {
    write.body = JsonObject()
                     .raw("count", std::to_string(entry->count))
                     .text("lastTimestamp", timestamp_of(entry->last_wall_ns))
                     .json();
  }
  write.name = entry->name;
  return write;
}

Time EventAggregator::due(Time now) const {
  if (running_) return Time::max();
  Time earliest = Time::max();
  for (const Entry& entry : entries_)
    if (entry.count > entry.written) earliest = std::min(earliest, entry.not_before);
  if (earliest == Time::max()) return earliest;
  const double missing = std::max(0.0, 1 - tokens_at(now));
  const auto wait = Duration(static_cast<std::int64_t>(missing * static_cast<double>(limits_.refill.count()) + 0.5));
  return std::max({earliest, quiet_until_, now + wait});
}

void EventAggregator::ended(Outcome outcome, Time now, Duration wait) {
  auto entry = *std::exchange(running_, std::nullopt);
  quiet_until_ = now + wait;
  switch (outcome) {
    case Outcome::written:
      backoff_.succeeded();
      entry->exists = true;
      entry->written = running_count_;
      entry->not_before = now + limits_.patch_period;
      break;
    case Outcome::exists:
      entry->exists = true;
      break;
    case Outcome::gone:
      entry->exists = false;
      entry->name.clear();
      break;
    case Outcome::refused:
      forget(entry);
      break;
    case Outcome::failed:
      quiet_until_ = now + backoff_.failed(wait);
      break;
  }
}

// Forgets old entries. If the same event occurs again, it becomes a new Event. An event that could not be written in
// this time is outdated.
void EventAggregator::expire(Time now) {
  for (auto entry = entries_.begin(); entry != entries_.end() && now - entry->last > limits_.window;) {
    auto old = entry++;
    if (running_ != old) forget(old);
  }
}

bool EventAggregator::make_room() {
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->count > entry->written || running_ == entry) continue;
    forget(entry);
    return true;
  }
  return false;
}

void EventAggregator::forget(Entries::iterator entry) {
  dropped_ += entry->count - entry->written;
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

double EventAggregator::tokens_at(Time now) const {
  const double refilled =
      static_cast<double>((now - tokens_since_).count()) / static_cast<double>(limits_.refill.count());
  return std::min<double>(limits_.burst, tokens_ + std::max(0.0, refilled));
}

// Returns the next entry to write. New Events come before patches.
EventAggregator::Entries::iterator EventAggregator::next_entry(Time now) {
  auto chosen = entries_.end();
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->count == entry->written || entry->not_before > now) continue;
    if (!entry->exists) return entry;
    if (chosen == entries_.end()) chosen = entry;
  }
  return chosen;
}

std::string EventAggregator::new_name(const Entry& entry) {
  char suffix[24];
  std::snprintf(suffix, sizeof suffix, ".%016llx", static_cast<unsigned long long>(backoff_.random().next()));
  return entry.input.about.name.substr(0, kMaxName - 17) + suffix;
}

std::string EventAggregator::event_json(const Entry& entry) const {
  const ObjectReference& about = entry.input.about;
  const std::string metadata = JsonObject().text("name", entry.name).text("namespace", name_space_of(about)).json();
  const std::string involved = JsonObject()
                                   .text("apiVersion", about.api_version)
                                   .text("kind", about.kind)
                                   .text("namespace", about.name_space)
                                   .text("name", about.name)
                                   .text("uid", about.uid)
                                   .json();
  return JsonObject()
      .text("apiVersion", "v1")
      .text("kind", "Event")
      .raw("metadata", metadata)
      .raw("involvedObject", involved)
      .text("reason", entry.input.reason)
      .text("message", entry.input.message)
      .text("type", entry.input.warning ? "Warning" : "Normal")
      .raw("source", JsonObject().text("component", source_.component).text("host", source_.host).json())
      .text("reportingComponent", source_.component)
      .text("reportingInstance", source_.host)
      .text("firstTimestamp", timestamp_of(entry.first_wall_ns))
      .text("lastTimestamp", timestamp_of(entry.last_wall_ns))
      .raw("count", std::to_string(entry.count))
      .json();
}

}  // namespace koord::kube
