// SPDX-License-Identifier: Apache-2.0
// koord-plugin-host: runs one plugin in its own process. Only koordetector starts it, with the descriptors of
// core/child/protocol.hpp, and it ends with koordetector.
//   koord-plugin-host ID FILE
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "core/base/linux_capability.hpp"
#include "core/child/call_server.hpp"
#include "core/child/launch_spec.hpp"
#include "core/child/sandbox.hpp"
#include "core/child/sealed_copy.hpp"
#include "core/load/manifest.hpp"

namespace {

using namespace koord;
using namespace koord::child;

struct Order {
  LaunchSpec spec;
  UniqueFd file;  // the plugin's file
};

// Waits for the host's order, because the host must first put this process into its cgroup.
std::optional<Order> await_order(Channel& calls) {
  Result<std::optional<Message>> message = calls.receive(std::chrono::hours(1));
  if (!message || !*message) return std::nullopt;
  Unpacker in((*message)->bytes);
  if (in.number<std::uint32_t>() != static_cast<std::uint32_t>(Call::describe)) return std::nullopt;
  Order order{LaunchSpec::unpack(in), std::move((*message)->fd)};
  if (!in.complete() || !order.file) return std::nullopt;
  return order;
}

Result<void> confine(const LaunchSpec& spec) {
  const CapabilityMask kept = TRY(enter_sandbox(spec));
  if (kept != spec.capabilities)
    std::cerr << "does without " << format_capabilities(spec.capabilities & ~kept)
              << ", which the agent does not have\n";
  return {};
}

std::string with_name(std::string text, const std::string& copy, const std::string& path) {
  for (std::size_t at = 0; (at = text.find(copy, at)) != std::string::npos; at += path.size())
    text.replace(at, copy.size(), path);
  return text;
}

// Loads the plugin from a sealed copy. Messages contain the path of the file, not of the copy.
Result<std::shared_ptr<const load::Module>> load(const std::string& id, const std::string& path, const Order& order) {
  if (Result<void> confined = confine(order.spec); !confined)
    return invalid("cannot be confined: " + confined.error().message());
  const UniqueFd memory = TRY(sealed_copy(order.file.get(), id + ".so"));
  if (Result<void> limited = limit_files(order.spec); !limited)
    return invalid("cannot be confined: " + limited.error().message());
  const std::string copy = "/proc/self/fd/" + std::to_string(memory.get());
  auto module = [&]() -> Result<std::shared_ptr<const load::Module>> {
    const load::Manifest manifest = TRY(load::read_manifest(copy));
    return load::Module::load_untried(copy, manifest);
  }();
  if (!module) return invalid(with_name(module.error().text, copy, path));
  return module;
}

// Reports the plugin's manifest to the host, or the reason of a failed load.
bool handshake(Channel& calls, const Result<std::shared_ptr<const load::Module>>& module) {
  Packer answer;
  answer.add(module ? KOORD_OK : KOORD_E_INVALID);
  answer.add(module ? std::string_view() : std::string_view(module.error().text)).add(std::int64_t{0});
  if (module) pack_classes(answer, (*module)->classes());
  return calls.send(answer.bytes()) && module;
}

int serve(const std::string& id, const std::string& path) {
  Result<SampleRing> samples = SampleRing::attach(UniqueFd(kSamplesFd));
  if (!samples) return 1;
  Channel calls{UniqueFd(kCallsFd)}, hooks{UniqueFd(kHooksFd)};
  HostProxy host(id, Channel(UniqueFd(kServicesFd)), *std::move(samples));
  std::optional<Order> order = await_order(calls);
  if (!order) return 0;
  auto module = load(id, path, *order);
  order.reset();
  if (!handshake(calls, module)) return 0;
  PluginInstance plugin(*std::move(module), host);
  std::thread([&] { serve_calls(hooks, plugin, host); }).detach();
  serve_calls(calls, plugin, host);
  std::cout.flush();
  ::_exit(0);  // without destructors, because other threads still run
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || ::fcntl(kServicesFd, F_GETFD) < 0) {
    std::cerr << "koord-plugin-host can only be started by koordetector\n";
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "koord-plugin");
  return serve(argv[1], argv[2]);
}
