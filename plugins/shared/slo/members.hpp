// SPDX-License-Identifier: Apache-2.0
// Members: reads the members of a JSON object into values. Names match in any case, as in Go; if several match, the
// last one that is not null counts. Invalid values are reported and count as missing. Only for the files of this
// folder.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"
#include "plugins/shared/slo/problems.hpp"
#include "plugins/shared/slo/sections.hpp"

namespace koord::slo {

// Parses a JSON object.
Result<boost::json::value> parse_object(std::string_view text);

inline constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

class Members {
 public:
  // `path`: path of the object, "systemStrategy"; empty for the root. `object` and `problems` must outlive this object.
  Members(const boost::json::value& object, std::string path, Problems& problems)
      : object_(&object), path_(std::move(path)), problems_(&problems) {}

  // These functions keep the old value if the member is missing.
  void number(std::string_view name, Number& value, std::int64_t least = kLeast, std::int64_t most = kMost) const;
  void percent(std::string_view name, Number& value) const { number(name, value, 0, 100); }
  // Reads a list of two numbers, the first below the second: "[0, 30]".
  void range(std::string_view name, std::optional<std::pair<std::int64_t, std::int64_t>>& value, std::int64_t least,
             std::int64_t most) const;
  void flag(std::string_view name, Flag& value) const;
  void bytes(std::string_view name, Number& value) const;  // a Kubernetes quantity
  void text(std::string_view name, std::string& value) const;

  template <class Choice>
  void choice(std::string_view name, std::optional<Choice>& value,
              std::initializer_list<std::pair<std::string_view, Choice>> choices) const {
    const std::optional<std::string> given = word(name);
    if (!given) return;
    for (const auto& [known, meaning] : choices)
      if (*given == known) {
        value = meaning;
        return;
      }
    unknown_choice(name, *given);
  }

  // Calls `read(Members, Section&)` if the section exists.
  template <class Section, class Read>
  void section(std::string_view name, std::optional<Section>& value, Read read) const {
    if (const std::optional<Members> inner = object(name)) read(*inner, value.emplace());
  }

  // Calls `read(Members)` if the section exists.
  template <class Read>
  void section(std::string_view name, Read read) const {
    if (const std::optional<Members> inner = object(name)) read(*inner);
  }

  // Calls `take(Members)` for each object of a list; returns false if there is no list.
  template <class Take>
  bool each(std::string_view name, Take take) const {
    const boost::json::value* entries = list(name);
    if (!entries) return false;
    for (std::size_t i = 0; i < size_of(*entries); ++i)
      if (const std::optional<Members> entry = element(*entries, name, i)) take(*entry);
    return true;
  }

  void flags(std::string_view name, std::map<std::string, bool>& values) const;

  void report(std::string_view name, std::string_view what) const;

 private:
  const boost::json::value* find(std::string_view name) const;
  std::optional<std::string> word(std::string_view name) const;
  void unknown_choice(std::string_view name, std::string_view word) const;
  std::optional<Members> object(std::string_view name) const;
  const boost::json::value* list(std::string_view name) const;
  static std::size_t size_of(const boost::json::value& list);
  std::optional<Members> element(const boost::json::value& list, std::string_view name, std::size_t index) const;
  std::string below(std::string_view name) const;
  void unexpected(std::string_view name, const boost::json::value& found, std::string_view expected) const;

  const boost::json::value* object_;
  std::string path_;
  Problems* problems_;
};

}  // namespace koord::slo
