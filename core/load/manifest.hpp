// SPDX-License-Identifier: Apache-2.0
// Manifest: a plugin's description in the section ".koord_manifest" of its file, read before any of its code runs. The
// grammar is in koordetector/plugin.h. Everything in it is outside input: sizes are bounded, characters that could
// forge a log line are refused, unknown keys are ignored. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/config/feature_gates.hpp"

namespace koord::load {

inline constexpr std::size_t kMaxManifestBytes = 4096;

enum class Runtime : std::uint8_t { native, go, jvm, python };

std::string_view to_string(Runtime runtime);

// The origin of a plugin. No content of a file decides it: the host's own plugins are those in a directory of
// plugins.ownDirectories.
enum class Origin : std::uint8_t { host, third_party };

struct Manifest {
  std::string id;
  std::string version;
  std::uint32_t abi_major = 0;
  std::uint32_t abi_minor = 0;
  std::vector<std::string> kinds;
  std::vector<std::string> gates;  // at least one
  config::Stage stage = config::Stage::alpha;
  bool default_on = false;  // as written; gate_specs() decides
  std::vector<std::string> required_services;
  std::vector<std::string> optional_services;
  std::vector<std::string> annotations;  // of pods, that it reads: "example.org/batch", or "example.org/*"
  Runtime runtime = Runtime::native;
  std::string license;
  std::string description;
  std::string text;  // the whole manifest, without the NUL

  // The gates each of which starts the plugin. Only the host's own plugins are on by default.
  std::vector<config::GateSpec> gate_specs(Origin origin) const;
};

// The content of the section; NUL bytes at its end are allowed.
Result<Manifest> parse_manifest(std::string_view section);

// Reads and parses the manifest of a plugin's file, without mapping it. A file that is not an ELF shared object
// for this machine, or has no manifest, is an error that says what was wanted and what was found.
Result<Manifest> read_manifest(const std::string& path);

// May this host load the plugin at all? ABI major and kinds; services are the business of grants.hpp, the runtime
// that of isolation.hpp.
Result<void> check_compatible(const Manifest& manifest);

}  // namespace koord::load
