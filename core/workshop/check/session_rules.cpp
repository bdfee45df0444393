// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/session_rules.hpp"

#include <malloc.h>

#include <chrono>
#include <thread>

#include "core/workshop/check/class_trial.hpp"
#include "core/workshop/check/process_state.hpp"

namespace koord::check {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int kSessions = 100;
constexpr int kFirstSessions = 10;  // one-time allocations happen in these sessions
constexpr Duration kForSessions = std::chrono::seconds(2);
constexpr std::int64_t kLeakedBytes = 8;  // heap bytes per session; less is not a leak
constexpr Duration kForLateCalls = std::chrono::milliseconds(300);

Outcome judge(const Violations& violations) {
  const std::string first = violations.first();
  return first.empty() ? Outcome{} : Outcome::failed(first);
}

// Runs a session on the host that all sessions share, because a separate host for each would increase the memory of
// this process.
void short_session(ClassTrial& class_trial, WatchedHost& host) {
  CalledInstance instance = class_trial.instance_on(host);
  if (instance.create() != KOORD_OK) return;
  if (instance.init() == KOORD_OK) {
    if (class_trial.suspect.run_ends) instance.start_run();
    instance.tick();
    instance.stop();
  }
  instance.destroy(false);
}

// Runs this many sessions, or fewer if they are long. Returns their number.
int many_sessions(ClassTrial& class_trial, WatchedHost& host, int most) {
  const auto end = Steady::now() + kForSessions;
  int sessions = 0;
  for (; sessions < most && (sessions < kFirstSessions || Steady::now() < end); ++sessions)
    short_session(class_trial, host);
  return sessions;
}

// Runs the sessions in a separate thread, because malloc() counts memory in a thread's cache as used until the thread
// ends.
int many_sessions_apart(ClassTrial& class_trial, WatchedHost& host, int most) {
  int sessions = 0;
  std::thread([&] { sessions = many_sessions(class_trial, host, most); }).join();
  return sessions;
}

std::int64_t heap_in_use() {
  const struct mallinfo2 now = ::mallinfo2();
  return static_cast<std::int64_t>(now.uordblks + now.hblkhd);
}

// Waits for threads that end shortly after destroy() has returned. Returns the last count.
template <class Count>
std::size_t settled(Count count, std::size_t expected) {
  const auto end = Steady::now() + std::chrono::seconds(2);
  while (count() > expected && Steady::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return count();
}

// Returns whether the count grew by more than one per ten sessions. Smaller growth is not a leak, but temporary.
bool is_leak(std::size_t before, std::size_t after, int sessions) {
  return after > before && after - before > static_cast<std::size_t>(sessions) / 10;
}

Outcome leaked(std::size_t before, std::size_t after, int sessions, const std::string& what) {
  if (!is_leak(before, after, sessions)) return {};
  return Outcome::failed(std::to_string(after - before) + " more " + what + " after " + std::to_string(sessions) +
                         " sessions of create, init, destroy");
}

template <class Count>
Outcome judge_leak(const Suspect& suspect, const char* what, Count count) {
  return run_in_trial(suspect, [&](ClassTrial& class_trial) -> Outcome {
    WatchedHost& host = class_trial.add_host();
    many_sessions(class_trial, host, kFirstSessions);
    const std::size_t before = count();
    const int sessions = many_sessions(class_trial, host, kSessions);
    return leaked(before, settled(count, before), sessions, what);
  });
}

// Returns the bytes leaked per session, if each quarter of all sessions leaked some. Caches and temporary memory do not
// grow in each quarter.
std::int64_t heap_leak(ClassTrial& class_trial, WatchedHost& host, int& sessions) {
  constexpr int kQuarters = 4;
  const std::int64_t begin = heap_in_use();
  bool leaks = true;
  for (int quarter = 0; quarter < kQuarters; ++quarter) {
    const std::int64_t before = heap_in_use();
    const int finished = many_sessions_apart(class_trial, host, kSessions / kQuarters);
    leaks = leaks && heap_in_use() - before >= kLeakedBytes * finished;
    sessions += finished;
  }
  return leaks ? (heap_in_use() - begin) / sessions : 0;
}

Outcome judge_session(ClassTrial& class_trial) {
  const SessionRecord session = run_session(class_trial);
  if (session.init == KOORD_E_UNSUPPORTED)
    return Outcome::not_applicable("it cannot work on this machine: " + session.failure);
  if (!session.went_well()) return Outcome::failed(session.failure);
  return judge(class_trial.trial.seen().not_a_status);
}

Outcome judge_two_instances(ClassTrial& class_trial) {
  CalledInstance first = class_trial.instance(), second = class_trial.instance();
  if (first.create() != KOORD_OK || second.create() != KOORD_OK)
    return Outcome::failed("create(), twice: " + second.last_failure());
  if (first.self() && first.self() == second.self()) return Outcome::failed("create() gave the same object to both");
  const bool began = first.init() == KOORD_OK;
  if (began && second.init() != KOORD_OK) return Outcome::failed("beside another instance, " + second.last_failure());
  bool ticked = !began;
  for (int i = 0; began && i < 3; ++i) {
    ticked |= is_fine(first.tick());
    second.tick();
  }
  second.stop();
  second.destroy();
  if (began) first.tick();
  first.stop();
  first.destroy();
  if (Outcome seen = judge(class_trial.trial.seen().other_instance); seen.kind == Outcome::Kind::failed) return seen;
  return ticked || !class_trial.suspect.sessions ? Outcome{}
                                                 : Outcome::failed("beside another instance, " + first.last_failure());
}

}  // namespace

Outcome sessions(Suspect& suspect) {
  Outcome outcome = run_in_trial(suspect, judge_session);
  suspect.sessions = outcome.kind == Outcome::Kind::passed;
  return outcome;
}

Outcome ends_its_run(Suspect& suspect) {
  Outcome outcome = run_in_trial(suspect, [](ClassTrial& class_trial) -> Outcome {
    if (!class_trial.info().runs) return Outcome::not_applicable("it has no run()");
    CalledInstance instance = class_trial.instance();
    if (instance.create() != KOORD_OK || instance.init() != KOORD_OK)
      return Outcome::not_applicable(instance.last_failure());
    instance.start_run();
    instance.tick();
    if (instance.stop()) return {};
    // destroy() must not be called here, because the plugin's thread still uses the instance.
    return Outcome::failed("run() of class '" + class_trial.info().name +
                           "' had not returned 5 s after stop() and the signal");
  });
  suspect.run_ends = outcome.kind == Outcome::Kind::passed;
  return outcome;
}

Outcome leaks_no_descriptors(Suspect& suspect) { return judge_leak(suspect, "open descriptors", count_descriptors); }

Outcome leaks_no_threads(Suspect& suspect) { return judge_leak(suspect, "threads", count_threads); }

Outcome leaks_no_memory(Suspect& suspect) {
  return run_in_trial(suspect, [](ClassTrial& class_trial) -> Outcome {
    class_trial.trial.faults().keeps_nothing = true;
    WatchedHost& host = class_trial.add_host();
    many_sessions_apart(class_trial, host, kFirstSessions);
    const std::size_t threads = count_threads(), mappings = count_mappings();
    int sessions = 0;
    const std::int64_t leaked_bytes = heap_leak(class_trial, host, sessions);
    if (is_leak(threads, settled(count_threads, threads), sessions))
      return Outcome::not_applicable("unknown while threads are left behind");
    if (leaked_bytes > 0)
      return Outcome::failed(std::to_string(leaked_bytes) +
                             " bytes more on the heap after each session of create, init, destroy");
    return leaked(mappings, count_mappings(), sessions, "mappings");
  });
}

Outcome shares_nothing_between_instances(Suspect& suspect) { return run_in_trial(suspect, judge_two_instances); }

Outcome calls_where_it_may(Suspect& suspect) {
  return run_in_trial(suspect, [](ClassTrial& class_trial) {
    run_session(class_trial);
    return judge(class_trial.trial.seen().out_of_place);
  });
}

Outcome is_silent_after_destroy(Suspect& suspect) {
  return run_in_trial(suspect, [](ClassTrial& class_trial) {
    run_session(class_trial);
    run_session(class_trial);
    const auto end = Steady::now() + kForLateCalls;
    while (class_trial.trial.seen().after_destroy.first().empty() && Steady::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return judge(class_trial.trial.seen().after_destroy);
  });
}

Outcome lets_no_exception_out(Suspect& suspect) {
  return run_in_trial(suspect, [](ClassTrial& class_trial) {
    run_session(class_trial);
    for (koord_status answer : {KOORD_E_IO, -999}) {
      note_circumstance("every service answers " + std::to_string(answer));
      class_trial.trial.faults().answer = answer;
      run_session(class_trial);
    }
    return judge(class_trial.trial.seen().thrown);
  });
}

}  // namespace koord::check
