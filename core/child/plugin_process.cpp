// SPDX-License-Identifier: Apache-2.0
#include "core/child/plugin_process.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <stop_token>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/child/call_server.hpp"
#include "core/child/protocol.hpp"
#include "core/child/wire.hpp"

namespace koord::child {
namespace {

constexpr Duration kLoadPatience = std::chrono::seconds(10);
constexpr Duration kPluginEndPatience = std::chrono::seconds(2);  // after the channel was closed
constexpr std::size_t kMaxProblem = 4096;

// `end`: how the process ended; nullopt: it still runs.
std::string without_handshake(const std::optional<std::string>& end) {
  return "its process " + (end ? "ended " + *end : std::string("closed the channel")) +
         " before it answered the handshake";
}

// Opens the plugin's file. Fails if it is not the file that was checked.
Result<UniqueFd> open_checked(const PluginProcess::Spec& spec) {
  UniqueFd file = TRY(open_at(AT_FDCWD, spec.path, O_RDONLY));
  struct stat about;
  if (::fstat(file.get(), &about) != 0) return system_error(errno, "'" + spec.path + "'");
  if (version_from(about) != spec.checked) {
    TRY(load::check_unchanged(spec.path, spec.checked));
    return invalid("'" + spec.path + "' was replaced while it was opened");
  }
  return file;
}

}  // namespace

PluginProcess::PluginProcess(const Spec& spec, const host::RunnerLimits& limits, Launch launch, UniqueFd file)
    : spec_(spec), limits_(limits), launch_(std::move(launch)), file_(std::move(file)) {
  if (spec.layout) confinement_.emplace(*spec.layout, spec.cgroup, limits);
}

PluginProcess::~PluginProcess() {
  if (confinement_) confinement_->end_all();
}

Result<std::unique_ptr<PluginProcess>> PluginProcess::start(const Spec& spec, const host::RunnerLimits& limits) {
  UniqueFd file = TRY(open_checked(spec));
  Launch launch =
      spec.layers ? TRY(spec.layers->launch(spec.plugin_id, spec.path, limits)) : launch_without_layers(limits);
  std::unique_ptr<PluginProcess> plugin_process(new PluginProcess(spec, limits, std::move(launch), std::move(file)));
  plugin_process->process_ = TRY(Process::start(spec.program, spec.plugin_id, spec.path));
  plugin_process->add_to_cgroup();
  if (limits.third_party) TRY(host::check_minimum_isolation(plugin_process->isolation(), limits.minimum_isolation));
  return plugin_process;
}

void PluginProcess::add_to_cgroup() {
  std::string missing = confinement_ ? "" : "the agent makes no cgroups";
  if (confinement_) {
    confinement_->add(process_->pid());
    process_->after_end([this] { confinement_->end_all(); });
    missing = confinement_->problems();
  }
  if (!missing.empty()) launch_.level.missing[config::IsolationLayer::cgroup] = missing;
  if (!confinement_ || !confinement_->limits_memory()) launch_.spec.memory_bytes = limits_.memory_bytes;
  // The kernel counts processes per user. During a replacement two instances of the plugin run at the same time.
  launch_.spec.processes = 2 * limits_.processes;
}

std::string PluginProcess::problems() const {
  std::string problems = confinement_ ? confinement_->problems() : std::string();
  if (!launch_.problem.empty()) problems += (problems.empty() ? "" : "; ") + launch_.problem;
  return problems;
}

Result<std::vector<load::ClassInfo>> PluginProcess::handshake() {
  std::vector<load::ClassInfo> classes = TRY(read_handshake());
  TRY(load::check_unchanged(spec_.path, spec_.checked));
  file_.reset();
  return classes;
}

Result<std::vector<load::ClassInfo>> PluginProcess::read_handshake() {
  Packer request;
  request.add(static_cast<std::uint32_t>(Call::describe));
  launch_.spec.pack(request);
  // A plugin's constructors may hang. SIGKILL ends the process and so closes the channel, which ends receive() below.
  const std::stop_callback give_up(limits_.loading, [this] { process_->signal(SIGKILL); });
  Result<void> asked = process_->calls().send(request.bytes(), file_.get());
  auto handshake = asked ? process_->calls().receive(kLoadPatience) : Result<std::optional<Message>>(asked.error());
  if (!handshake && limits_.loading.stop_requested())
    return invalid("its process was ended before its file was mapped");
  if (!handshake) return invalid(explain(without_handshake(process_->wait(kPluginEndPatience))));
  if (!*handshake) return invalid("no answer to the handshake within " + format_duration(kLoadPatience));
  Unpacker in((*handshake)->bytes);
  auto status = in.number<koord_status>();
  std::string text(in.text().substr(0, kMaxProblem));
  in.number<std::int64_t>();
  if (status != KOORD_OK) return invalid(text);
  return unpack_classes(in);
}

std::string PluginProcess::explain(std::string reason) const {
  if (confinement_ && confinement_->oom_kills() > 0)
    reason += ", out of its memory of " + std::to_string(limits_.memory_bytes >> 20) + " MiB";
  return reason;
}

}  // namespace koord::child
