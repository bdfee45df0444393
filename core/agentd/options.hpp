// SPDX-License-Identifier: Apache-2.0
// Options of the agent's libraries, made from its configuration.
#pragma once

#include <string>

#include "core/base/clock.hpp"
#include "core/cgroup/reader.hpp"
#include "core/child/layers.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/config/config.hpp"
#include "core/host/runner.hpp"
#include "core/http/limits.hpp"
#include "core/store/store.hpp"

namespace koord::agentd {

store::Options store_options(const config::StoreSettings& settings);
cgroup::Reader::Options reader_options(const config::CgroupSettings& settings);
child::Layers::Options layer_options(const config::Config& config);
// Returns the time after which a list of pods that was not confirmed is old. It is longer if the kubelet is asked less
// often than by default.
Duration pods_are_old_after(const config::Config& config);
// Returns the limits of listen.probes.
http::Limits probe_limits();
// Returns the Loader for plugins that run in their own process. `configured`: the program. All references must outlive
// the Loader.
host::Loader child_loader(const std::string& configured, child::SnapshotImages& images, const cgroup::Layout& layout,
                          child::Layers& layers);

}  // namespace koord::agentd
