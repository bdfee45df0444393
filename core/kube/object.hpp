// SPDX-License-Identifier: Apache-2.0
// Objects of a list or watch of the API server as JSON text, with their identity. The members `kind` and `apiVersion`
// are missing in lists of built-in kinds. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::kube {

// `json` points into the text that was parsed.
struct ObjectView {
  std::string_view json;
  std::string name;
  std::string name_space;  // empty: of the cluster
  std::string uid;
  std::string resource_version;
};

Result<ObjectView> parse_object(std::string_view text);

// etcd stores objects of at most 1.5 MiB, unless it is set otherwise. A larger object is left out.
inline constexpr std::size_t kMaxObjectBytes = 4u << 20;

// The identity of an object of more than kMaxObjectBytes.
struct LargeObject {
  std::string kind;  // empty: not known
  std::string name;
  std::string name_space;
  std::string uid;  // empty: not known
  std::size_t bytes = 0;
};

// "NodeSLO 'a': found 5242880 bytes, expected at most 4194304, left out"
std::string describe(const LargeObject& object);

struct ListPage {
  std::string resource_version;  // of the list; a watch begins from it
  std::string continuation;      // empty: the last page
  std::vector<ObjectView> objects;
  std::vector<LargeObject> too_large = {};
};

// More than `max_objects` is an error.
Result<ListPage> parse_list(std::string_view text, std::size_t max_objects);

// An object of kind Status: why something failed, or how a deletion went.
struct Status {
  std::int64_t code = 0;
  std::string status;  // "Success", "Failure"; may be empty
  std::string name;    // details.name: of the object that it is about; may be empty
  std::string reason;  // "Conflict", "Expired", …; may be empty
  std::string message;
  std::optional<Duration> retry_after;  // details.retryAfterSeconds
  struct Cause {
    std::string reason;  // "DisruptionBudget"
    std::string message;
    std::string field;  // "spec.devices[0].health"; empty: names none
  };
  std::vector<Cause> causes;

  // The cause of a refusal that is a disruption budget's, not the server's.
  static constexpr std::string_view kDisruptionBudget = "DisruptionBudget";

  // Returns the first cause with this reason; nullptr: none.
  const Cause* find_cause(std::string_view reason_of_cause) const;
  bool has_cause(std::string_view reason_of_cause) const { return find_cause(reason_of_cause) != nullptr; }
};

// Fails for what is not an object of kind Status.
Result<Status> parse_status(std::string_view text);

struct WatchEvent {
  enum class Kind : std::uint8_t { added, modified, deleted, bookmark, error };

  Kind kind = Kind::error;
  ObjectView object;  // of a bookmark only its resourceVersion; of an error empty
  Status status;      // of an error
};

Result<WatchEvent> parse_watch_event(std::string_view line);

// The beginning of a watch's line that is too long to be read: type and identity of its object.
struct LargeEvent {
  WatchEvent::Kind kind = WatchEvent::Kind::error;  // added, modified or deleted
  LargeObject object;
  std::string resource_version;  // empty: it stands behind the beginning
};
Result<LargeEvent> parse_large_event(std::string_view head, std::size_t bytes);

}  // namespace koord::kube
