// SPDX-License-Identifier: Apache-2.0
// KnobFiles: knobs of this node: in its cgroup trees, on whichever version keeps their controller, below proc and sys, and
// in resctrl. A cgroup that is gone answers std::errc::no_such_device, a knob that this kernel lacks
// std::errc::not_supported. [any thread]
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

namespace koord::knob {

class Resctrl;

// Of one knob: of a file with items, one of them.
struct Spot {
  const Knob& knob;
  std::string_view cgroup_dir;  // or the name of a resctrl group
  std::string_view item = {};   // that of the value
};

class KnobFiles {
 public:
  KnobFiles(cgroup::Layout layout, NodeRoots roots);
  KnobFiles(const KnobFiles&) = delete;
  KnobFiles& operator=(const KnobFiles&) = delete;
  ~KnobFiles();

  // What the kernel has now, as it says it and as a value.
  struct Reading {
    Texts texts;
    Value value;
    std::uint64_t cgroup = 0;  // inode: another one is another cgroup of the same name
    std::shared_ptr<const UniqueFd> directory = {};  // of the cgroup that was read; replace() writes there
  };
  Result<Reading> read(const Spot& spot) const;

  // Writes to the cgroup that was read, or to none: one that took its name since is left alone, and the answer is that the cgroup
  // is gone. As write() else.
  Result<void> replace(const Spot& spot, const Texts& texts, const Reading& now) const;

  // Only the files whose text differs from that in `now`. A text "" of an item takes away what the kernel says of it. Where the kernel
  // refuses to leave a cgroup of v2 without a set, because tasks are in it, it gets all CPUs or memory nodes of the machine.
  Result<void> write(const Spot& spot, const Texts& texts, const Texts& now) const;

  // Does an act: asks the kernel part by part for so much, until it has no more or the time is over. Returns how much it
  // was asked for with success.
  Result<std::int64_t> act(const Spot& spot, std::int64_t amount, const Clock& clock, Duration longest) const;

  // As the kernel will say it: rounded, converted.
  Result<Value> settled(const Knob& knob, const Value& value) const;
  Result<Texts> texts_of(const Knob& knob, const Value& value) const;
  // What such texts mean here.
  Result<Value> decoded(const Knob& knob, const Texts& texts, std::string_view item) const;

  // In which resctrl groups threads are is read once for many cgroups, and again after this.
  void forget_threads() const;

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
  Result<std::string> directory_of(const Spot& spot) const;
  Result<std::string> path_of(const Spot& spot, std::string_view file) const;
  Result<Reading> read_cgroup(const Spot& spot) const;
  struct FileDirectory;
  Result<FileDirectory> directory_for_write(const Spot& spot, const Reading& now) const;
  Result<void> write_file(const Spot& spot, const FileDirectory& directory, std::string_view file, const std::string& text) const;
  Result<void> write_cgroup(const Spot& spot, const Texts& texts, const Texts& now, const FileDirectory& directory) const;
  Result<void> write_no_set(const Spot& spot, const FileDirectory& directory, std::string_view file) const;

  const cgroup::Layout layout_;
  const NodeRoots roots_;
  const std::unique_ptr<Resctrl> resctrl_;
};

// The present value of a knob as text in the form in which it would be proposed. The knob may be unknown. Behind the name
// of one with items may stand the item: "io.max 8:16"; without it all that the file says is told.
Result<std::string> read_knob(const KnobFiles& files, std::string_view knob, std::string_view cgroup_dir);

}  // namespace koord::knob
