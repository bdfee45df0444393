// SPDX-License-Identifier: Apache-2.0
// The plugin process's end of the calls. serve_calls() takes one call after the other from a channel, makes it on the
// PluginInstance, and answers. It runs in two threads: the main one has the strand's calls, another has those of hooks.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/child/channel.hpp"
#include "core/child/host_proxy.hpp"
#include "core/child/protocol.hpp"
#include "core/child/wire.hpp"
#include "core/host/runner.hpp"
#include "core/load/module.hpp"

namespace koord::child {

// The plugin in this process: its module, and the instance, when there is one.
class PluginInstance {
 public:
  PluginInstance(std::shared_ptr<const load::Module> module, HostProxy& host)
      : module_(std::move(module)), host_(host) {}
  ~PluginInstance();

  // The results of the call go to `out`.
  service::CallResult call(Call call, Unpacker& in, UniqueFd fd, Packer& out);

 private:
  // nullptr: not created yet. Made by the thread of the strand's calls; the one of the hooks reads it too.
  host::Runner* runner() const { return runner_; }

  service::CallResult create(Unpacker& in);
  service::CallResult run(UniqueFd stop);
  service::CallResult on_applied(Unpacker& in);
  service::CallResult targets(Packer& out);
  service::CallResult map_metrics(Unpacker& in, Packer& out);
  service::CallResult map_series(Unpacker& in, Packer& out);
  service::CallResult map_samples(Unpacker& in, Packer& out);
  service::CallResult handle(Unpacker& in, Packer& out);

  std::shared_ptr<const load::Module> module_;
  HostProxy& host_;
  std::unique_ptr<host::Runner> owned_runner_;
  std::atomic<host::Runner*> runner_ = nullptr;
  std::thread run_thread_;
};

// Serves until the host closes its end.
void serve_calls(Channel& channel, PluginInstance& plugin, HostProxy& host);

// A child's description of its plugin's classes, and the host's reader of it.
void pack_classes(Packer& out, const std::vector<load::ClassInfo>& classes);
Result<std::vector<load::ClassInfo>> unpack_classes(Unpacker& in);

}  // namespace koord::child
