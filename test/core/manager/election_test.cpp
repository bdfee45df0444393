// SPDX-License-Identifier: Apache-2.0
#include "core/manager/election.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <vector>

using namespace koord;
using namespace koord::manager;
using namespace std::chrono_literals;
using Do = Election::Step::Do;

namespace {

// The API server: one lease with versions.
struct Server {
  std::optional<LeaseRecord> lease;
  std::uint64_t version = 0;

  enum class Result { done, conflict };
  Result write(LeaseRecord record, LeaseRecord& stored) {
    const bool creates = record.object.empty();
    if (creates == lease.has_value()) return Result::conflict;
    if (!creates && record.resource_version != lease->resource_version) return Result::conflict;
    record.resource_version = std::to_string(++version);
    record.object = "{}";
    lease = record;
    stored = record;
    return Result::done;
  }
};

// One replica with its own clock, and a network that can be cut or slow.
struct Replica {
  Replica(std::string name, Server& of, Duration clock_offset, std::uint64_t seed)
      : server(of), offset(clock_offset), election(std::move(name), {}, at(Time{}), seed) {}

  Time at(Time real) const { return real + offset; }

  // Sends due requests and delivers answers that have arrived.
  void step(Time real) {
    if (dead) return;
    if (pending && real >= pending->arrives) deliver(real);
    if (pending && real >= pending->gives_up) {
      pending.reset();
      election.failed(at(real));
    }
    if (pending) return;
    const Election::Step step = election.next(at(real), 0);
    if (step.what == Do::wait) return;
    Pending request;
    request.write = step.what == Do::write;
    request.gives_up = real + step.timeout;
    request.arrives = Time::max();
    if (!cut) {
      request.reaches = real + delay;
      request.arrives = real + 2 * delay;
    }
    request.record = step.record;
    pending = request;
  }

  // Executes the request at the server.
  void reach(Time real) {
    if (dead || !pending || pending->executed || real < pending->reaches) return;
    pending->executed = true;
    if (!pending->write)
      pending->found = server.lease;
    else
      pending->result = server.write(pending->record, pending->stored);
  }

  void deliver(Time real) {
    const Pending done = *pending;
    pending.reset();
    if (!done.write) return election.read(at(real), done.found);
    if (done.result == Server::Result::done) return election.written(at(real), done.stored);
    election.conflicted(at(real));
  }

  bool leads(Time real) const { return !dead && election.leads(at(real)); }

  struct Pending {
    bool write = false, executed = false;
    Time reaches = Time::max(), arrives = Time::max(), gives_up = Time::max();
    LeaseRecord record, stored;
    std::optional<LeaseRecord> found;
    Server::Result result = Server::Result::done;
  };

  Server& server;
  Duration offset;
  Duration delay = 5ms;
  bool cut = false, dead = false;
  std::optional<Pending> pending;
  Election election;
};

struct Cluster {
  Server server;
  std::vector<std::unique_ptr<Replica>> replicas;
  Time now{};

  Replica& add(const std::string& name, Duration offset = 0s) {
    replicas.push_back(std::make_unique<Replica>(name, server, offset, replicas.size() + 1));
    return *replicas.back();
  }
  int leaders() const {
    int count = 0;
    for (const auto& replica : replicas) count += replica->leads(now);
    return count;
  }
  // Advances the time, and checks that two replicas never lead at the same time.
  void run(Duration time) {
    for (const Time end = now + time; now < end; now += 5ms) {
      for (const auto& replica : replicas) {
        replica->reach(now);
        replica->step(now);
      }
      REQUIRE(leaders() <= 1);
    }
  }
  // Returns the time until this replica leads.
  Duration until_leads(const Replica& replica, Duration limit) {
    const Time begin = now;
    while (!replica.leads(now) && now - begin < limit) run(5ms);
    return now - begin;
  }
};

}  // namespace

TEST_CASE("one replica takes a missing lease after a lease's time, and keeps it") {
  Cluster cluster;
  Replica& a = cluster.add("a");
  CHECK(cluster.until_leads(a, 20s) < 8s);
  cluster.run(5min);
  CHECK(a.leads(cluster.now));
  CHECK(cluster.server.lease->transitions == 0);
}

TEST_CASE("a replica that was not the first to create the lease takes over as fast as any other") {
  Cluster cluster;
  Replica& a = cluster.add("a");
  Replica& b = cluster.add("b");  // sees that the lease is missing at the same moment as a
  cluster.run(1min);
  Replica& leader = a.leads(cluster.now) ? a : b;
  Replica& other = a.leads(cluster.now) ? b : a;
  leader.dead = true;
  CHECK(cluster.until_leads(other, 20s) < 9s);
}

TEST_CASE("a lease that its holder gave up is taken at once") {
  Cluster cluster;
  Replica& a = cluster.add("a");
  cluster.until_leads(a, 20s);
  Replica& b = cluster.add("b");
  cluster.run(10s);
  CHECK_FALSE(b.leads(cluster.now));
  a.election.release();
  CHECK_FALSE(a.leads(cluster.now));
  CHECK(cluster.until_leads(b, 20s) < 2s);
  CHECK(a.election.is_released());
  CHECK(cluster.server.lease->transitions == 1);
}

TEST_CASE("a killed leader is replaced within nine seconds, not before its lease is over") {
  Cluster cluster;
  Replica& a = cluster.add("a");
  cluster.until_leads(a, 20s);
  Replica& b = cluster.add("b");
  cluster.run(10s);
  a.dead = true;
  const Duration taken = cluster.until_leads(b, 20s);
  CHECK(taken <= 9s);
  CHECK(taken >= 4s);
}

TEST_CASE("clocks that are thirty seconds apart change nothing") {
  for (Duration offset : {30s, -30s}) {
    CAPTURE(offset.count());
    Cluster cluster;
    cluster.now = Time(1h);
    Replica& a = cluster.add("a");
    cluster.until_leads(a, 20s);
    Replica& b = cluster.add("b", offset);
    cluster.run(1min);
    CHECK(a.leads(cluster.now));
    a.dead = true;
    CHECK(cluster.until_leads(b, 20s) <= 9s);
  }
}

TEST_CASE("a leader that is cut off ceases to lead before another begins") {
  Cluster cluster;
  Replica& a = cluster.add("a");
  cluster.until_leads(a, 20s);
  Replica& b = cluster.add("b");
  cluster.run(10s);
  a.cut = true;
  const Time cut_at = cluster.now;
  while (a.leads(cluster.now)) cluster.run(5ms);
  CHECK(cluster.now - cut_at <= 4s + 1s);
  CHECK_FALSE(b.leads(cluster.now));
  CHECK(cluster.until_leads(b, 20s) <= 9s);
  a.cut = false;
  cluster.run(1min);
  CHECK(b.leads(cluster.now));
  CHECK_FALSE(a.leads(cluster.now));
}

TEST_CASE("a leader with renewals that are done but not answered ceases to lead") {
  Cluster cluster;
  Replica& a = cluster.add("a");
  cluster.until_leads(a, 20s);
  a.delay = 3s;  // longer than the timeout, so each renewal is executed, but its answer is too late
  cluster.run(6s);
  CHECK_FALSE(a.leads(cluster.now));
  a.delay = 5ms;
  CHECK(cluster.until_leads(a, 30s) < 30s);
}

TEST_CASE("a process that was stopped for a minute does not lead when it continues") {
  Cluster cluster;
  Replica& a = cluster.add("a");
  cluster.until_leads(a, 20s);
  cluster.add("b");
  cluster.now += 1min;
  CHECK_FALSE(a.leads(cluster.now));
  cluster.run(30s);
  CHECK(cluster.leaders() == 1);
}

TEST_CASE("a lease that someone deletes or empties has no second leader") {
  for (bool deletes : {true, false}) {
    CAPTURE(deletes);
    Cluster cluster;
    Replica& a = cluster.add("a");
    cluster.until_leads(a, 20s);
    cluster.add("b");
    cluster.run(10s);
    if (deletes) {
      cluster.server.lease.reset();
    } else {
      cluster.server.lease->holder.clear();
      cluster.server.lease->resource_version = std::to_string(++cluster.server.version);
    }
    cluster.run(30s);
    CHECK(cluster.leaders() == 1);
  }
}

TEST_CASE("a third party's name in the lease ends the leadership, and is waited for") {
  Cluster cluster;
  Replica& a = cluster.add("a");
  cluster.until_leads(a, 20s);
  cluster.server.lease->holder = "someone";
  cluster.server.lease->resource_version = std::to_string(++cluster.server.version);
  cluster.run(5s);
  CHECK_FALSE(a.leads(cluster.now));
  CHECK(a.election.holder() == "someone");
  CHECK(cluster.until_leads(a, 20s) < 20s);
}

TEST_CASE("an absurd duration in the lease holds it for five minutes, not permanently") {
  Cluster cluster;
  LeaseRecord record;
  record.holder = "someone";
  record.duration = std::chrono::hours(24 * 365);
  LeaseRecord stored;
  cluster.server.write(record, stored);
  Replica& a = cluster.add("a");
  const Duration taken = cluster.until_leads(a, 10min);
  CHECK(taken >= 5min);
  CHECK(taken < 6min);
}

TEST_CASE("whatever the network does, two replicas never lead at once, and afterwards one does") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Cluster cluster;
    cluster.now = Time(1h);
    RandomSource random(seed);
    for (const char* name : {"a", "b", "c"}) cluster.add(name, random.between(-30s, 30s));
    for (int i = 0; i < 60; ++i) {
      Replica& one = *cluster.replicas[random.next() % 3];
      one.cut = random.next() % 2 == 0;
      one.delay = random.between(1ms, 4s);
      if (random.next() % 8 == 0) cluster.server.lease.reset();
      cluster.run(random.between(100ms, 5s));
    }
    for (const auto& replica : cluster.replicas) {
      replica->cut = false;
      replica->delay = 5ms;
    }
    cluster.run(30s);
    CHECK(cluster.leaders() == 1);
  }
}
