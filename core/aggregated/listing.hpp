// SPDX-License-Identifier: Apache-2.0
// Listing: the body of a list. It visits the objects by name, and reads the newest version of each when it sends it. So
// a slow client keeps no old versions in memory. The version of the list is the newest version at its start, so a watch
// from this version reports all later changes. [loop thread]
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/aggregated/call.hpp"
#include "core/aggregated/store.hpp"
#include "core/base/result.hpp"
#include "core/http/body_stream.hpp"

namespace koord::aggregated {

class Listing final : public http::BodyStream {
 public:
  // `version`: the version of the list. The store must outlive this object.
  Listing(const Store& store, Call call, Version version);

  Piece next(const std::function<void()>& wake) override;

 private:
  enum class Phase : std::uint8_t { begin, items, end };

  std::string begin();
  Piece give_up(const Error& error);
  // Returns the last name of this page; "" if all remaining objects fit.
  std::string last_of_page() const;

  const Store& store_;
  const Call call_;
  const Version version_;
  Phase phase_ = Phase::begin;
  std::string after_;     // the last name that was sent
  std::string last_;      // the last name of the page; empty: no limit
  std::string end_text_;  // the text after the items
  bool has_items_ = false;
};

}  // namespace koord::aggregated
