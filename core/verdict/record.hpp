// SPDX-License-Identifier: Apache-2.0
// Record: a verdict as its plugin posted it: the pod or container that is held up, the resource, the others that use
// it, how much, and how that is known. The numbers of the enumerations are those of the plugin ABI. Plain values. [any
// thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/metric/labels.hpp"

namespace koord::verdict {

enum class Kind : std::uint32_t {
  interfered = 1,     // by others
  self_quota,         // by its own CPU quota
  self_threads,       // by its own threads
  self_memory_limit,  // by its own memory limit
  shared_parent,      // by a limit of a cgroup above it
  unknown,
};
inline constexpr Kind kKinds[] = {Kind::interfered,        Kind::self_quota,    Kind::self_threads,
                                  Kind::self_memory_limit, Kind::shared_parent, Kind::unknown};
std::string_view name_of(Kind kind);  // "self-quota"

enum class Resource : std::uint32_t { cpu = 1, blkio, memory, cache };
inline constexpr Resource kResources[] = {Resource::cpu, Resource::blkio, Resource::memory, Resource::cache};
std::string_view name_of(Resource resource);  // "cpu"

enum class Method : std::uint32_t { exact = 1, estimated, suspected };
std::string_view name_of(Method method);

enum class SuspectKind : std::uint32_t {
  subject = 1,  // a pod or container
  outside,      // cgroups of the node that belong to no pod
  kernel,       // the kernel's own threads
  other,        // named by `name`
};
std::string_view name_of(SuspectKind kind);  // "outside"

enum class Origin : std::uint32_t {
  own = 1,      // one of the node's own plugins
  third_party,  // any other
};
std::string_view name_of(Origin origin);  // "third-party"

// nullopt: no such name.
std::optional<Kind> kind_named(std::string_view name);
std::optional<Resource> resource_named(std::string_view name);

// A figure that its plugin does not know.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// The value of a label; empty where it is missing. Refers to `labels`.
std::string_view label_of(const metric::Labels& labels, std::string_view name);
// "shop/cart-7d9/app", or the name of a container outside of pods; empty: the labels have no name.
std::string name_of_subject(const metric::Labels& labels);

struct Suspect {
  SuspectKind kind = SuspectKind::subject;
  metric::Subject subject;  // of SuspectKind::subject; without labels: it had ended when the verdict was posted
  std::string name;
  double value = kUnknown;                      // in Record::amount_unit
  double share = kUnknown;                      // of all waits
  double excess = kUnknown;                     // of `value` over quiet times
  double usage = kUnknown, request = kUnknown;  // CPUs, bytes, or bytes per second
};

struct Statistic {
  std::string name, unit;
  double value = kUnknown, baseline = kUnknown, threshold = kUnknown;
};

// Victim, resource and kind of a verdict. A plugin has at most one standing verdict of a key.
struct Key {
  std::uint64_t victim = 0;  // handle in the state
  Resource resource = Resource::cpu;
  Kind kind = Kind::unknown;

  auto operator<=>(const Key&) const = default;
};

struct Record {
  // Written by the store:
  std::uint64_t id = 0;  // from 1, in the order of the first posts; for one key as long as it stands
  std::string plugin;    // its source
  Origin origin = Origin::third_party;
  std::uint64_t session = 0;  // of the plugin, which posted it last
  Time since{}, posted{};     // of the first and of the last post
  std::optional<Time> ended;
  std::string why_ended;

  // Posted:
  metric::Subject victim;
  std::string victim_name;
  Resource resource = Resource::cpu;
  Kind kind = Kind::unknown;
  Method method = Method::suspected;
  Time from{}, to{};                                 // begin of the first and end of the last window with a finding
  std::uint32_t windows_over = 0, windows_seen = 0;  // 0 and 0: its rule has no windows
  Statistic statistic;
  std::string amount_unit;
  double own = kUnknown, throttled = kUnknown, unexplained = kUnknown;  // parts of the waits, in amount_unit
  std::vector<Suspect> suspects;                                        // the largest value first
  std::vector<std::pair<std::string, std::string>> others;  // other resources that were looked at, and the finding
  std::string note;
  Duration ttl = std::chrono::seconds(60);  // after `posted`

  Key key() const { return {victim.handle, resource, kind}; }
};

// Returns about the memory of a record with its texts and suspects.
std::size_t bytes_of(const Record& record);

}  // namespace koord::verdict
