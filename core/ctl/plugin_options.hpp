// SPDX-License-Identifier: Apache-2.0
// Options that several of the commands for plugin authors have.
#pragma once

#include <memory>
#include <string>

#include "core/base/result.hpp"
#include "core/config/config.hpp"
#include "core/ctl/command.hpp"
#include "core/workshop/node_state.hpp"

namespace koord::workshop {
class RunNode;
}

namespace koord::ctl {

// --pods, --node-object, --node-slo: files of Kubernetes objects that replace a cluster.
void describe_state(po::options_description& options);
Result<workshop::StateTexts> read_state(const Invocation& invocation);

// --node live|sample|FIXTURE, and, for a live node, the files above. `live`: the name for this machine.
void describe_node(po::options_description& options);
Result<std::unique_ptr<workshop::RunNode>> open_node(const Invocation& invocation,
                                                     std::unique_ptr<workshop::RunNode> (*live)(workshop::StateTexts));

// --set KEY=VALUE and --config FILE: the plugin's own configuration, as in an agent.
void describe_configuration(po::options_description& options);
Result<config::Config> configuration_for(const Invocation& invocation, const std::string& plugin_id);
Result<std::string> configuration_of(const Invocation& invocation, const std::string& plugin_id);

}  // namespace koord::ctl
