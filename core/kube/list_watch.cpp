// SPDX-License-Identifier: Apache-2.0
#include "core/kube/list_watch.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/parse.hpp"

namespace koord::kube {
namespace {

// Timers do not use `clock` but a different clock, so the time is checked again after at most this time.
constexpr Duration kLongestWatchTimer = std::chrono::minutes(1);
// After an outage of the server, its collections continue at random times within this period, not all at the same time.
constexpr Duration kSpread = std::chrono::seconds(1);
// A request that is still unsent after this time waits for a connection that it began during the outage.
constexpr Duration kNeverLeft = std::chrono::seconds(3);
constexpr std::size_t kMostLargeNamed = 3;

struct Parsed {
  Result<ListPage> page;  // its views are invalid
  std::vector<KeptObjectPtr> objects;
};

Parsed parse(const std::string& body, const Keep& what, std::size_t max_objects) {
  Parsed parsed{parse_list(body, max_objects), {}};
  if (!parsed.page) return parsed;
  parsed.objects.reserve(parsed.page->objects.size());
  for (const ObjectView& object : parsed.page->objects) parsed.objects.push_back(keep(object, what));
  parsed.page->objects.clear();
  return parsed;
}

}  // namespace

struct ListWatch::State : std::enable_shared_from_this<State> {
  State(event::Loop& a_loop, event::WorkerPool& some_workers, const Clock& a_clock, Client& a_client,
        Collection collection, ListWatchOptions some_options, ListWatchHandlers some_handlers)
      : loop(a_loop),
        workers(some_workers),
        clock(a_clock),
        client(a_client),
        options(std::move(some_options)),
        handlers(std::move(some_handlers)),
        reflector(std::move(collection), options.reflector, clock.now(), random_seed()),
        set(options.limits),
        member(client.server_health(), [this](ServerHealth::Wake why) { wake(why); }) {}

  void go_on() {
    report_health();
    const Time now = clock.now();
    const Reflector::Step step = reflector.next(now);
    timer.reset();
    switch (step.what) {
      case Reflector::Step::Do::wait:
        if (step.at != Time::max()) wake_after(step.at - now);
        break;
      case Reflector::Step::Do::list:
        list();
        break;
      case Reflector::Step::Do::watch:
        watch();
        wake_after(reflector.next(now).at - now);
        break;
    }
    if (const std::optional<Time> not_before = reflector.waits_for_server())
      member.wait(*not_before);
    else
      member.stop_waiting();
  }

  void wake(ServerHealth::Wake why) {
    const Time now = clock.now();
    const bool answers = why == ServerHealth::Wake::answered;
    if (reflector.waits_for_server()) {
      if (answers)
        reflector.server_answers(now, kSpread);
      else
        reflector.try_again(now);
    } else if (answers && asked_at && now - *asked_at >= kNeverLeft && pending && !pending->was_sent()) {
      pending.reset();
      reflector.begin_again(now);
    } else {
      return;
    }
    go_on();
  }

  void wake_after(Duration wait) {
    timer =
        loop.after(std::clamp(wait, Duration(std::chrono::milliseconds(1)), kLongestWatchTimer), [this] { go_on(); });
  }

  void list() {
    asked_at = clock.now();
    pending = client.send(reflector.call(), [this](Result<Reply> reply) { on_list_reply(std::move(reply)); });
  }

  void on_list_reply(Result<Reply> reply) {
    asked_at.reset();
    if (!reply || !reply->ok()) {
      reflector.list_failed(clock.now(), reply);
      if (reflector.health().state == Health::State::absent) {
        too_large.clear();
        report_too_large();
        changed(set.clear());
      }
      return go_on();
    }
    member.succeeded();
    workers.post([&to = loop, state = weak_from_this(), body = std::move(reply->body), what = options.keep,
                  most = options.limits.objects] {
      auto parsed = std::make_shared<Parsed>(parse(body, what, most));
      to.post([state, parsed] {
        if (auto self = state.lock()) self->on_page(std::move(*parsed));
      });
    });
  }

  void on_page(Parsed parsed) {
    const Time now = clock.now();
    if (std::optional<Reflector::Page> page = reflector.listed(now, parsed.page)) {
      if (page->first) large_in_list.clear();
      keep_known(parsed.page->too_large, parsed.objects);
      Result<Difference> difference = set.page(std::move(parsed.objects), page->first, page->last);
      if (!difference) {
        reflector.reject(now, difference.error().message());
      } else if (page->last) {
        too_large = std::exchange(large_in_list, {});
        report_too_large();
        // A first list in which every object is too large is not reported as empty.
        const bool says_nothing = !known && set.objects().empty() && !too_large.empty();
        if (!says_nothing) changed(*difference);
      }
    }
    go_on();
  }

  // Adds the known versions of the objects of a page that are too large. A large object with a different uid is a new
  // object of the same name, so the known version is not added.
  void keep_known(const std::vector<LargeObject>& large, std::vector<KeptObjectPtr>& objects) {
    for (const LargeObject& object : large) {
      const std::string key = key_of(object.name_space, object.name);
      const auto before = set.objects().find(key);
      const bool is_same = before != set.objects().end() && (object.uid.empty() || object.uid == before->second->uid);
      if (is_same) objects.push_back(before->second);
      large_in_list.emplace(key, object);
    }
  }

  void report_too_large() {
    std::vector<std::string> texts;
    for (const auto& [key, object] : too_large)
      if (texts.size() < kMostLargeNamed) texts.push_back(describe(object));
    std::string text = join(texts, "; ");
    if (too_large.size() > texts.size()) text += "; and " + std::to_string(too_large.size() - texts.size()) + " more";
    reflector.set_left_out(std::move(text));
  }

  void watch() {
    Client::WatchHandlers watch_handlers;
    watch_handlers.on_line = [this](std::string_view line) { on_line(reflector.line(clock.now(), line)); };
    watch_handlers.on_long_line = [this](std::string_view head, std::size_t bytes) {
      on_line(reflector.long_line(clock.now(), head, bytes));
    };
    watch_handlers.on_begin = [this] {
      asked_at.reset();
      reflector.watch_begun(clock.now());
      report_health();
      member.watch_opened();
    };
    watch_handlers.on_end = [this](Result<Reply> reply) {
      asked_at.reset();
      member.watch_closed();
      reflector.watch_ended(clock.now(), reply);
      go_on();
    };
    asked_at = clock.now();
    pending = client.watch(reflector.call(), std::move(watch_handlers));
  }

  void on_line(const Reflector::Line& line) {
    const Time now = clock.now();
    bool ends = line.ends;
    // The size of the first version that was too large is kept, so a problem is reported only once.
    if (line.too_large) {
      const std::string key = key_of(line.too_large->name_space, line.too_large->name);
      if (too_large.emplace(key, *line.too_large).second) report_too_large();
    }
    if (line.change) {
      if (too_large.erase(key_of(line.change->object.name_space, line.change->object.name)) != 0) report_too_large();
      Result<Difference> difference = apply(*line.change);
      if (!difference) {
        reflector.reject(now, difference.error().message());
        ends = true;
      } else {
        changed(*difference);
      }
    }
    if (ends) {
      pending.reset();
      asked_at.reset();
      member.watch_closed();
      go_on();
    } else {
      report_health();
    }
  }

  Result<Difference> apply(const WatchEvent& event) {
    KeptObjectPtr object = keep(event.object, options.keep);
    if (event.kind == WatchEvent::Kind::deleted) return set.remove(key_of(*object));
    return set.put(std::move(object));
  }

  void changed(const Difference& difference) {
    const bool first = !std::exchange(known, true);
    if (handlers.on_objects && (first || !difference.empty())) handlers.on_objects(set.objects(), difference);
  }

  void report_health() {
    const Health& now = reflector.health();
    if (handlers.on_confirmed && now.last_confirmed && now.last_confirmed != reported_confirmed)
      handlers.on_confirmed(*now.last_confirmed);
    reported_confirmed = now.last_confirmed;
    if (std::tie(now.state, now.problem, now.left_out) == reported_health) return;
    reported_health = {now.state, now.problem, now.left_out};
    if (handlers.on_health) handlers.on_health(now);
  }

  event::Loop& loop;
  event::WorkerPool& workers;
  const Clock& clock;
  Client& client;
  ListWatchOptions options;
  ListWatchHandlers handlers;
  Reflector reflector;
  ObjectSet set;
  Client::PendingPtr pending;
  std::optional<Time> asked_at;  // time of a request that has no answer so far
  std::unique_ptr<event::Timer> timer;
  ServerHealth::Member member;
  bool known = false;
  std::optional<Time> reported_confirmed;
  std::tuple<Health::State, std::string, std::string> reported_health{Health::State::starting, {}, {}};
  std::map<std::string, LargeObject> too_large, large_in_list;  // key: the object's key; the second: in the list
};

ListWatch::ListWatch(event::Loop& loop, event::WorkerPool& workers, const Clock& clock, Client& client,
                     Collection collection, ListWatchOptions options, ListWatchHandlers handlers)
    : state_(std::make_shared<State>(loop, workers, clock, client, std::move(collection), std::move(options),
                                     std::move(handlers))) {
  state_->go_on();
}

ListWatch::~ListWatch() = default;

const Health& ListWatch::health() const { return state_->reflector.health(); }

const Collection& ListWatch::collection() const { return state_->reflector.collection(); }

const Objects& ListWatch::objects() const { return state_->set.objects(); }

}  // namespace koord::kube
