// SPDX-License-Identifier: Apache-2.0
#include "many_agents.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <queue>
#include <utility>

#include "core/base/backoff.hpp"
#include "core/kube/reflector.hpp"
#include "core/report/delivery.hpp"

namespace koord::test {
namespace {

using namespace std::chrono_literals;
using kube::Reflector;

const Time kBegin = from_ns(1'700'000'000'000'000'000);
constexpr int kFirstReport = 1 << 24;  // actors from this index on are reports, the others are collections

struct Watched {
  Reflector reflector;
  int node = 0;
  bool watching = false;
  Time ends{};         // end of the open watch
  bool before = true;  // its state is older than the outage
};

struct Report {
  report::Delivery delivery;
  std::optional<Time> written = std::nullopt;
};

}  // namespace

struct ManyAgents::State {
  State(const SimulatedServer& a_server, Duration length)
      : server(a_server), end(kBegin + length), seconds(static_cast<std::size_t>(length / 1s) + 1) {
    RandomSource random(1);
    for (int node = 0; node < kNodes; ++node) {
      const Time start = kBegin + random.between(Duration::zero(), 10min);
      for (int i = 0; i < kCollections; ++i) {
        queue.push({start, static_cast<int>(collections.size())});
        collections.push_back({Reflector({.path = "/apis/a/v1/things"}, {}, start, random.next()), node});
      }
      reports.push_back({report::Delivery({}, random.next())});
      reports.back().delivery.begin(start, std::nullopt);
      queue.push({start, kFirstReport + node});
    }
  }

  void run() {
    while (!queue.empty() && queue.top().first < end) {
      const auto [now, actor] = queue.top();
      queue.pop();
      const Time next = actor >= kFirstReport ? report(now, actor - kFirstReport)
                                              : follow(now, collections[static_cast<std::size_t>(actor)]);
      if (next < end) queue.push({next, actor});
    }
  }

  // Counts a request. Returns its error, or nullopt if it succeeds.
  std::optional<Result<kube::Reply>> ask(Time now, int Second::*kind, int node) {
    Second& second = seconds[static_cast<std::size_t>((now - kBegin) / 1s)];
    const bool busy = second.all() >= server.capacity;
    ++(second.*kind);
    if (!server.is_up(now - kBegin)) return Result<kube::Reply>(invalid("connection refused"));
    if (busy) return Result<kube::Reply>(kube::Reply{429, "", 1s});
    second.served.insert(node);
    return std::nullopt;
  }

  Time follow(Time now, Watched& watched) {
    if (watched.watching && now >= watched.ends) end_watch(now, watched);
    const Reflector::Step step = watched.reflector.next(now);
    if (step.what == Reflector::Step::Do::wait) return watched.watching ? std::min(step.at, watched.ends) : step.at;
    if (step.what == Reflector::Step::Do::list)
      list(now, watched);
    else
      begin_watch(now, watched);
    return now;
  }

  void list(Time now, Watched& watched) {
    if (auto refused = ask(now, &Second::lists, watched.node)) return watched.reflector.list_failed(now, *refused);
    watched.before = !server.is_new(now - kBegin);
    watched.reflector.listed(now, kube::ListPage{"5", "", {}});
  }

  void begin_watch(Time now, Watched& watched) {
    if (auto refused = ask(now, &Second::watches, watched.node)) return watched.reflector.watch_ended(now, *refused);
    if (watched.before && server.is_new(now - kBegin)) return watched.reflector.watch_ended(now, kube::Reply{410, ""});
    const std::string target = watched.reflector.call().target;
    int timeout = 0;
    std::from_chars(target.data() + target.rfind('=') + 1, target.data() + target.size(), timeout);
    watched.watching = true;
    watched.ends = now + std::chrono::seconds(timeout);
    if (!server.is_new(now - kBegin)) watched.ends = std::min(watched.ends, kBegin + server.down_from);
  }

  void end_watch(Time now, Watched& watched) {
    watched.watching = false;
    if (server.is_up(now - kBegin)) return watched.reflector.watch_ended(now, kube::Reply{200, ""});
    watched.reflector.watch_ended(now, invalid("connection reset"));
  }

  Time report(Time now, int node) {
    Report& report = reports[static_cast<std::size_t>(node)];
    if (report.delivery.due(now, 100)) {
      if (report.written) shortest_gap = std::min(shortest_gap, now - *report.written);
      report.written = now;
      if (auto refused = ask(now, &Second::writes, node))
        report.delivery.refused(now, *refused ? (*refused)->retry_after : std::nullopt);
      else
        report.delivery.accepted(now);
    }
    return std::max(report.delivery.next_change(), now + 1ms);
  }

  SimulatedServer server;
  Time end;
  std::vector<Second> seconds;
  std::vector<Watched> collections;
  std::vector<Report> reports;
  using Turn = std::pair<Time, int>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> queue;
  Duration shortest_gap = Duration::max();
};

ManyAgents::ManyAgents(const SimulatedServer& server, Duration length)
    : state_(std::make_unique<State>(server, length)) {
  state_->run();
}

ManyAgents::~ManyAgents() = default;

int ManyAgents::most(Duration from, Duration to, Count count) const {
  int most = 0;
  for (auto second = from / 1s; second < to / 1s; ++second)
    most = std::max(most, count(state_->seconds[static_cast<std::size_t>(second)]));
  return most;
}

int ManyAgents::sum(Duration from, Duration to, Count count) const {
  int sum = 0;
  for (auto second = from / 1s; second < to / 1s; ++second)
    sum += count(state_->seconds[static_cast<std::size_t>(second)]);
  return sum;
}

int ManyAgents::behind() const {
  return static_cast<int>(std::count_if(
      state_->collections.begin(), state_->collections.end(),
      [](const Watched& watched) { return watched.reflector.health().state != kube::Health::State::current; }));
}

Duration ManyAgents::shortest_gap() const { return state_->shortest_gap; }

}  // namespace koord::test
