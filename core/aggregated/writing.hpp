// SPDX-License-Identifier: Apache-2.0
// Writing: create, update, patch and delete, as an API server does them for a custom resource with a status. One
// difference: an update of the status of a missing object creates the object, so that the first report after a start is
// not lost. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/aggregated/call.hpp"
#include "core/aggregated/failure.hpp"
#include "core/aggregated/sent_object.hpp"
#include "core/aggregated/store.hpp"
#include "core/base/clock.hpp"

namespace koord::aggregated {

inline constexpr std::size_t kMaxBodyBytes = 3u << 20;
inline constexpr std::size_t kMaxObjectBytes = 1'500'000;

enum class PatchType : std::uint8_t { merge, json };

// Returns the status to store. `sent`: the status that a client sent; `before`: the status that it replaces. Both may
// be empty. The function sets the parts that only the server may set. [any thread]
using CompleteStatus = std::function<std::string(std::string sent, std::string_view before)>;

struct Written {
  ObjectPtr object;
  bool is_new = false;
};

class Writing {
 public:
  // `complete`: called for each status that a client writes; may be null.
  Writing(Store& store, const Clock& clock, CompleteStatus complete = nullptr)
      : store_(store), clock_(clock), complete_(std::move(complete)) {}

  Outcome<Written> create(const Call& call, std::string_view body);
  Outcome<Written> update(const Call& call, std::string_view body);
  Outcome<Written> patch(const Call& call, std::string_view body, PatchType type);
  // Returns the deleted object. `body`: DeleteOptions, or empty.
  Outcome<ObjectPtr> remove(const Call& call, std::string_view body);
  // Writes a status by the server itself, without `complete`.
  Store::Put put_status(const ObjectPtr& current, std::string status);

 private:
  Outcome<Written> replace(const Call& call, const ObjectPtr& current, const SentObject& sent);
  Outcome<Written> add(const Call& call, const SentObject& sent, std::string_view status);
  std::string completed(const SentObject& sent, const Object* before) const;
  Outcome<Written> publish(const Call& call, const ObjectPtr& current, const std::shared_ptr<Object>& object);

  Store& store_;
  const Clock& clock_;
  const CompleteStatus complete_;
};

}  // namespace koord::aggregated
