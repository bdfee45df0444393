// SPDX-License-Identifier: Apache-2.0
// KnobFiles: knobs of this node: in its cgroup trees, on whichever version keeps their controller, below proc and sys,
// in resctrl, and of processes (knob_backend.hpp). A cgroup that is gone answers std::errc::no_such_device, a knob that
// this kernel lacks std::errc::not_supported. [any thread]
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/cgroup/layout.hpp"
#include "core/knob/knob.hpp"
#include "core/knob/knob_backend.hpp"

namespace koord::knob {

class CoreSchedulingCalls;

class KnobFiles {
 public:
  // `calls`: the system calls of core scheduling; nullptr: the kernel's.
  KnobFiles(cgroup::Layout layout, NodeRoots roots, std::shared_ptr<const CoreSchedulingCalls> calls = nullptr);
  KnobFiles(const KnobFiles&) = delete;
  KnobFiles& operator=(const KnobFiles&) = delete;
  ~KnobFiles();

  // The kernel's current content, as text and as a value.
  struct Reading {
    Texts texts;
    Value value;
    std::uint64_t cgroup = 0;                        // inode: another one is another cgroup of the same name
    std::shared_ptr<const UniqueFd> directory = {};  // of the cgroup that was read; replace() writes there
  };
  Result<Reading> read(const KnobTarget& target) const;

  // Writes to the cgroup that was read, or to none: one that took its name since is left alone, and the answer is that
  // the cgroup is gone. As write() else.
  Result<void> replace(const KnobTarget& target, const Texts& texts, const Reading& now) const;

  // Writes only the files with a text that differs from `now`. For an item, the text "" removes the kernel's setting.
  // If the kernel refuses to leave a cgroup of v2 without a set, because tasks are in it, it gets all CPUs or memory
  // nodes of the machine.
  Result<void> write(const KnobTarget& target, const Texts& texts, const Texts& now) const;

  // Runs a one-shot: requests `amount` of the kernel in parts, until the kernel has no more or `longest` is over.
  // Returns the amount of the requests that succeeded.
  Result<std::int64_t> run_one_shot(const KnobTarget& target, std::int64_t amount, const Clock& clock,
                                    Duration longest) const;

  // Returns the value as the kernel will show it: rounded, converted.
  Result<Value> settled(const Knob& knob, const Value& value) const;
  Result<Texts> texts_of(const Knob& knob, const Value& value) const;
  // The meaning of such texts here.
  Result<Value> decoded(const Knob& knob, const Texts& texts, std::string_view item) const;

  // The part of an original that can still be restored.
  Value restorable(const KnobTarget& target, Value original) const;
  // Takes over what an earlier session wrote, or was about to write. To be called before the first read.
  void adopt(const KnobTarget& target, const std::vector<Texts>& written) const;
  // Resctrl groups of threads are read once for many cgroups, and again after this.
  void begin_round() const;

  // Does the kernel hold cgroups to what those around them have? As v1 does with quotas and sets.
  bool is_nested(const Knob& knob) const;
  // The cgroups right inside of one.
  std::vector<std::string> inner_cgroups(const Knob& knob, std::string_view cgroup_dir) const;
  // The CPUs that are online; empty: not known.
  CpuSet online_cpus() const;

  // The whole content of the knob's file, of one that has items.
  Result<std::string> content(const Knob& knob, std::string_view cgroup_dir) const;

 private:
  Result<cgroup::Version> version_of(const Knob& knob) const;
  const KnobBackend* backend_of(const Knob& knob) const;
  Result<std::string> directory_of(const KnobTarget& target) const;
  Result<std::string> path_of(const KnobTarget& target, std::string_view file) const;
  Result<Reading> read_cgroup(const KnobTarget& target) const;
  struct FileDirectory;
  Result<FileDirectory> directory_for_write(const KnobTarget& target, const Reading& now) const;
  Result<void> write_file(const KnobTarget& target, const FileDirectory& directory, std::string_view file,
                          const std::string& text) const;
  Result<void> write_memory_limit(const FileDirectory& directory, std::string_view file, const std::string& text) const;
  Result<void> write_cgroup(const KnobTarget& target, const Texts& texts, const Texts& now,
                            const FileDirectory& directory) const;
  Result<void> write_no_set(const KnobTarget& target, const FileDirectory& directory, std::string_view file) const;

  const cgroup::Layout layout_;
  const NodeRoots roots_;
  const std::unique_ptr<const KnobBackend> resctrl_, scores_, core_groups_, traffic_;
};

// The present value of a knob as text in the form of a proposal. The knob may be unknown. The name of a knob with items
// may be followed by the item: "io.max 8:16"; without it the whole content of the file is returned.
Result<std::string> read_knob(const KnobFiles& files, std::string_view knob, std::string_view cgroup_dir);

}  // namespace koord::knob
