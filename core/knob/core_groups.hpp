// SPDX-License-Identifier: Apache-2.0
// CoreGroups: the knob core_sched.group, the core-scheduling cookie of each process of a container. [any thread]
//
// The kernel knows cookies, not names: a group is a name here with the cookie that its processes have. Another
// container of the group gets it from one of them; a group without a living process gets a new cookie. After a
// restart names and cookies come from the journal (adopt()). A cookie that another program has set is not replaced:
// it could not be restored.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/knob/core_scheduling.hpp"
#include "core/knob/knob_backend.hpp"

namespace koord::knob {

class CoreGroups final : public KnobBackend {
 public:
  // `layout` outlives it. `calls`: nullptr: the kernel's.
  CoreGroups(std::string proc_root, const cgroup::Layout& layout, std::shared_ptr<const CoreSchedulingCalls> calls);

  Result<std::string> read(const KnobTarget& target) const override;
  Result<void> write(const KnobTarget& target, const std::string& text) const override;
  std::uint64_t inode(const KnobTarget& target) const override;
  void adopt(const KnobTarget& target, const std::vector<std::string>& written) const override;

 private:
  struct Group {
    std::uint64_t cookie = 0;
    std::set<std::string> cgroup_dirs = {};  // where it was written
  };
  using Cookies = std::map<std::uint64_t, std::int32_t>;  // one thread of each

  Result<Cookies> cookies_in(std::string_view cgroup_dir) const;
  std::string name_of(std::uint64_t cookie) const;
  std::optional<std::int32_t> donor_of(Group& group) const;
  Result<std::uint64_t> give(std::string_view cgroup_dir, std::optional<std::int32_t> donor, bool is_no_group) const;
  Result<void> share(std::string_view cgroup_dir, std::uint64_t cookie) const;

  const std::string proc_root_;
  const cgroup::Layout& layout_;
  const std::shared_ptr<const CoreSchedulingCalls> calls_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Group, std::less<>> groups_;  // [mutex_]
};

}  // namespace koord::knob
