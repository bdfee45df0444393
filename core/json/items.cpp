// SPDX-License-Identifier: Apache-2.0
#include "core/json/items.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/parse.hpp"
#include "core/json/reader.hpp"

namespace koord {
namespace {
namespace json = boost::json;
using json::error_code;

// Enough for the kept part of an ordinary item.
constexpr std::size_t kItemBytes = 32u << 10;

// Receives the events of basic_parser, and builds the wanted values on a stack.
class ItemHandler {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  ItemHandler(std::span<const JsonWanted> wanted, const JsonItemReader::Keeps& keeps, const JsonItemReader::Take& take)
      : keeps_(keeps), take_(take), wanted_(wanted) {
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
    if (is_kept()) add_text(part);
    return true;
  }
  bool on_string(json::string_view last, std::size_t, error_code&) {
    if (is_kept()) add_text(last);
    const bool goes_on = scalar("text", [&] { stack_.push_string(text_); });
    text_.clear();
    return goes_on;
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

  // Returns why the text is not a list; empty: it is one.
  const std::string& problem() const { return problem_; }
  const JsonItemList& list() const { return list_; }

 private:
  enum class Place { document, list, kind, items, item };
  struct Level {
    Place place;
    bool is_array;
    std::span<const JsonWanted> wanted;
    std::size_t kept;  // number of its values on the stack
    bool is_filtered;
  };

  bool is_kept() const { return skipped_ == 0 && !skip_next_; }

  void meet_key(std::string_view key) {
    skip_next_ = false;
    if (levels_.back().place == Place::list) {
      next_place_ = key == "items" ? Place::items : Place::kind;
      skip_next_ = key != "items" && key != "kind";
      return;
    }
    if (levels_.back().is_filtered) return meet_filtered_key(key);
    const std::span<const JsonWanted> wanted = levels_.back().wanted;
    const auto found = std::find_if(wanted.begin(), wanted.end(), [key](const JsonWanted& w) { return w.key == key; });
    skip_next_ = !wanted.empty() && found == wanted.end();
    if (skip_next_) return;
    next_wanted_ = wanted.empty() ? std::span<const JsonWanted>() : found->members;
    next_is_filtered_ = !wanted.empty() && found->is_filtered;
    push_key(key);
  }

  // Remembers a key. It is added together with its value, if the value is not too long.
  void meet_filtered_key(std::string_view key) {
    skip_next_ = keeps_ && !keeps_(key);
    filtered_key_ = key;
    next_wanted_ = {};
    next_is_filtered_ = false;
  }

  void push_key(std::string_view key) {
    stack_.push_key(key);
    kept_bytes_ += key.size();
  }

  // Adds a part of a text. A text that is too long to be kept is not stored further.
  void add_text(json::string_view part) {
    if (text_.size() <= kMaxKeptBytes) text_.append(part);
  }

  // Returns the position of the value that begins now.
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
    if (is_in_filtered_map()) push_key(filtered_key_);
    levels_.push_back({place, is_array, wanted_of_next(), 0, !is_array && std::exchange(next_is_filtered_, false)});
    return true;
  }

  bool is_in_filtered_map() const { return !levels_.empty() && levels_.back().is_filtered; }

  std::span<const JsonWanted> wanted_of_next() const {
    if (levels_.empty()) return {};
    const Level& level = levels_.back();
    if (level.place == Place::items) return wanted_;
    return level.is_array ? level.wanted : next_wanted_;
  }

  bool end() {
    if (skipped_ > 0) {
      if (--skipped_ == 0 && notes_.too_large) take_nothing();
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
    if (is_in_filtered_map() && !keep_filtered()) return true;
    push();
    complete();
    return true;
  }

  bool keep_filtered() {
    const std::size_t bytes = filtered_key_.size() + text_.size();
    if (bytes > kMaxFilteredBytes - filtered_bytes_) {
      notes_.left_out.push_back(filtered_key_);
      return false;
    }
    filtered_bytes_ += bytes;
    push_key(filtered_key_);
    return true;
  }

  bool take_items_scalar(std::string_view type) {
    if (type != "nothing") return refuse("items: expected a list, found " + std::string(type));
    list_.null_items = true;
    return true;
  }

  // Handles a complete value on the stack. A value outside of items is the kind or a whole item.
  void complete() {
    Level& level = levels_.back();
    kept_bytes_ += text_.size() + sizeof(json::value);
    if (level.place == Place::item) {
      ++level.kept;
      if (kept_bytes_ > kMaxKeptBytes) give_up_item();
      return;
    }
    {
      const json::value value = stack_.release();
      if (level.place == Place::list)
        list_.kind = value.as_string();
      else
        take_item(value);
    }
    begin_memory();
  }

  void take_item(const json::value& value) {
    notes_.bytes = kept_bytes_;
    take_(JsonField(value, "items[" + std::to_string(items_++) + ']'), notes_);
    notes_ = {};
    filtered_bytes_ = kept_bytes_ = 0;
  }

  // Skips the rest of an item that is too large, as if it were not wanted.
  void give_up_item() {
    notes_.too_large = true;
    while (levels_.back().place == Place::item) {
      levels_.pop_back();
      ++skipped_;
    }
    begin_memory();
  }

  void take_nothing() { take_item(json::value()); }

  // Creates new memory for each item, because the blocks of the old memory have grown, and releasing them does not
  // shrink them.
  void begin_memory() {
    memory_.emplace(buffer_.data(), buffer_.size());
    stack_.reset(&*memory_);
  }

  bool refuse(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  const JsonItemReader::Keeps& keeps_;
  const JsonItemReader::Take& take_;
  std::span<const JsonWanted> wanted_;
  std::vector<unsigned char> buffer_ = std::vector<unsigned char>(kItemBytes);
  std::optional<json::monotonic_resource> memory_;  // memory of one item; must precede stack_, which uses it
  json::value_stack stack_;
  std::vector<Level> levels_;
  std::string key_;   // the part of the current key that was received so far
  std::string text_;  // the part of the current text that was received so far
  std::string filtered_key_;
  std::size_t filtered_bytes_ = 0, kept_bytes_ = 0;  // bytes of this item
  JsonItemReader::Notes notes_;
  bool next_is_filtered_ = false;
  Place next_place_ = Place::kind;
  std::span<const JsonWanted> next_wanted_;
  bool skip_next_ = false;
  std::size_t skipped_ = 0;  // depth inside an unneeded value
  std::size_t items_ = 0;
  JsonItemList list_;
  std::string problem_;
};

}  // namespace

struct JsonItemReader::State {
  State(std::span<const JsonWanted> wanted, Keeps which, Take taker)
      : keeps(std::move(which)), take(std::move(taker)), parser(options(), wanted, keeps, take) {}

  static json::parse_options options() {
    json::parse_options options;
    options.max_depth = kMaxJsonDepth;
    return options;
  }

  Result<void> write(bool more, std::string_view piece) {
    error_code error;
    const std::size_t end = parser.write_some(more, piece.data(), piece.size(), error);
    const std::size_t at = bytes + end;
    bytes += piece.size();
    if (!parser.handler().problem().empty()) return invalid(parser.handler().problem());
    if (error) return invalid("not JSON: " + error.message() + " at byte " + std::to_string(at));
    if (!trim(piece.substr(end)).empty()) return invalid("not JSON: extra data at byte " + std::to_string(at));
    return {};
  }

  Result<void> after_end(std::string_view piece) {
    if (!trim(piece).empty()) return invalid("not JSON: extra data at byte " + std::to_string(bytes));
    bytes += piece.size();
    return {};
  }

  const Keeps keeps;
  const Take take;
  json::basic_parser<ItemHandler> parser;
  std::size_t bytes = 0;  // size of the earlier pieces
  std::optional<Error> failed;
};

JsonItemReader::JsonItemReader(std::span<const JsonWanted> wanted, Keeps keeps, Take take)
    : state_(std::make_unique<State>(wanted, std::move(keeps), std::move(take))) {}

JsonItemReader::~JsonItemReader() = default;

Result<void> JsonItemReader::feed(std::string_view piece) {
  if (state_->failed) return *state_->failed;
  if (piece.empty()) return {};
  Result<void> written = state_->parser.done() ? state_->after_end(piece) : state_->write(true, piece);
  if (!written) state_->failed = written.error();
  return written;
}

Result<JsonItemList> JsonItemReader::end() {
  if (state_->failed) return *state_->failed;
  if (!state_->parser.done()) TRY(state_->write(false, std::string_view("")));
  return state_->parser.handler().list();
}

Result<JsonItemList> for_each_json_item(std::string_view text, std::span<const JsonWanted> wanted,
                                        const std::function<void(const JsonField&)>& take) {
  std::optional<Error> too_large;
  JsonItemReader reader(wanted, {}, [&](const JsonField& item, const JsonItemReader::Notes& notes) {
    if (notes.too_large) too_large = item.wrong("more than 4 MiB");
    if (!notes.left_out.empty())
      too_large = item.wrong("more than 64 KiB of annotations, '" + notes.left_out.front() + "' is too long");
    take(item);
  });
  TRY(reader.feed(text));
  JsonItemList list = TRY(reader.end());
  if (too_large) return *std::move(too_large);
  return list;
}

}  // namespace koord
