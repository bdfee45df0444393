// SPDX-License-Identifier: Apache-2.0
// Sets the marker of a plugin by its settings `marker` (a directory; if it is not set, no marker is made) and `rearm`.
// Call it in init(), before programs are loaded into the kernel, and keep the marker until they are unloaded.
// Header-only.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "koordetector/plugin.hpp"
#include "plugins/shared/bpf/tracing_marker.hpp"

namespace koord::tracing {

// The settings, as properties of a configuration schema.
inline constexpr char kMarkerSettings[] = R"(
    "marker": {"type": "string", "minLength": 1,
               "description": "directory that survives a reboot: a file there keeps the programs off after the machine crashed with them"},
    "rearm": {"type": "boolean", "description": "starts them nevertheless, and removes the file; default: false"})";

// Sets the marker; returns nullopt if `marker` is not set. Throws Failure(KOORD_E_UNSUPPORTED) and records an
// event if the machine went down while this plugin was tracing.
inline std::optional<TracingMarker> mark_tracing(const koord_host* host, std::string_view plugin_id,
                                                 const std::string& proc) {
  const plugin::Config config(host);
  MarkerOptions options;
  options.directory = config.string("/marker").value_or("");
  if (options.directory.empty()) return std::nullopt;
  options.owner = plugin_id;
  options.rearm = config.boolean("/rearm").value_or(false);
  auto boot_id = read_file(proc + "/sys/kernel/random/boot_id");
  if (!boot_id) throw plugin::Failure(KOORD_E_IO, boot_id.error().message());
  options.boot_id = trim(*boot_id);
  auto marker = TracingMarker::set(options);
  if (marker) return std::move(*marker);
  if (!marker.error().is(std::errc::operation_not_permitted))
    throw plugin::Failure(KOORD_E_IO, marker.error().message());
  const std::string& why = marker.error().text;
  if (const auto* audit = static_cast<const koord_svc_audit*>(host->get_service(host, "koord.audit/1")))
    static_cast<void>(audit->record(host, KOORD_NO_SUBJECT, plugin::str("tracing stays off"), plugin::str(why)));
  throw plugin::Failure(KOORD_E_UNSUPPORTED, why);
}

}  // namespace koord::tracing
