// SPDX-License-Identifier: Apache-2.0
#include "core/kube/reflector.hpp"

#include <algorithm>

#include "core/kube/query.hpp"
#include "core/kube/refusal.hpp"

namespace koord::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// A watch that ends earlier and without changes has failed, because a proxy in between does not support it.
constexpr Duration kShortWatch = seconds(5);
constexpr std::uint32_t kMostShortWatches = 3;  // in a row; a restart of the server does not cause more of them
// A watch that was not refused within this time has begun. Longer than a call may take to begin.
constexpr Duration kBegun = seconds(15);
constexpr Duration kBetweenWatches = seconds(1);
// How long 404 for a known kind is not trusted, because a server that has just started may not know all kinds.
constexpr Duration kReallyMissing = minutes(2);
// The same for 403: an allowed request may be forbidden until the server has read its roles.
constexpr Duration kReallyForbidden = seconds(30);
constexpr std::size_t kMaxWatchLine = kMaxObjectBytes + 1024;  // an object, and the rest of its event

// Returns whether the server has no state to serve from yet. It says when to retry, so this does not increase the
// back-off.
bool is_initializing(const Status& status) {
  return status.code == 429 && status.message.find("initializing") != std::string::npos;
}

bool is_of_server(const Status& status) { return status.code >= 500 || status.code == 429; }

bool is_expired(const Status& status) {
  return status.code == 410 || status.reason == "Expired" || status.reason == "Gone";
}

}  // namespace

std::string_view name_of(Health::State state) {
  switch (state) {
    case Health::State::starting:
      return "starting";
    case Health::State::current:
      return "current";
    case Health::State::failing:
      return "failing";
    case Health::State::forbidden:
      return "forbidden";
    case Health::State::absent:
      return "absent";
  }
  return "?";
}

Reflector::Reflector(Collection collection, const ReflectorOptions& options, Time now, std::uint64_t seed)
    : collection_(std::move(collection)),
      options_(options),
      backoff_(options.first_wait, options.longest_wait, seed),
      not_before_(now) {
  health_.since = now;
}

Reflector::Step Reflector::next(Time now) {
  if (running_) {
    if (phase_ == Phase::list || settled_) return {Step::Do::wait, Time::max()};
    if (now - watch_began_ < kBegun) return {Step::Do::wait, watch_began_ + kBegun};
    settle(now);
    return {Step::Do::wait, Time::max()};
  }
  if (now < not_before_) return {Step::Do::wait, not_before_};
  running_ = true;
  if (phase_ == Phase::list) {
    if (continuation_.empty()) ++health_.lists;
    return {Step::Do::list, now};
  }
  ++health_.watches;
  heard_ = settled_ = was_begun_ = false;
  watch_began_ = now;
  watch_for_ = backoff_.random().between(options_.watch_at_least, options_.watch_at_least * 2);
  return {Step::Do::watch, now};
}

Call Reflector::call() const {
  Call call;
  Query query;
  query.add("fieldSelector", collection_.field_selector);
  query.add("labelSelector", collection_.label_selector);
  if (phase_ == Phase::watch) {
    call.verb = Verb::watch;
    call.max_body = kMaxWatchLine;
    query.add("watch", "true");
    query.add("allowWatchBookmarks", "true");
    query.add("resourceVersion", version_);
    query.add("timeoutSeconds", std::to_string(std::chrono::duration_cast<seconds>(watch_for_).count()));
  } else {
    call.verb = Verb::list;
    call.timeout = minutes(1);
    call.max_body = options_.max_bytes;
    query.add("limit", std::to_string(collection_.page));
    if (!continuation_.empty()) {
      query.add("continue", continuation_);
    } else if (!consistent_ && !collection_.newest) {
      // Requests a state from the server's memory: at first any state, later no state older than the known one.
      query.add("resourceVersion", version_.empty() ? "0" : version_);
      if (!version_.empty()) query.add("resourceVersionMatch", "NotOlderThan");
    }
  }
  call.target = collection_.path + query.text();
  return call;
}

std::optional<Reflector::Page> Reflector::listed(Time now, const Result<ListPage>& page) {
  running_ = false;
  if (!page) {
    reject(now, page.error().message());
    return std::nullopt;
  }
  const Page part{continuation_.empty(), page->continuation.empty()};
  pages_ = part.first ? 1 : pages_ + 1;
  if (pages_ > options_.max_pages) {
    reject(now, "a list of more than " + std::to_string(options_.max_pages) + " pages");
    return std::nullopt;
  }
  continuation_ = page->continuation;
  wait_until(now, part.last ? Phase::watch : Phase::list);
  if (!part.last) return part;
  version_ = page->resource_version;
  consistent_ = false;
  missing_since_.reset();
  kind_exists_ = true;
  health_.last_confirmed = now;
  if (watch_forbidden_) return part;
  cause_ = Cause::none;
  set_state(now, Health::State::current, {});
  return part;
}

void Reflector::list_failed(Time now, const Result<Reply>& reply) {
  running_ = false;
  if (!reply) return fail(now, Phase::list, reply.error().message(), Cause::server);
  const Status status = status_of(*reply);
  if (status.code == 404) return unknown_kind(now, describe(status));
  // The requested version has expired, or this server has not reached it yet. The next list asks for the newest state.
  if (continuation_.empty() && !version_.empty() && (is_expired(status) || status.code == 504 || status.code == 400))
    consistent_ = true;
  if (is_expired(status)) return expired(now, describe(status));
  refused(now, Phase::list, status);
}

Reflector::Line Reflector::line(Time now, std::string_view text) {
  Result<WatchEvent> event = parse_watch_event(text);
  if (!event) {
    fail(now, Phase::list, event.error().message(), Cause::other);
    return {std::nullopt, true};
  }
  if (event->kind == WatchEvent::Kind::error) {
    if (is_expired(event->status)) {
      expired(now, describe(event->status));
    } else {
      const bool passing = event->status.code >= 500 || event->status.code == 429;
      refused(now, passing ? Phase::watch : Phase::list, event->status);
    }
    return {std::nullopt, true};
  }
  confirm(now, event->object.resource_version);
  if (event->kind == WatchEvent::Kind::bookmark) return {};
  return {*std::move(event), false};
}

Reflector::Line Reflector::long_line(Time now, std::string_view head, std::size_t bytes) {
  Result<LargeEvent> event = parse_large_event(head, bytes);
  if (!event) {
    fail(now, Phase::list, event.error().message(), Cause::other);
    return {std::nullopt, true};
  }
  confirm(now, event->resource_version.empty() ? version_ : event->resource_version);
  if (event->kind != WatchEvent::Kind::deleted) return {std::nullopt, false, std::move(event->object)};
  WatchEvent change;
  change.kind = WatchEvent::Kind::deleted;
  change.object.name = std::move(event->object.name);
  change.object.name_space = std::move(event->object.name_space);
  return {std::move(change), false};
}

void Reflector::confirm(Time now, const std::string& version) {
  version_ = version;
  health_.last_confirmed = now;
  heard_ = true;
  // A watch settles only after this time. Otherwise a server that sends changes and then ends each watch with 410 would
  // be listed without a pause.
  if (now - watch_began_ >= kShortWatch)
    settle(now);
  else
    be_current(now);
}

void Reflector::watch_begun(Time now) {
  was_begun_ = true;
  if (cause_ != Cause::server) return;
  cause_ = Cause::none;
  watch_forbidden_ = false;
  health_.last_confirmed = now;
  set_state(now, Health::State::current, {});
}

void Reflector::watch_ended(Time now, const Result<Reply>& reply) {
  // If a proxy accepts watches and closes them immediately, accepting the next one does not mean that it has recovered.
  if (!reply && was_begun_ && !heard_ && now - watch_began_ < kShortWatch) ++short_watches_;
  if (!reply) {
    // A watch from the same version would begin with the same line.
    const bool is_line_too_long = reply.error().is(std::errc::message_size);
    const bool is_server_well = is_line_too_long || short_watches_ >= kMostShortWatches;
    return fail(now, is_line_too_long ? Phase::list : Phase::watch, reply.error().message(),
                is_server_well ? Cause::other : Cause::server);
  }
  if (!reply->ok()) {
    const Status status = status_of(*reply);
    if (is_expired(status) || status.code == 404) return expired(now, describe(status));
    return refused(now, Phase::watch, status);
  }
  const Duration lived = now - watch_began_;
  if (lived < kShortWatch && !heard_)
    return fail(now, Phase::watch, "the watch ended as soon as it had begun", Cause::other);
  running_ = false;
  settle(now);
  // The watch ended early, probably because the server shuts down, so all its watches end now.
  Duration pause =
      lived < watch_for_ ? backoff_.random().between(Duration::zero(), options_.first_wait / 2) : Duration::zero();
  wait_until(std::max(now + pause, watch_began_ + kBetweenWatches), Phase::watch);
}

void Reflector::reject(Time now, std::string problem) {
  running_ = false;
  cause_ = Cause::other;
  continuation_.clear();
  ++health_.failures;
  set_state(now, Health::State::failing, std::move(problem));
  wait_until(rarely(now), Phase::list);
}

void Reflector::set_state(Time now, Health::State state, std::string problem) {
  if (health_.state != state) health_.since = now;
  health_.state = state;
  health_.problem = std::move(problem);
}

std::optional<Time> Reflector::waits_for_server() const {
  if (running_ || cause_ != Cause::server) return std::nullopt;
  return asked_until_;
}

void Reflector::try_again(Time now) {
  if (waits_for_server()) not_before_ = std::min(not_before_, std::max(now, asked_until_));
}

void Reflector::server_answers(Time now, Duration spread) {
  if (!waits_for_server()) return;
  backoff_.succeeded();
  const Time soon = now + backoff_.random().between(Duration::zero(), spread);
  not_before_ = std::min(not_before_, std::max(soon, asked_until_));
}

void Reflector::begin_again(Time now) {
  running_ = false;
  not_before_ = now;
}

void Reflector::wait_until(Time at, Phase phase) {
  running_ = false;
  not_before_ = at;
  phase_ = phase;
}

Time Reflector::rarely(Time now) {
  return now + backoff_.random().between(options_.rare * 4 / 5, options_.rare * 6 / 5);
}

void Reflector::fail(Time now, Phase again, std::string problem, Cause cause, Duration at_least) {
  cause_ = cause;
  asked_until_ = at_least > Duration::zero() ? now + std::min(at_least, Backoff::kMaxAsked) : Time{};
  fail_for(now, again, std::move(problem), backoff_.failed(at_least));
}

void Reflector::fail_for(Time now, Phase again, std::string problem, Duration wait) {
  ++health_.failures;
  set_state(now, health_.last_confirmed ? Health::State::failing : Health::State::starting, std::move(problem));
  wait_until(now + wait, again);
}

void Reflector::refused(Time now, Phase again, const Status& status) {
  if (status.code == 403) return forbidden(now, describe(status));
  const Duration asked = status.retry_after.value_or(Duration::zero());
  if (!is_initializing(status) || asked == Duration::zero())
    return fail(now, again, describe(status), is_of_server(status) ? Cause::server : Cause::other, asked);
  cause_ = Cause::server;
  const Duration wait = std::min(asked, Backoff::kMaxAsked);
  asked_until_ = now + wait;
  fail_for(now, again, describe(status), backoff_.random().between(wait, wait + wait / 10));
}

void Reflector::forbidden(Time now, std::string problem) {
  ++health_.failures;
  watch_forbidden_ = phase_ == Phase::watch;
  continuation_.clear();
  set_state(now, Health::State::forbidden, std::move(problem));
  if (!forbidden_since_) forbidden_since_ = now;
  const bool may_pass = has_settled_ && now - *forbidden_since_ < kReallyForbidden;
  cause_ = may_pass ? Cause::server : Cause::other;
  asked_until_ = Time{};
  wait_until(may_pass ? now + std::min<Duration>(backoff_.failed(), seconds(5)) : rarely(now), Phase::list);
}

void Reflector::expired(Time now, std::string problem) {
  continuation_.clear();
  if (expired_before_) return fail(now, Phase::list, std::move(problem), Cause::other);
  expired_before_ = true;
  wait_until(now, Phase::list);
}

void Reflector::unknown_kind(Time now, std::string problem) {
  if (kind_exists_ && !missing_since_) missing_since_ = now;
  if (kind_exists_ && now - *missing_since_ < kReallyMissing)
    return fail(now, Phase::list, std::move(problem), Cause::server);
  cause_ = Cause::other;
  ++health_.failures;
  kind_exists_ = false;
  missing_since_.reset();
  version_.clear();
  continuation_.clear();
  health_.last_confirmed = now;
  set_state(now, Health::State::absent, std::move(problem));
  wait_until(rarely(now), Phase::list);
}

void Reflector::settle(Time now) {
  settled_ = true;
  expired_before_ = false;
  backoff_.succeeded();
  be_current(now);
}

void Reflector::be_current(Time now) {
  has_settled_ = true;
  short_watches_ = 0;
  cause_ = Cause::none;
  forbidden_since_.reset();
  watch_forbidden_ = false;
  health_.last_confirmed = now;
  set_state(now, Health::State::current, {});
}

}  // namespace koord::kube
