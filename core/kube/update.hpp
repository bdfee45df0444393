// SPDX-License-Identifier: Apache-2.0
// Writes one object of the API server, or its status, without losing the changes of others: the caller returns the
// changed object for the newest version; after a conflict it is asked again with the newer one. Also patches. [loop
// thread]
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/event/loop.hpp"
#include "core/kube/client.hpp"
#include "core/kube/object.hpp"

namespace koord::kube {

struct Update {
  // From the newest object's JSON the one to be written, with the resourceVersion of the newest (with_json_member() of
  // core/json/scanner.hpp leaves all but one member as it is); nullopt: it is as it should be. May be called several
  // times.
  using Change = std::function<Result<std::optional<std::string>>(std::string_view newest)>;

  std::string collection;  // "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
  std::string name;
  bool status = true;  // of the sub-resource status, else of all but the status
  Change change;
  std::string known;           // the newest object that the caller knows of, as JSON; empty: asked for
  std::string missing;         // the object to create if missing, as JSON; empty: none
  std::uint32_t attempts = 5;  // to write, when others write at the same time
};

struct Written {
  enum class Outcome : std::uint8_t {
    unchanged,
    updated,
    created,  // and its status written
    absent,   // there is no such object, and none was to be created
    refused,  // by the server, see `refusal`; of conflicts without an end, too
  };

  Outcome outcome = Outcome::refused;
  std::string object;  // as the server has it now; empty when absent or refused
  Status refusal;      // wait for its retry_after before the next try
  std::uint32_t conflicts = 0;
};

std::string_view name_of(Written::Outcome outcome);  // "updated"

// An error: no answer came, or `change` failed. It is called once, never before this has returned, and not any more
// when what is returned is destroyed; a request that is on its way may still be done.
using OnWritten = std::function<void(Result<Written>)>;
Client::PendingPtr update(event::Loop& loop, Client& client, Update what, OnWritten on_written);

// Requests. A merge patch (RFC 7396) is for all kinds, a strategic merge patch for those built into Kubernetes only.
Call get_call(const std::string& collection, const std::string& name);
Call create_call(const std::string& collection, std::string object);
Call replace_call(const std::string& collection, const std::string& name, std::string object, bool status);
Call merge_patch_call(const std::string& collection, const std::string& name, std::string patch, bool status = false);
Call strategic_merge_patch_call(const std::string& collection, const std::string& name, std::string patch,
                                bool status = false);

}  // namespace koord::kube
