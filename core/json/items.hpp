// SPDX-License-Identifier: Apache-2.0
// JsonItemReader: reads a list of Kubernetes, {"kind": …, "items": […]}, while it comes, one item after the other, and
// keeps of each item only what is wanted: most of an answer (managedFields, environment, unread annotations) is never
// anywhere in memory. For the sources of this folder only. One thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/json/field.hpp"

namespace koord {

// A member that is kept, whole when it has no members of its own here. For a list: of each of its items.
struct JsonWanted {
  std::string_view key;
  std::span<const JsonWanted> members = {};
  bool is_filtered =
      false;  // a map of texts of which only the keys of the filter are kept, as far as they are not too long
};

// Limits of one item: of the texts of filtered maps together, and of all.
inline constexpr std::size_t kMaxFilteredBytes = 64u << 10;
inline constexpr std::size_t kMaxKeptBytes = 4u << 20;

struct JsonItemList {
  std::string kind;        // empty: it names none
  bool has_items = false;  // false: `items` are null or not there
  bool null_items = false;
};

class JsonItemReader {
 public:
  using Keeps = std::function<bool(std::string_view key)>;
  // The keys of filtered maps that were left out because they were too long. An item of more than kMaxKeptBytes comes
  // as null, with `too_large`.
  struct Notes {
    std::vector<std::string> left_out;
    bool too_large = false;
    std::size_t bytes = 0;  // kept of the item, approximately
  };
  // `item` is valid during the call only.
  using Take = std::function<void(const JsonField& item, const Notes& notes)>;

  // `wanted` outlives this. `keeps` may be empty: all keys of filtered maps are kept.
  JsonItemReader(std::span<const JsonWanted> wanted, Keeps keeps, Take take);
  ~JsonItemReader();

  // The next piece of the text. An error: not JSON, or no list; all later calls return it.
  Result<void> feed(std::string_view piece);
  // The text has ended. An error: it was not whole; what was taken should not count then.
  Result<JsonItemList> end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A text that is all there.
Result<JsonItemList> for_each_json_item(std::string_view text, std::span<const JsonWanted> wanted,
                                        const std::function<void(const JsonField&)>& take);

}  // namespace koord
