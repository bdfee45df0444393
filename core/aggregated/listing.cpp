// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/listing.hpp"

#include <utility>

#include "core/aggregated/aggregated_log.hpp"
#include "core/aggregated/forms.hpp"

namespace koord::aggregated {
namespace {

constexpr std::size_t kObjectsAtOnce = 16;
constexpr std::size_t kPieceBytes = 64u << 10;

}  // namespace

Listing::Listing(const Store& store, Call call, Version version)
    : store_(store), call_(std::move(call)), version_(version), after_(call_.after) {}

std::string Listing::last_of_page() const {
  if (call_.limit == 0) return {};
  std::string at = call_.after, last;
  std::size_t found = 0;
  while (true) {
    const std::vector<ObjectPtr> objects = store_.behind(at, kObjectsAtOnce);
    if (objects.empty()) return {};
    for (const ObjectPtr& object : objects) {
      if (!call_.selector.matches(*object)) continue;
      // This object is the first of the next page, so this page ends before it.
      if (found == call_.limit) return last;
      ++found;
      last = object->name();
    }
    at = objects.back()->name();
  }
}

std::string Listing::begin() {
  last_ = last_of_page();
  ListFrame frame =
      list_frame(call_.accepted, {version_, last_.empty() ? std::string() : continue_text(version_, last_)});
  end_text_ = std::move(frame.after);
  return std::move(frame.before);
}

// Ends the response early. This makes the list incomplete JSON, so no client takes the missing object for a deleted
// one.
http::BodyStream::Piece Listing::give_up(const Error& error) {
  log::error(aggregated_log, "{}, ending a list in the middle", error.message());
  phase_ = Phase::end;
  return {State::ended};
}

http::BodyStream::Piece Listing::next(const std::function<void()>&) {
  if (phase_ == Phase::end) return {State::ended};
  std::string text;
  if (std::exchange(phase_, Phase::items) == Phase::begin) text = begin();
  while (text.size() < kPieceBytes) {
    const std::vector<ObjectPtr> objects = store_.behind(after_, kObjectsAtOnce);
    bool is_last = objects.empty();
    for (const ObjectPtr& object : objects) {
      is_last = !last_.empty() && object->name() > last_;
      if (is_last) break;
      after_ = object->name();
      if (!call_.selector.matches(*object)) continue;
      const auto item = list_item(call_.accepted, *object);
      if (!item) return give_up(item.error());
      if (std::exchange(has_items_, true)) text += ',';
      text += *item;
    }
    if (!is_last) continue;
    text += end_text_;
    phase_ = Phase::end;
    break;
  }
  return {State::piece, std::move(text)};
}

}  // namespace koord::aggregated
