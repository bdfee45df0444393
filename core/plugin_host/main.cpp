// SPDX-License-Identifier: Apache-2.0
// koord-plugin-host: runs one plugin in a process of its own. Started by koordetector only, with the descriptors of
// core/child/protocol.hpp; ends with it.
//   koord-plugin-host ID FILE [CAPABILITY,…]
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <optional>
#include <thread>

#include "core/base/linux_capability.hpp"
#include "core/child/call_server.hpp"
#include "core/child/sandbox.hpp"
#include "core/host/manifest.hpp"

namespace {

using namespace koord;
using namespace koord::child;

Result<std::shared_ptr<const host::Module>> load(const std::string& path) {
  const host::Manifest manifest = TRY(host::read_manifest(path));
  return host::Module::load_untried(path, manifest);
}

// The host says when: it has to put this process where it belongs first.
bool is_asked(Channel& calls) {
  Result<std::optional<Message>> message = calls.receive(std::chrono::hours(1));
  return message && *message && Unpacker((*message)->bytes).number<std::uint32_t>() == static_cast<std::uint32_t>(Call::describe);
}

// Tells the host what the plugin is, or why it is none.
bool introduce(Channel& calls, const Result<std::shared_ptr<const host::Module>>& module) {
  Packer answer;
  answer.add(module ? KOORD_OK : KOORD_E_INVALID);
  answer.add(module ? std::string_view() : std::string_view(module.error().text)).add(std::int64_t{0});
  if (module) pack_classes(answer, (*module)->classes());
  return calls.send(answer.bytes()) && module;
}

Result<void> confine(CapabilityMask allowed) {
  const CapabilityMask kept = TRY(enter_sandbox(allowed));
  if (kept != allowed) std::cerr << "does without " << format_capabilities(allowed & ~kept) << ", which the agent does not have\n";
  return {};
}

int serve(const std::string& id, const std::string& path, CapabilityMask allowed) {
  Result<SampleRing> samples = SampleRing::attach(UniqueFd(kSamplesFd));
  if (!samples) return 1;
  Channel calls{UniqueFd(kCallsFd)}, hooks{UniqueFd(kHooksFd)};
  RemoteHost host(id, Channel(UniqueFd(kServicesFd)), *std::move(samples));
  if (Result<void> confined = confine(allowed); !confined) {
    std::cerr << "cannot be confined: " << confined.error().message() << "\n";
    return 1;
  }
  if (!is_asked(calls)) return 0;
  auto module = load(path);
  if (!introduce(calls, module)) return 0;
  Tenant tenant(*std::move(module), host);
  std::thread([&] { serve_calls(hooks, tenant, host); }).detach();
  serve_calls(calls, tenant, host);
  std::cout.flush();
  ::_exit(0);  // the other threads may be anywhere
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<CapabilityMask> allowed = parse_capabilities(argc == 4 ? argv[3] : "");
  if (argc < 3 || argc > 4 || !allowed || ::fcntl(kServicesFd, F_GETFD) < 0) {
    std::cerr << "koord-plugin-host is started by koordetector and by nobody else\n";
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "koord-plugin");
  return serve(argv[1], argv[2], *allowed);
}
