// SPDX-License-Identifier: Apache-2.0
// Runs an instance in this process: its calls are calls of the module's vtable, through the firewall of
// call_guard.hpp. The class is of a module, which is never unmapped; the context outlives it. [threads as in
// runner.hpp]
#pragma once

#include <memory>

#include "core/host/runner.hpp"

namespace koord::service {
class PluginSide;
}  // namespace koord::service

namespace koord::host {

std::unique_ptr<Runner> make_in_process_runner(const koord_class& cls, const load::ClassInfo& info,
                                               service::PluginSide& context);

// A Loader: maps the file into this process, where no limit holds.
Result<std::shared_ptr<const LoadedPlugin>> load_in_process(const std::string& path, const load::Manifest& manifest,
                                                            const FileVersion& checked,
                                                            const RunnerLimits& limits = {});

}  // namespace koord::host
