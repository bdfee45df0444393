// SPDX-License-Identifier: Apache-2.0
#include "core/state/json_items.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <optional>
#include <vector>

#include "core/base/parse.hpp"

namespace koord::state {
namespace {
namespace json = boost::json;
using json::error_code;

// As much as is kept of an ordinary item.
constexpr std::size_t kItemBytes = 32u << 10;

// What basic_parser tells of the text becomes values on a stack, as far as somebody wants them.
class ItemHandler {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  ItemHandler(std::span<const Wanted> wanted, const std::function<void(const Field&)>& take) : take_(take), wanted_(wanted) {
    begin_memory();
  }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return begin(false); }
  bool on_object_end(std::size_t, error_code&) { return end(); }
  bool on_array_begin(error_code&) { return begin(true); }
  bool on_array_end(std::size_t, error_code&) { return end(); }

  bool on_key_part(json::string_view part, std::size_t, error_code&) {
    key_.append(part);
    return true;
  }
  bool on_key(json::string_view last, std::size_t, error_code&) {
    if (skipped_ == 0) {
      if (key_.empty())
        meet_key(last);
      else
        meet_key(key_.append(last));
    }
    key_.clear();
    return true;
  }

  bool on_string_part(json::string_view part, std::size_t, error_code&) {
    if (is_kept()) stack_.push_chars(part);
    return true;
  }
  bool on_string(json::string_view last, std::size_t, error_code&) {
    return scalar("text", [&] { stack_.push_string(last); });
  }
  bool on_number_part(json::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t number, json::string_view, error_code&) {
    return scalar("a number", [&] { stack_.push_int64(number); });
  }
  bool on_uint64(std::uint64_t number, json::string_view, error_code&) {
    return scalar("a number", [&] { stack_.push_uint64(number); });
  }
  bool on_double(double number, json::string_view, error_code&) {
    return scalar("a number", [&] { stack_.push_double(number); });
  }
  bool on_bool(bool value, error_code&) {
    return scalar("a boolean", [&] { stack_.push_bool(value); });
  }
  bool on_null(error_code&) {
    return scalar("nothing", [&] { stack_.push_null(); });
  }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }

  // Why the text is no list; empty: it is one.
  const std::string& problem() const { return problem_; }
  const ItemList& list() const { return list_; }

 private:
  enum class Place { document, list, kind, items, item };
  struct Level {
    Place place;
    bool is_array;
    std::span<const Wanted> wanted;
    std::size_t kept;  // values on the stack that belong to it
  };

  bool is_kept() const { return skipped_ == 0 && !skip_next_; }

  void meet_key(std::string_view key) {
    skip_next_ = false;
    if (levels_.back().place == Place::list) {
      next_place_ = key == "items" ? Place::items : Place::kind;
      skip_next_ = key != "items" && key != "kind";
      return;
    }
    const std::span<const Wanted> wanted = levels_.back().wanted;
    const auto found = std::find_if(wanted.begin(), wanted.end(), [key](const Wanted& w) { return w.key == key; });
    skip_next_ = !wanted.empty() && found == wanted.end();
    if (skip_next_) return;
    next_wanted_ = wanted.empty() ? std::span<const Wanted>() : found->members;
    stack_.push_key(key);
  }

  // Where the value that begins here stands.
  Place place_of_next() const {
    if (levels_.empty()) return Place::document;
    switch (levels_.back().place) {
      case Place::list:
        return next_place_;
      case Place::items:
      case Place::item:
        return Place::item;
      default:
        return Place::kind;
    }
  }

  bool begin(bool is_array) {
    if (skipped_ > 0 || skip_next_) {
      ++skipped_;
      skip_next_ = false;
      return true;
    }
    Place place = place_of_next();
    if (place == Place::document) {
      if (is_array) return refuse("the document: expected a mapping, found a list");
      place = Place::list;
    } else if (place == Place::kind) {
      return refuse(std::string("kind: expected text, found ") + (is_array ? "a list" : "a mapping"));
    } else if (place == Place::items && !is_array) {
      return refuse("items: expected a list, found a mapping");
    }
    levels_.push_back({place, is_array, wanted_of_next(), 0});
    return true;
  }

  std::span<const Wanted> wanted_of_next() const {
    if (levels_.empty()) return {};
    const Level& level = levels_.back();
    if (level.place == Place::items) return wanted_;
    return level.is_array ? level.wanted : next_wanted_;
  }

  bool end() {
    if (skipped_ > 0) {
      --skipped_;
      return true;
    }
    const Level level = levels_.back();
    levels_.pop_back();
    if (level.place == Place::list) return true;
    if (level.place == Place::items) {
      list_.has_items = true;
      return true;
    }
    if (level.is_array)
      stack_.push_array(level.kept);
    else
      stack_.push_object(level.kept);
    complete();
    return true;
  }

  template <class Push>
  bool scalar(std::string_view type, Push push) {
    if (skipped_ > 0) return true;
    if (skip_next_) {
      skip_next_ = false;
      return true;
    }
    const Place place = place_of_next();
    if (place == Place::document) return refuse("the document: expected a mapping, found " + std::string(type));
    if (place == Place::items) return take_items_scalar(type);
    if (place == Place::kind && type != "text") return refuse("kind: expected text, found " + std::string(type));
    push();
    complete();
    return true;
  }

  bool take_items_scalar(std::string_view type) {
    if (type != "nothing") return refuse("items: expected a list, found " + std::string(type));
    list_.null_items = true;
    return true;
  }

  // A value is on the stack. One that stands alone is the kind or an item.
  void complete() {
    Level& level = levels_.back();
    if (level.place == Place::item) {
      ++level.kept;
      return;
    }
    {
      const json::value value = stack_.release();
      if (level.place == Place::list)
        list_.kind = value.as_string();
      else
        take_(Field(value, "items[" + std::to_string(items_++) + ']'));
    }
    begin_memory();
  }

  // A new one for each item: its blocks grow, and releasing them does not make them small again.
  void begin_memory() {
    memory_.emplace(buffer_.data(), buffer_.size());
    stack_.reset(&*memory_);
  }

  bool refuse(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  const std::function<void(const Field&)>& take_;
  std::span<const Wanted> wanted_;
  std::vector<unsigned char> buffer_ = std::vector<unsigned char>(kItemBytes);
  std::optional<json::monotonic_resource> memory_;  // of one item; before stack_, which uses it
  json::value_stack stack_;
  std::vector<Level> levels_;
  std::string key_;  // the parts of a key so far
  Place next_place_ = Place::kind;
  std::span<const Wanted> next_wanted_;
  bool skip_next_ = false;
  std::size_t skipped_ = 0;  // how deep in a value that nobody wants
  std::size_t items_ = 0;
  ItemList list_;
  std::string problem_;
};

}  // namespace

Result<ItemList> for_each_item(std::string_view text, std::span<const Wanted> wanted, const std::function<void(const Field&)>& take) {
  json::parse_options options;
  options.max_depth = kMaxDocumentDepth + 1;
  json::basic_parser<ItemHandler> parser(options, wanted, take);
  error_code error;
  const std::size_t end = parser.write_some(false, text.data(), text.size(), error);
  if (!parser.handler().problem().empty()) return invalid(parser.handler().problem());
  if (error) return invalid("not JSON: " + error.message() + " at byte " + std::to_string(end));
  if (!trim(text.substr(end)).empty()) return invalid("not JSON: extra data at byte " + std::to_string(end));
  return parser.handler().list();
}

}  // namespace koord::state
