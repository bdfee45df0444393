// SPDX-License-Identifier: Apache-2.0
// GovernedNode: a governor with a journal on disk, on the test's cgroups of this machine's kernel, with a clock that
// the test advances. Strategies are plugins of any name that may write. Needs root.
#pragma once

#include <doctest/doctest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "core/base/unique_fd.hpp"
#include "core/knob/governor.hpp"
#include "core/knob/journal.hpp"
#include "test/core/knob/minute_intent.hpp"
#include "test/core/store/temporary_directory.hpp"
#include "test/support/child_process.hpp"
#include "test/support/real_cgroup.hpp"

namespace koord::test {

// Counts the rounds in which a file was written.
class WriteCount {
 public:
  explicit WriteCount(const std::string& path) : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    REQUIRE(::inotify_add_watch(events_.get(), path.c_str(), IN_MODIFY) >= 0);
  }
  // Returns whether the file was written since the last call.
  bool turn() {
    alignas(inotify_event) char buffer[4096];
    bool any = false;
    while (::read(events_.get(), buffer, sizeof buffer) > 0) any = true;
    count_ += any;
    return any;
  }
  unsigned count() const { return count_; }

 private:
  UniqueFd events_;
  unsigned count_ = 0;
};

// Runs a function between the last read of a knob and its first write.
class Meanwhile final : public knob::Originals {
 public:
  explicit Meanwhile(knob::Originals& kept) : kept_(kept) {}
  Result<void> keep(std::span<const knob::Original> originals) override {
    if (auto now = std::exchange(run, nullptr)) now();
    return kept_.keep(originals);
  }
  void wrote(const knob::KnobKey& key, const knob::Texts& written) override { kept_.wrote(key, written); }
  void forgotten(const knob::KnobKey& key) override { kept_.forgotten(key); }
  void flush() override { kept_.flush(); }
  std::vector<knob::Original> all() const override { return kept_.all(); }

  std::function<void()> run;

 private:
  knob::Originals& kept_;
};

struct GovernedNode {
  TemporaryDirectory place;
  ManualClock clock;
  cgroup::Layout layout = *cgroup::Layout::detect(NodeRoots());
  knob::KnobFiles files{layout, NodeRoots()};
  std::unique_ptr<knob::Journal> journal;
  std::unique_ptr<Meanwhile> meanwhile;
  std::unique_ptr<knob::Governor> governor;
  std::map<std::string, std::vector<knob::IntentResult>> reported;  // key: plugin
  RealCgroup pod{"faults"}, app{pod, "app"};

  GovernedNode() { begin(); }

  // Starts again, like after SIGKILL. Nothing is reverted, and the memory is lost.
  void begin() {
    governor.reset();
    journal.reset();
    journal = std::make_unique<knob::Journal>(knob::Journal::Options{place / "qos", knob::boot_id(NodeRoots())}, clock);
    meanwhile = std::make_unique<Meanwhile>(*journal);
    const auto found = journal->open();
    REQUIRE(found.has_value());
    governor = std::make_unique<knob::Governor>(clock, layout, NodeRoots(), *meanwhile);
    governor->set_node_mode(koord::Mode::enforce);
    governor->adopt(found->left, std::chrono::seconds(30), false);
  }

  bool is_v1() const { return files.is_nested(*knob::find_knob("cpu.max")); }
  std::string read(const std::string& dir, std::string_view knob) const {
    const Result<std::string> value = knob::read_knob(files, knob, dir);
    return value ? *value : value.error().message();
  }
  std::string read(const RealCgroup& cgroup, std::string_view knob) const { return read(cgroup.dir(), knob); }
  // Returns the kernel's file with a quota.
  std::string quota_file(const RealCgroup& cgroup) const {
    return cgroup.path(cgroup::Controller::cpu) + (is_v1() ? "/cpu.cfs_quota_us" : "/cpu.max");
  }
  // Writes a quota per 100 ms in the role of a different process.
  void write_quota(const RealCgroup& cgroup, int quota_us) const { cgroup.limit_cpu(quota_us / 100'000.0); }

  static knob::Intent intent(std::string dir, std::string knob, std::string value, std::int32_t priority = 0) {
    return minute_intent(decision::Level::pod, std::move(knob), std::move(dir), std::move(value), priority);
  }
  static knob::Intent intent(const RealCgroup& cgroup, std::string knob, std::string value, std::int32_t priority = 0) {
    return intent(cgroup.dir(), std::move(knob), std::move(value), priority);
  }
  void propose(const std::string& plugin, knob::Plan plan) {
    governor->take({plugin, "main"}, std::move(plan), [this, plugin](std::vector<knob::IntentResult> results) {
      auto& list = reported[plugin];
      list.insert(list.end(), results.begin(), results.end());
    });
  }
  knob::IntentResult last_reported(const std::string& plugin) const { return reported.at(plugin).back(); }
  // Runs one second of an agent's session, with this plan.
  void second(const std::string& plugin, knob::Plan plan) {
    propose(plugin, std::move(plan));
    clock.advance(std::chrono::seconds(1));
    governor->expire();
  }
  std::vector<decision::Decision> decisions(decision::Outcome outcome) const {
    std::vector<decision::Decision> all = governor->decisions();
    std::erase_if(all, [outcome](const decision::Decision& one) { return one.outcome != outcome; });
    return all;
  }
};

}  // namespace koord::test
