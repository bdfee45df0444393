// SPDX-License-Identifier: Apache-2.0
#include "core/manager/per_node_objects.hpp"

#include <algorithm>
#include <utility>

#include "core/base/parse.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"
#include "core/json/writer.hpp"

namespace koord::manager {
namespace {

namespace json = boost::json;

constexpr Duration kFirstWait = std::chrono::milliseconds(500);
constexpr Duration kLongestWait = std::chrono::minutes(1);

// Returns the version as a number. 0: it is not a number, so its age is unknown.
std::uint64_t version_number(const std::string& version) { return parse_uint(version).value_or(0); }

}  // namespace

PerNodeObjects::PerNodeObjects(Options options, std::uint64_t seed)
    : options_(std::move(options)), random_(seed), bounds_(options_.bounds) {}

PerNodeObjects::One& PerNodeObjects::object_of(const std::string& name) {
  const auto found = objects_.find(name);
  if (found != objects_.end()) return found->second;
  return objects_.emplace(name, One(Backoff(kFirstWait, kLongestWait, random_.next()))).first->second;
}

void PerNodeObjects::touch(const std::string& name, Time at) {
  const auto queued = queued_.find(name);
  if (queued != queued_.end()) {
    if (queued->second <= at) return;
    queue_.erase({queued->second, name});
    queued_.erase(queued);
  }
  queue_.emplace(at, name);
  queued_.emplace(name, at);
}

Result<void> PerNodeObjects::want(const std::string& node, std::string_view spec) {
  json::value wanted = TRY(read_json(spec));
  One& object = object_of(node);
  object.orphan_since.reset();
  if (object.wanted == wanted) return {};
  if (!object.wanted) ++wanted_;
  object.wanted = std::move(wanted);
  touch(node, Time::min());
  return {};
}

void PerNodeObjects::unwant(const std::string& node) {
  const auto object = objects_.find(node);
  if (object == objects_.end()) return;
  if (object->second.wanted) --wanted_;
  object->second.wanted.reset();
  touch(node, Time::min());
}

Result<PerNodeObjects::Seen> PerNodeObjects::parse(std::string_view text) {
  const json::value document = TRY(read_json(text));
  const JsonField object(document);
  Seen seen;
  TRY(object.check_mapping());
  TRY(object["metadata"].check_mapping());
  seen.metadata = object["metadata"].empty() ? "{}" : object["metadata"].json();
  seen.uid = TRY(object["metadata"]["uid"].text());
  seen.version = TRY(object["metadata"]["resourceVersion"].text());
  if (const json::object* members = document.if_object())
    if (const json::value* spec = members->if_contains("spec")) seen.spec = *spec;
  return seen;
}

// Returns whether the object has the wanted spec, or the spec that the server stored when we wrote the wanted spec.
bool PerNodeObjects::is_as_wanted(const One& object) const {
  if (object.seen->spec == *object.wanted) return true;
  return object.written_spec == object.wanted && object.stored_spec == object.seen->spec;
}

Result<void> PerNodeObjects::observe(Time now, const std::string& name, std::string_view text) {
  Seen seen = TRY(parse(text));
  One& object = object_of(name);
  const std::uint64_t version = version_number(seen.version);
  if (version != 0 && version < object.stored_version) return {};  // older than our last write
  const bool was_ours = object.seen && object.wanted && !object.running && is_as_wanted(object);
  object.seen = std::move(seen);
  touch(name, Time::min());
  // An object that we never wrote is not ours, so overwriting it the first time does not count.
  if (was_ours && object.stored_spec && !is_as_wanted(object))
    bounds_.overwritten(name, last_manager_of(text, options_.manager), now);
  return {};
}

void PerNodeObjects::observe_removed(const std::string& name) {
  const auto object = objects_.find(name);
  if (object == objects_.end()) return;
  object->second.seen.reset();
  object->second.stored_spec.reset();
  touch(name, Time::min());
}

std::optional<PerNodeObjects::Write> PerNodeObjects::write_of(const std::string& name, One& object) const {
  Write write;
  write.name = name;
  if (!object.wanted) {
    if (!object.seen) return std::nullopt;
    write.what = Write::Do::remove;
    JsonWriter body;
    body.begin_object().member("kind", "DeleteOptions").member("apiVersion", "v1").key("preconditions").begin_object();
    body.member("uid", std::string_view(object.seen->uid)).end_object().end_object();
    write.object = body.text();
    return write;
  }
  if (object.seen && is_as_wanted(object)) return std::nullopt;
  write.what = object.seen ? Write::Do::replace : Write::Do::create;
  json::object body{{"apiVersion", options_.api_version}, {"kind", options_.kind}};
  body["metadata"] = object.seen ? *read_json(object.seen->metadata) : json::value(json::object{{"name", name}});
  body["spec"] = *object.wanted;
  write.object = json::serialize(body);
  return write;
}

// Returns when the object may be written. Time::max(): not before something changes.
Time PerNodeObjects::ready_at(Time now, const std::string& name, One& object) {
  if (object.running) return Time::max();
  Time at = std::max(object.not_before, bounds_.may_write_at(name, now));
  if (object.wanted || !object.seen) return at;
  if (!object.orphan_since) object.orphan_since = now;
  return std::max(at, later(*object.orphan_since, options_.orphan_grace));
}

std::optional<PerNodeObjects::Write> PerNodeObjects::next(Time now) {
  while (!queue_.empty() && queue_.begin()->first <= now) {
    const std::string name = queue_.begin()->second;
    queue_.erase(queue_.begin());
    queued_.erase(name);
    const auto found = objects_.find(name);
    if (found == objects_.end()) continue;
    One& object = found->second;
    if (!object.wanted && !object.seen && !object.running) {
      objects_.erase(found);
      bounds_.forget(name);
      continue;
    }
    std::optional<Write> write = object.running ? std::nullopt : write_of(name, object);
    if (!write) continue;
    const Time at = ready_at(now, name, object);
    if (at > now) {
      touch(name, at);
      continue;
    }
    object.running = write->what;
    object.written_spec = object.wanted;
    return write;
  }
  return std::nullopt;
}

Time PerNodeObjects::due() const { return queue_.empty() ? Time::max() : queue_.begin()->first; }

void PerNodeObjects::take_stored(Time now, const std::string& name, One& object, std::string_view stored) {
  Result<Seen> seen = parse(stored);
  if (!seen) return;
  object.stored_spec = seen->spec;
  object.stored_version = version_number(seen->version);
  // A watch event may have arrived before the response, perhaps with a newer change by a different program.
  const bool has_newer = object.seen && version_number(object.seen->version) > object.stored_version;
  if (!has_newer)
    object.seen = *std::move(seen);
  else if (object.wanted && !is_as_wanted(object))
    bounds_.overwritten(name, "", now);
}

void PerNodeObjects::forget_writes() {
  for (auto& [name, object] : objects_) {
    object.stored_spec.reset();
    touch(name, Time::min());
  }
  bounds_.forget_all();
}

void PerNodeObjects::ended(Time now, const std::string& name, Outcome outcome, std::string_view stored) {
  const auto found = objects_.find(name);
  if (found == objects_.end() || !found->second.running) return;
  One& object = found->second;
  const Write::Do what = *std::exchange(object.running, std::nullopt);
  if (outcome == Outcome::done) {
    object.backoff.succeeded();
    object.not_before = now;
    ++(what == Write::Do::create ? counts_.created : what == Write::Do::replace ? counts_.replaced : counts_.removed);
    if (what == Write::Do::remove)
      object.seen.reset();
    else if (!stored.empty())
      take_stored(now, name, object, stored);
  } else {
    ++(outcome == Outcome::changed ? counts_.changed : counts_.failed);
    object.not_before = later(now, object.backoff.failed());
  }
  touch(name, object.not_before);
}

}  // namespace koord::manager
