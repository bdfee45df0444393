// SPDX-License-Identifier: Apache-2.0
// JSON texts: reader, walker, scanner and quoter must agree about any bytes.
#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/utf8.hpp"
#include "core/json/field.hpp"
#include "core/json/items.hpp"
#include "core/json/reader.hpp"
#include "core/json/scanner.hpp"
#include "core/json/writer.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;

namespace {

// Checks that an error names the path, and that each member and item can be reached.
void walk(const JsonField& field) {
  if (auto text = field.text(); !text) check(text.error().message().find(": ") != std::string::npos);
  (void)field.integer(0);
  (void)field.boolean();
  (void)field.resources();
  if (auto items = field.list())
    for (const JsonField& item : *items) walk(item);
  if (auto members = field.members())
    for (const auto& [name, member] : *members) walk(member);
}

void check_read(std::string_view text, const boost::json::value& value) {
  const auto again = read_json(boost::json::serialize(value));
  check(again && again->kind() == value.kind());
  JsonScanner scanner(text);
  check(scanner.value() && scanner.end());
  walk(JsonField(value));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto value = read_json(text)) check_read(text, *value);
  const auto quoted = read_json(json_quote(text));
  check(quoted && quoted->is_string() && (text_view(quoted->get_string()) == text || !is_valid_utf8(text)));
  static constexpr JsonWanted kName[] = {{"name"}};
  (void)for_each_json_item(text, kName, walk);
  return 0;
}
