// SPDX-License-Identifier: Apache-2.0
// JsonWriter: builds one JSON text, without a tree of values. It writes commas and escapes; the order of calls is the
// caller's. [one thread]
//
//   JsonWriter json;
//   json.begin_object().key("disk").value("vda").key("numbers").begin_array().value(1).value(2).end_array().end_object();
//   json.text();  // {"disk":"vda","numbers":[1,2]}
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace koord {

// The text as a JSON string, in quotes. If it is no UTF-8, as names from the kernel may be, each byte outside ASCII
// becomes U+FFFD: JSON is UTF-8.
std::string json_quote(std::string_view text);

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& key(std::integral auto number) { return key(std::to_string(number)); }

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& value(std::integral auto number) { return raw(std::to_string(number)); }

  template <class Value>
  JsonWriter& member(std::string_view name, const Value& of_it) {
    return key(name).value(of_it);
  }

  const std::string& text() const { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view text);
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace koord
