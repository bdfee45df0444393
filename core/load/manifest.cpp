// SPDX-License-Identifier: Apache-2.0
#include "core/load/manifest.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/base/utf8.hpp"
#include "core/config/plugin_id.hpp"
#include "core/load/elf_section.hpp"
#include "core/load/grants.hpp"
#include "koordetector/plugin.h"

namespace koord::load {
namespace {

constexpr std::string_view kFirstLine = "koord-manifest/1";

using config::is_plugin_id;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_version(std::string_view text) {
  auto allowed = [](char c) { return c > ' ' && c < 0x7f; };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), allowed);
}

bool is_gate(std::string_view text) {
  auto allowed = [](char c) { return is_lower(c) || is_upper(c) || is_digit(c); };
  return !text.empty() && text.size() <= 64 && is_upper(text.front()) && std::all_of(text.begin(), text.end(), allowed);
}

// Returns whether the text is the key of an annotation, or stands for all keys of a domain.
bool is_annotation(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view domain = text.substr(0, slash == std::string_view::npos ? 0 : slash);
  const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
  const auto allowed = [](char c) {
    return is_lower(c) || is_upper(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
  };
  const bool is_name = !name.empty() && name.size() <= 63 && std::all_of(name.begin(), name.end(), allowed);
  if (slash == std::string_view::npos) return is_name;
  return !domain.empty() && domain.size() <= 253 && std::all_of(domain.begin(), domain.end(), allowed) &&
         (is_name || name == "*");
}

bool is_any(std::string_view) { return true; }

// Returns whether the text is a service such as "koord.metrics/1": a name in the format of a plugin id, a slash, a
// revision.
bool is_service(std::string_view text) {
  std::size_t slash = text.find('/');
  return slash != std::string_view::npos && is_plugin_id(text.substr(0, slash)) && parse_uint(text.substr(slash + 1));
}

Error unexpected(std::string_view key, std::string_view found, std::string_view expected) {
  return invalid(std::string(key) + "='" + std::string(found) + "': expected " + std::string(expected));
}

Result<void> take_text(bool (*valid)(std::string_view), std::string_view expected, std::string_view key,
                       std::string_view value, std::string& into) {
  if (!valid(value)) return unexpected(key, value, expected);
  into = value;
  return {};
}

Result<void> take_names(bool (*valid)(std::string_view), std::string_view expected, std::string_view key,
                        std::string_view value, std::vector<std::string>& into) {
  for (const std::string& part : split(value, ',')) {
    std::string_view name = trim(part);
    if (name.empty()) continue;
    if (!valid(name)) return unexpected(key, name, expected);
    if (std::find(into.begin(), into.end(), name) != into.end()) return unexpected(key, name, "each name once");
    into.emplace_back(name);
  }
  return {};
}

Result<void> take_services(std::string_view key, std::string_view value, std::vector<std::string>& into) {
  return take_names(is_service, "names such as koord.metrics/1, with commas between", key, value, into);
}

Result<void> take_abi(std::string_view value, Manifest& manifest) {
  std::size_t dot = value.find('.');
  Result<std::uint64_t> major = parse_uint(value.substr(0, dot));
  Result<std::uint64_t> minor = parse_uint(dot == std::string_view::npos ? "" : value.substr(dot + 1));
  if (!major || !minor || *major > UINT16_MAX || *minor > UINT16_MAX) {
    return unexpected("abi", value, "MAJOR.MINOR, such as 1.0");
  }
  manifest.abi_major = static_cast<std::uint32_t>(*major);
  manifest.abi_minor = static_cast<std::uint32_t>(*minor);
  return {};
}

Result<void> take_stage(std::string_view value, Manifest& manifest) {
  Result<config::Stage> stage = config::parse_stage(value);
  if (!stage) return unexpected("stage", value, "alpha, beta or ga");
  manifest.stage = *stage;
  return {};
}

Result<void> take_default(std::string_view value, Manifest& manifest) {
  if (value != "true" && value != "false") return unexpected("default", value, "true or false");
  manifest.default_on = value == "true";
  return {};
}

Result<void> take_runtime(std::string_view value, Manifest& manifest) {
  for (Runtime runtime : {Runtime::native, Runtime::go, Runtime::jvm, Runtime::python}) {
    if (value != to_string(runtime)) continue;
    manifest.runtime = runtime;
    return {};
  }
  return unexpected("runtime", value, "native, go, jvm or python");
}

struct Key {
  std::string_view name;
  bool required;
  Result<void> (*take)(std::string_view value, Manifest& manifest);
};

using Value = std::string_view;

constexpr std::array kKeys = {
    Key{"id", true, [](Value v, Manifest& m) { return take_text(is_plugin_id, config::kPluginIdForm, "id", v, m.id); }},
    Key{"version", true,
        [](Value v, Manifest& m) { return take_text(is_version, "a version such as 1.2.0", "version", v, m.version); }},
    Key{"abi", true, take_abi},
    Key{"kinds", true, [](Value v, Manifest& m) { return take_services("kinds", v, m.kinds); }},
    Key{"gate", true,
        [](Value v, Manifest& m) {
          return take_names(is_gate, "a gate name such as AcmeRunQueue", "gate", v, m.gates);
        }},
    Key{"stage", false, take_stage},
    Key{"default", false, take_default},
    Key{"requires", false, [](Value v, Manifest& m) { return take_services("requires", v, m.required_services); }},
    Key{"optional", false, [](Value v, Manifest& m) { return take_services("optional", v, m.optional_services); }},
    Key{"annotations", false,
        [](Value v, Manifest& m) {
          return take_names(is_annotation,
                            "keys of annotations such as example.org/batch or example.org/*, with commas between",
                            "annotations", v, m.annotations);
        }},
    Key{"runtime", false, take_runtime},
    Key{"license", false, [](Value v, Manifest& m) { return take_text(is_any, "", "license", v, m.license); }},
    Key{"description", false,
        [](Value v, Manifest& m) { return take_text(is_any, "", "description", v, m.description); }},
};

const Key* find_key(std::string_view name) {
  auto key = std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& k) { return k.name == name; });
  return key == kKeys.end() ? nullptr : &*key;
}

// Refuses control characters except line breaks, because they could forge a line of the log.
Result<void> check_characters(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = utf8_length(text.substr(at));
    if (length == 0) return invalid("expected UTF-8, found another byte at " + std::to_string(at));
    bool control = length == 1 && (static_cast<unsigned char>(text[at]) < 0x20 || text[at] == 0x7f);
    if (control && text[at] != '\n') return invalid("found a control character at byte " + std::to_string(at));
    at += length;
  }
  return {};
}

Result<void> take_line(std::string_view line, std::set<std::string, std::less<>>& seen, Manifest& manifest) {
  std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) {
    return invalid("expected lines key=value, found '" + std::string(line.substr(0, 64)) + "'");
  }
  const Key* key = find_key(line.substr(0, equals));
  if (key == nullptr) return {};  // a key of a later minor version
  if (!seen.emplace(key->name).second) return invalid("found '" + std::string(key->name) + "' twice, expected it once");
  return key->take(line.substr(equals + 1), manifest);
}

Result<void> check_complete(const std::set<std::string, std::less<>>& seen, const Manifest& manifest) {
  for (const Key& key : kKeys) {
    if (key.required && !seen.contains(key.name))
      return invalid("expected '" + std::string(key.name) + "', found none");
  }
  if (manifest.kinds.empty()) return invalid("expected at least one of 'kinds', found none");
  if (manifest.gates.empty()) return invalid("expected a gate name such as AcmeRunQueue, found none");
  return {};
}

}  // namespace

std::string_view to_string(Runtime runtime) {
  switch (runtime) {
    case Runtime::native:
      return "native";
    case Runtime::go:
      return "go";
    case Runtime::jvm:
      return "jvm";
    case Runtime::python:
      return "python";
  }
  return "?";
}

std::vector<config::GateSpec> Manifest::gate_specs(Origin origin) const {
  std::vector<config::GateSpec> specs;
  for (const std::string& gate : gates)
    specs.push_back({.name = gate, .stage = stage, .default_on = default_on && origin == Origin::host});
  return specs;
}

Result<Manifest> parse_manifest(std::string_view section) {
  while (!section.empty() && section.back() == '\0') section.remove_suffix(1);
  if (section.size() > kMaxManifestBytes) {
    return invalid("expected a manifest of at most " + std::to_string(kMaxManifestBytes) + " bytes, found " +
                   std::to_string(section.size()));
  }
  TRY(check_characters(section));
  Manifest manifest;
  manifest.text = section;
  std::string_view rest = section;
  std::string_view first = next_field(rest, '\n').value_or("");
  if (first != kFirstLine) {
    return invalid("expected the first line '" + std::string(kFirstLine) + "', found '" +
                   std::string(first.substr(0, 64)) + "'");
  }
  std::set<std::string, std::less<>> seen;
  while (std::optional<std::string_view> line = next_field(rest, '\n')) {
    if (!line->empty()) TRY(take_line(*line, seen, manifest));
  }
  TRY(check_complete(seen, manifest));
  return manifest;
}

Result<Manifest> read_manifest(const std::string& path) {
  UniqueFd file = TRY(open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  ByteSource source = TRY(bytes_of_file(file.get()));
  // One more byte for the NUL.
  std::string section = TRY(read_elf_section(source, KOORD_MANIFEST_SECTION, kMaxManifestBytes + 1));
  return parse_manifest(section);
}

Result<void> check_compatible(const Manifest& manifest) {
  if (manifest.abi_major != KOORD_ABI_MAJOR) {
    return invalid("expected plugin ABI " + std::to_string(KOORD_ABI_MAJOR) + ".x, found " +
                   std::to_string(manifest.abi_major) + "." + std::to_string(manifest.abi_minor));
  }
  for (const std::string& kind : manifest.kinds) {
    if (is_known_kind(kind)) continue;
    return invalid("found kind '" + kind + "', this host knows " + join(known_kinds(), ", "));
  }
  return {};
}

}  // namespace koord::load
