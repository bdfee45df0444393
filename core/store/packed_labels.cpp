// SPDX-License-Identifier: Apache-2.0
#include "core/store/packed_labels.hpp"

#include <algorithm>
#include <cstdio>

namespace koord::store {
namespace {

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

std::string pack_labels(Labels labels) {
  std::sort(labels.begin(), labels.end());
  std::string packed;
  for (const auto& [name, value] : labels) {
    if (value.empty()) continue;
    append_varint(packed, name.size());
    packed += name;
    append_varint(packed, value.size());
    packed += value;
  }
  packed.shrink_to_fit();
  return packed;
}

Labels unpack_labels(std::string_view packed) {
  Labels labels;
  for_each_label(packed, [&](std::string_view name, std::string_view value) { labels.emplace_back(name, value); });
  return labels;
}

std::string_view label_value(std::string_view packed, std::string_view name) {
  std::string_view found;
  for_each_label(packed, [&](std::string_view each, std::string_view value) {
    if (each == name) found = value;
  });
  return found;
}

std::string labels_as_json(std::string_view packed) {
  std::string json = "{";
  for_each_label(packed, [&](std::string_view name, std::string_view value) {
    if (json.size() > 1) json += ',';
    append_json_string(json, name);
    json += ':';
    append_json_string(json, value);
  });
  return json + '}';
}

}  // namespace koord::store
