// SPDX-License-Identifier: Apache-2.0
// Resctrl: the kernel's groups of threads with their shares of caches and of memory bandwidth
// (Documentation/filesystems/resctrl.rst of Linux). A group is named by its directory; that of all threads which are in
// no other is "". Lines of other resources in the same schemata stay as they are. [any thread]
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/cgroup/layout.hpp"
#include "core/knob/knob_backend.hpp"

namespace koord::knob {

class Resctrl final : public KnobBackend {
 public:
  // The names of groups that the host makes begin with this: others are there already, or are refused.
  static constexpr std::string_view kOwnPrefix = "koord-";

  // `layout` outlives it.
  Resctrl(std::string root, const cgroup::Layout& layout);
  ~Resctrl() override;

  // Reads a knob in schemata, a group's threads, or whether a group exists.
  Result<std::string> read(const KnobTarget& target) const override;
  Result<void> write(const KnobTarget& target, const std::string& text) const override;
  std::uint64_t inode(const KnobTarget& target) const override;

  // Bandwidth has steps.
  Value settled(const Knob& knob, Value value) const override;

  // The groups of threads are read once for many cgroups, and again after this.
  void begin_round() const override;

  // The existing groups, except for the root's.
  Result<std::vector<std::string>> groups() const;

 private:
  struct Threads;

  std::string directory(std::string_view group) const;
  Result<void> check_mounted() const;
  Result<std::string> read_schemata(const Knob& knob, std::string_view group) const;
  Result<std::string> read_groups(std::string_view cgroup_dir) const;
  Result<void> write_group(std::string_view group, bool is_there) const;
  Result<void> move_threads(std::string_view cgroup_dir, std::string_view group) const;
  Result<std::vector<std::string>> threads_of(std::string_view cgroup_dir) const;
  std::shared_ptr<const Threads> threads() const;
  Error with_reason(Error error) const;

  const std::string root_;
  const cgroup::Layout& layout_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Threads> threads_;  // [mutex_]
};

}  // namespace koord::knob
