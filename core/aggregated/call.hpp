// SPDX-License-Identifier: Apache-2.0
// Call: a parsed request to the resource: verb, name, options and the form of the response. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/aggregated/accept.hpp"
#include "core/aggregated/failure.hpp"
#include "core/aggregated/selector.hpp"
#include "core/aggregated/version.hpp"
#include "core/base/clock.hpp"
#include "core/http/message.hpp"

namespace koord::aggregated {

enum class Verb : std::uint8_t { get, list, watch, create, update, patch, remove, remove_all };
std::string_view name_of(Verb verb);  // the RBAC verb, such as "deletecollection"
bool is_write(Verb verb);

// The values of resourceVersionMatch: "Exact" and "NotOlderThan". Any other text is refused.
enum class VersionMatch : std::uint8_t { unset, exact, not_older };

struct Call {
  Verb verb = Verb::get;
  std::string name;       // empty for a list, a watch of all objects, and a create
  std::string only_name;  // the only object that the client may write; empty: any
  bool is_status = false;
  bool is_dry_run = false;
  Accepted accepted;
  // The options of get, list and watch. nullopt: the newest; 0: any.
  std::optional<Version> version;
  VersionMatch match = VersionMatch::unset;
  Selector selector;
  std::size_t limit = 0;  // 0: all
  std::string after;      // set by `continue`: the page begins after this name, and has the version `version`
  bool is_next_page = false;
  bool sends_initial = false, has_bookmarks = false;
  Duration timeout = Duration::zero();  // for a watch; zero: the server's default
};

// The subject of a request. A kube-apiserver authorizes a request by this, before it checks anything else of it.
struct CallTarget {
  Verb verb = Verb::get;
  std::string name;  // empty for a list, a watch of all objects, and a create
  bool is_status = false;
};

// Parses method and path of a request with a path below kVersionPath. Fails if the server does not have the path, or
// does not allow the method there.
Outcome<CallTarget> target_of(const http::Request& request);

// Parses a request with a path below kVersionPath. Fails if the request is invalid.
Outcome<Call> parse_call(const http::Request& request);

// Returns the text of `continue` for the page after `name`.
std::string continue_text(Version version, std::string_view name);

}  // namespace koord::aggregated
