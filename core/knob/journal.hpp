// SPDX-License-Identifier: Apache-2.0
// Journal: originals on disk, in a SQLite file of their own, where the next start of the agent or a restore without one
// finds them. A knob's first write waits for the disk; what is written later is there after SIGKILL, too, and not after
// a power cut, after which the kernel has values of its own in any case. All is in memory, too: a disk that is full,
// read-only or gone takes no knob's original with it, only that nothing is written to the kernel until it is back.
// While another agent writes to the same cgroup tree nothing may be written either. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/knob/originals.hpp"
#include "core/knob/tree_lock.hpp"

namespace koord::knob {

class JournalTable;
struct JournalContent;

// Returns the id of this boot of the node; empty where the kernel has none.
std::string boot_id(const NodeRoots& roots);

class Journal final : public Originals {
 public:
  struct Options {
    std::string directory;  // "": no folder, and nothing may be written
    std::string boot;       // as boot_id() says
    // Roots of the cgroup hierarchies, which no other agent may write meanwhile (tree_lock.hpp); none: others may.
    std::vector<std::string> trees = {};
    std::string proc = "/proc";  // to name the agent that does
  };
  Journal(Options options, const Clock& clock);  // the clock outlives it
  ~Journal() override;

  // The originals that a previous process has left, without those that ended with the node's last boot.
  struct Found {
    std::vector<Original> left;
    std::vector<std::string> warnings;  // warnings for the log, a sentence each
    bool on_purpose = false;            // stated at its end: the next one goes on with them
    // Consecutive starts that found originals and ended before they were settled, with this one; 0: on purpose.
    std::int64_t unsettled_starts = 0;
  };
  // Until it has succeeded once, nothing may be written. Makes neither folder nor file. An error is the disk's, or says
  // that another agent has the folder: try again later.
  Result<Found> open();
  // The adopted originals are settled: the next start counts from 0.
  void settled();
  // Lets another agent write to the cgroup tree, unless values of this one are in it. The next write takes the tree
  // again.
  void release_tree();

  // The process ends, and what is kept is for the next one.
  void leave();

  Result<void> keep(std::span<const Original> originals) override;
  void wrote(const KnobKey& key, const Texts& written) override;
  void forgotten(const KnobKey& key) override;
  void flush() override;
  std::vector<Original> all() const override;

  // Makes folder and file now. An error says why nothing may be written.
  Result<void> prepare();
  // Why nothing may be written, as far as is known; empty: it may.
  std::string problem() const;
  // problem() is that another agent writes to the cgroup tree. Call prepare() again: the end of that agent is not
  // reported.
  bool is_tree_taken() const;
  std::size_t size() const;

  // Merges the file's log into the file once it is long. Waits for the disk without blocking other calls; every few
  // seconds.
  void tidy();

 private:
  // [locked]
  Result<void> ready();
  Result<void> attach();
  Result<Found> read();
  Result<Found> adopt(JournalContent content);
  Result<Found> read_copy(const Error& why);
  Result<Found> set_aside(const Error& why);
  Result<void> rewrite();
  Result<void> save(std::span<const Original> also, bool durable);
  void set_meta(const std::string& key, std::int64_t value);
  Result<void> blocked() const;
  Result<void> note(Result<void> done);

  const Options options_;
  const Clock& clock_;

  mutable std::mutex mutex_;  // of what follows
  UniqueFd lock_;
  TreeLock tree_;
  std::unique_ptr<JournalTable> file_;  // null: not open
  std::map<KnobKey, Original> kept_;    // all that the file should have
  std::set<KnobKey> unsaved_;           // of it, or gone from it
  bool is_read_ = false;
  bool is_tree_taken_ = false;
  std::string problem_;
};

}  // namespace koord::knob
