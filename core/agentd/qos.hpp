// SPDX-License-Identifier: Apache-2.0
// QosModule: the governor of all knobs, and the journal of their original values. Adopts the knobs that a previous
// agent left. At the end it reverts all knobs, or leaves them to the next agent. If writes are blocked, it reports why:
// in the log, in /readyz and as the capability knob-originals. Functions are [loop thread] unless marked.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/api/module_health.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/config/config.hpp"
#include "core/event/loop.hpp"
#include "core/event/strand.hpp"
#include "core/knob/governor.hpp"
#include "core/knob/journal.hpp"
#include "core/service/capability_board.hpp"

namespace koord::agentd {

// Returns the options of the journal in qos.directory, for the cgroup tree of this node.
knob::Journal::Options journal_options(const config::Config& config, const cgroup::Layout& layout);

class QosModule {
 public:
  // All references must outlive this object.
  QosModule(const Clock& clock, service::CapabilityBoard& capabilities, const cgroup::Layout& layout,
            const config::Config& config);
  ~QosModule();

  // [any]
  knob::Governor& governor() { return governor_; }
  const knob::Governor& governor() const { return governor_; }

  // Reads in this thread which knobs a previous agent left. After that, removes expired intents once a second.
  void start(event::Loop& loop, event::WorkerPool& workers);
  // Applies the modes of the node and of each plugin from a configuration that was read again.
  void apply(const config::Config& config);
  // Stops all writes. After that, all knobs have their original values or are left to the next agent.
  void stop();

  // Reverts all knobs now, and stops all strategies from writing until an operator allows it. [any]
  std::vector<knob::Undone> restore(const std::string& by) { return governor_.restore(by); }
  // [any]
  api::ModuleHealth health() const;

 private:
  void step();
  void open();
  void settle_start();
  void prepare();
  void report_journal();

  const Clock& clock_;
  service::CapabilityBoard& capabilities_;
  const std::string directory_;
  const config::OnExit on_exit_;
  std::atomic<bool> may_write_;  // a plugin or the node has the mode enforce
  knob::Journal journal_;
  knob::Governor governor_;

  // Whether open() and settle_start() are done. Used by start() and, after that, only by the strand.
  bool is_open_ = false, is_settled_ = false;
  bool is_reported_ = false;  // the capability was set
  ProblemTracker problems_;

  std::atomic<bool> stepping_ = false;
  std::unique_ptr<event::Timer> timer_;
  std::unique_ptr<event::Strand> strand_;  // must be last (destroyed first), because its tasks use the other members
};

}  // namespace koord::agentd
