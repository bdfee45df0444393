// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/watch.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/aggregated/aggregated_log.hpp"
#include "core/aggregated/forms.hpp"

namespace koord::aggregated {
namespace {

constexpr std::size_t kChangesAtOnce = 64;
constexpr Duration kLeastTimeout = std::chrono::minutes(30);

std::uint64_t next_watch_id() {
  static constinit std::atomic<std::uint64_t> last = 0;
  return ++last;
}

// Returns half an hour to an hour, like an API server. So watches that began together do not end together.
Duration usual_timeout(std::uint64_t id) { return kLeastTimeout + std::chrono::seconds(id * 2654435761u % 1800); }

}  // namespace

Watch::Watch(Parts parts, Call call, std::optional<Version> from, std::string client)
    : parts_(parts),
      call_(std::move(call)),
      client_(std::move(client)),
      id_(next_watch_id()),
      is_initial_(!from),
      at_(from.value_or(parts.store.newest())),
      known_(at_),
      ends_(parts.clock.now() + (call_.timeout > Duration::zero() ? call_.timeout : usual_timeout(id_))),
      next_bookmark_(parts.clock.now() + parts.bookmark_period) {
  ++parts_.counters.open;
}

Watch::~Watch() {
  parts_.store.forget(id_);
  --parts_.counters.open;
}

void Watch::on_slow_peer() {
  ++parts_.counters.slow;
  log::warn(aggregated_log, "the watch of '{}' is cut: it took no event in time", client_);
}

bool Watch::selects(const Object& object) const {
  return (call_.name.empty() || object.name() == call_.name) && call_.selector.matches(object);
}

http::BodyStream::Piece Watch::event(std::string_view type, const ObjectPtr& object) {
  ++parts_.counters.events;
  std::string head = "{\"type\":\"" + std::string(type) + "\",\"object\":";
  if (call_.accepted.form == Form::json) {
    const auto plain = parts_.store.plain(object);
    return plain ? Piece{State::piece, std::move(head), plain->event_text} : give_up(*object, plain.error());
  }
  call_.accepted.now_seconds = parts_.clock.wall_ns() / 1'000'000'000;
  const auto whole = whole_object(call_.accepted, *object, !std::exchange(has_columns_, true));
  if (!whole) return give_up(*object, whole.error());
  return {State::piece, head + *whole + std::string(Object::kEventEnd)};
}

http::BodyStream::Piece Watch::bookmark(bool ends_initial) {
  next_bookmark_ = parts_.clock.now() + parts_.bookmark_period;
  return {State::piece,
          "{\"type\":\"BOOKMARK\",\"object\":" + bookmark_object(call_.accepted, at_, ends_initial) + "}\n"};
}

http::BodyStream::Piece Watch::expire() {
  ++parts_.counters.expired;
  return last_event(expired(at_, parts_.store.oldest()));
}

http::BodyStream::Piece Watch::give_up(const Object& object, const Error& error) {
  log::error(aggregated_log, "{}, ending the watch of '{}'", error.message(), client_);
  return last_event(internal_error(object.name(), error.message()));
}

http::BodyStream::Piece Watch::last_event(const Failure& failure) {
  has_ended_ = true;
  std::string status = status_text(failure);
  status.pop_back();  // the line break
  return {State::piece, "{\"type\":\"ERROR\",\"object\":" + status + "}\n"};
}

http::BodyStream::Piece Watch::end() {
  has_ended_ = true;
  return {State::ended};
}

// Returns the next object by name. After the last object, the changes since the start follow.
http::BodyStream::Piece Watch::initial() {
  while (true) {
    const std::vector<ObjectPtr> objects = parts_.store.behind(initial_name_, kChangesAtOnce);
    for (const ObjectPtr& object : objects) {
      initial_name_ = object->name();
      if (!selects(*object)) continue;
      if (object->version() > known_) sent_[object->name()] = object->version();
      return event("ADDED", object);
    }
    if (!objects.empty()) continue;
    is_initial_ = false;
    return call_.sends_initial ? bookmark(true) : Piece();
  }
}

std::optional<http::BodyStream::Piece> Watch::event_of(const Store::Change& change) {
  const Object& object = *change.object;
  at_ = object.version();
  const auto sent = sent_.find(object.name());
  const Version since = sent == sent_.end() ? known_ : sent->second;
  if (object.version() <= since) return std::nullopt;
  const bool was_known = object.created <= since, labels_changed = object.labelled > since;
  if (change.is_deleted || !selects(object)) return deletion(change, was_known, labels_changed);
  // The garbage collector reads only metadata, so it does not need an event for each report.
  const bool is_report = was_known && object.described <= since;
  if (is_report && call_.accepted.form == Form::metadata_only) return std::nullopt;
  if (object.created > known_ || object.labelled > known_) sent_[object.name()] = object.version();
  return event(was_known && !labels_changed ? "MODIFIED" : "ADDED", change.object);
}

// Returns the event of an object that was deleted or is no longer selected. If its labels have changed, the object may
// have been selected before.
std::optional<http::BodyStream::Piece> Watch::deletion(const Store::Change& change, bool was_known,
                                                       bool labels_changed) {
  const Object& object = *change.object;
  const bool is_named =
      (call_.name.empty() || object.name() == call_.name) && call_.selector.matches_name(object.name());
  const bool was_selected = is_named && (labels_changed || call_.selector.matches(object.labels()));
  if (!change.is_deleted && labels_changed) sent_[object.name()] = object.version();
  if (change.is_deleted) sent_.erase(object.name());
  return was_known && was_selected ? std::optional(event("DELETED", change.object)) : std::nullopt;
}

std::optional<http::BodyStream::Piece> Watch::change() {
  while (true) {
    const auto changes = parts_.store.changes(at_, kChangesAtOnce);
    if (!changes) return expire();
    if (changes->empty()) {
      known_ = at_;
      sent_.clear();
      return std::nullopt;
    }
    for (const Store::Change& one : *changes)
      if (auto event = event_of(one)) return event;
  }
}

http::BodyStream::Piece Watch::next(const std::function<void()>& wake) {
  timer_.reset();
  const Time now = parts_.clock.now();
  if (has_ended_ || parts_.store.is_closed() || now >= ends_) return end();
  if (is_initial_) {
    Piece piece = initial();
    if (piece.state == State::piece) return piece;
  }
  do {
    if (auto piece = change()) return *std::move(piece);
  } while (!parts_.store.wait(at_, id_, wake) && !parts_.store.is_closed());
  if (parts_.store.is_closed()) return end();
  if (call_.has_bookmarks && now >= next_bookmark_) {
    parts_.store.forget(id_);
    return bookmark(false);
  }
  const Time until = call_.has_bookmarks ? std::min(ends_, next_bookmark_) : ends_;
  if (parts_.loop != nullptr) timer_ = parts_.loop->after(until - now, wake);
  return {};
}

}  // namespace koord::aggregated
