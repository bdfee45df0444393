// SPDX-License-Identifier: Apache-2.0
// Options that several of the author's commands take.
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/ctl/command.hpp"
#include "core/workshop/fixture.hpp"

namespace koord::ctl {

// --pods, --node-object, --node-slo: files of Kubernetes objects that stand for a cluster.
void describe_state(po::options_description& options);
Result<workshop::StateTexts> read_state(const Invocation& invocation);

// --set KEY=VALUE and --config FILE: the plugin's own configuration, as an agent would give it.
void describe_configuration(po::options_description& options);
Result<std::string> configuration_of(const Invocation& invocation, const std::string& plugin_id);

}  // namespace koord::ctl
