// SPDX-License-Identifier: Apache-2.0
// One meter for each pod and container, which exists while the pod or container exists, and the processes of a pod or
// container. Header-only, C++17, nothing to link.
//
//   subjects_.follow(Snapshot(host(), state_), [this](const Subject& subject) { return Meter(subject); });
//   const auto failure = subjects_.for_each([&](Meter& meter, std::string_view dir) { meter.measure(dir); });
//   batch_.send(now_ns);
//   if (failure) throw *failure;
//
// Subjects and CgroupValues are used on the instance's strand, processes_of() on any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "koordetector/plugin.hpp"

namespace koord::plugin {

// A pod, a container of a pod, or a container, service or cgroup outside of pods.
struct Subject {
  std::uint64_t handle;                        // handle for its series
  std::string_view cgroup_dir;                 // never empty
  const koord_pod* pod = nullptr;              // the pod itself, or the pod of the container
  const koord_container* container = nullptr;  // null: the subject is the pod itself
  // All members are valid while the snapshot exists.

  bool is_pod() const { return container == nullptr; }
};

// Returns the ids of all processes of a pod or container, ascending. `handle`: from the newest snapshot. Throws Failure
// with the statuses of koord_svc_state.processes(), and KOORD_E_UNSUPPORTED on a host of 1.0. [any]
inline std::vector<std::int32_t> processes_of(const koord_host* host, const koord_svc_state* state,
                                              std::uint64_t handle) {
  if (!KOORD_HAS(state, processes))
    throw Failure(KOORD_E_UNSUPPORTED, "this host is older than 1.1 and has no processes()");
  return rows_of<std::int32_t>([&](std::int32_t* pids, std::uint32_t cap, std::uint32_t* need) {
    return state->processes(host, handle, pids, cap, need);
  });
}

// One Meter for each subject of the newest snapshot that has a cgroup. Containers that wait or have terminated are left
// out. A subject gets a new meter if its cgroup changes.
template <class Meter>
class Subjects {
 public:
  // Updates the meters to the snapshot: creates missing meters with make(const Subject&) and removes the meters of
  // ended subjects. Does nothing if the pods have not changed since the last call. Returns whether they have changed.
  template <class Make>
  bool follow(const Snapshot& snapshot, Make&& make) {
    if (snapshot.version(KOORD_ON_PODS) == version_) return false;
    Entries next;
    const auto keep_or_make = [&](const Subject& subject) {
      if (subject.cgroup_dir.empty()) return;
      auto known = entries_.find(subject.handle);
      if (known != entries_.end() && known->second.cgroup_dir == subject.cgroup_dir)
        next.insert(entries_.extract(known));
      else
        next.try_emplace(subject.handle, std::string(subject.cgroup_dir), make(subject));
    };
    for (const koord_pod& pod : snapshot.pods()) {
      keep_or_make({pod.handle, view(pod.cgroup_dir), &pod, nullptr});
      for (const koord_container& container : containers_of(pod))
        if (may_run(container)) keep_or_make({container.handle, view(container.cgroup_dir), &pod, &container});
    }
    for (const koord_container& container : snapshot.containers())
      if (may_run(container)) keep_or_make({container.handle, view(container.cgroup_dir), nullptr, &container});
    entries_ = std::move(next);
    version_ = snapshot.version(KOORD_ON_PODS);
    return true;
  }

  // Removes all meters, so the next follow() creates them again.
  void clear() {
    entries_.clear();
    version_ = 0;
  }

  std::size_t size() const { return entries_.size(); }
  Meter* find(std::uint64_t handle) {
    auto at = entries_.find(handle);
    return at == entries_.end() ? nullptr : &at->second.meter;
  }

  // Calls each(meter, cgroup_dir) for every subject, in any order. A Failure of one subject does not stop the calls for
  // others. Returns the last Failure; throw it after the measured values have been sent.
  template <class Each>
  std::optional<Failure> for_each(Each&& each) {
    std::optional<Failure> failure;
    for (auto& [handle, entry] : entries_) {
      try {
        each(entry.meter, std::string_view(entry.cgroup_dir));
      } catch (const Failure& failed) {
        failure = failed;
      }
    }
    return failure;
  }

 private:
  struct Entry {
    Entry(std::string dir, Meter&& made) : cgroup_dir(std::move(dir)), meter(std::move(made)) {}
    std::string cgroup_dir;
    Meter meter;
  };
  using Entries = std::unordered_map<std::uint64_t, Entry>;

  static bool may_run(const koord_container& container) {
    return container.state != KOORD_CONTAINER_WAITING && container.state != KOORD_CONTAINER_TERMINATED;
  }

  std::uint64_t version_ = 0;
  Entries entries_;
};

// Values of one logical file (koord.cgroup/1) of a cgroup that may be missing, because it does not exist yet or has
// ended. Both are normal. In that case the values are nullopt, and the file is opened again from time to time. If this
// kernel lacks the file, the values stay nullopt.
template <std::size_t N>
class CgroupValues {
 public:
  // A pod is often known before its cgroup exists.
  static constexpr std::uint64_t kRetryNs = 5'000'000'000;

  CgroupValues(std::string_view file, const std::array<std::string_view, N>& keys) : file_(file), keys_(keys) {}

  struct Reading {
    std::int64_t values[N] = {};  // KOORD_ABSENT for a key that this kernel lacks
    std::uint64_t read_ns = 0;    // host time of the read, for rates
  };

  // Returns nullopt if the cgroup or file is missing. Throws Failure if the file exists but cannot be read.
  std::optional<Reading> read(const koord_host* host, const koord_svc_cgroup* cgroup, std::string_view dir,
                              std::uint64_t now_ns) {
    if (!open_ && !open(host, cgroup, dir, now_ns)) return std::nullopt;
    Reading reading;
    const koord_status status = open_.read(reading.values, &reading.read_ns);
    if (status == KOORD_OK) return reading;
    if (status != KOORD_E_GONE) throw cannot("read", status, dir);
    open_ = CgroupFile();
    retry_ns_ = now_ns + kRetryNs;
    return std::nullopt;
  }

  // Returns whether this kernel, or this cgroup's hierarchy, lacks the file.
  bool unsupported() const { return unsupported_; }

 private:
  bool open(const koord_host* host, const koord_svc_cgroup* cgroup, std::string_view dir, std::uint64_t now_ns) {
    if (unsupported_ || now_ns < retry_ns_) return false;
    const koord_status status = open_.open(host, cgroup, dir, file_, keys_.data(), N);
    if (status == KOORD_OK) return true;
    unsupported_ = status == KOORD_E_UNSUPPORTED;
    retry_ns_ = now_ns + kRetryNs;
    if (!unsupported_ && status != KOORD_E_GONE) throw cannot("open", status, dir);
    return false;
  }
  Failure cannot(const char* what, koord_status status, std::string_view dir) const {
    return {status,
            std::string("cannot ") + what + " " + std::string(file_) + " of the cgroup '" + std::string(dir) + "'"};
  }

  std::string_view file_;  // a literal, like the keys
  std::array<std::string_view, N> keys_;
  CgroupFile open_;
  std::uint64_t retry_ns_ = 0;
  bool unsupported_ = false;
};

}  // namespace koord::plugin
