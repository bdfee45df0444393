// SPDX-License-Identifier: Apache-2.0
// Listing: the body of a list. It walks the objects by name and takes each at its newest version when it is sent, so a
// client that reads slowly keeps no old versions in memory. The list's own version is that of its begin: a watch from
// there brings all that changed meanwhile. [loop thread]
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
  // `version`: of the list. The store outlives this.
  Listing(const Store& store, Call call, Version version);

  Piece next(const std::function<void()>& wake) override;

 private:
  enum class Phase : std::uint8_t { begin, items, end };

  std::string begin();
  Piece give_up(const Error& error);
  // The next page's last name; empty: all that is left fits.
  std::string last_of_page() const;

  const Store& store_;
  const Call call_;
  const Version version_;
  Phase phase_ = Phase::begin;
  std::string after_;     // the last name that was sent
  std::string last_;      // the page ends with it; empty: with the last object
  std::string end_text_;  // behind the items
  bool has_items_ = false;
};

}  // namespace koord::aggregated
