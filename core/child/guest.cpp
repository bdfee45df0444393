// SPDX-License-Identifier: Apache-2.0
#include "core/child/guest.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <stop_token>
#include <utility>

#include "core/base/file.hpp"
#include "core/child/call_server.hpp"
#include "core/child/protocol.hpp"
#include "core/child/wire.hpp"

namespace koord::child {
namespace {

constexpr Duration kLoadPatience = std::chrono::seconds(10);
constexpr Duration kGuestEndPatience = std::chrono::seconds(2);  // once the channel is closed
constexpr std::size_t kMaxProblem = 4096;

// The file that was checked, and no other that lies there since.
Result<UniqueFd> open_checked(const Guest::Invitation& invitation) {
  UniqueFd file = TRY(open_at(AT_FDCWD, invitation.path, O_RDONLY));
  struct stat about;
  if (::fstat(file.get(), &about) != 0) return system_error(errno, "'" + invitation.path + "'");
  if (host::stamp_from(about) != invitation.checked) {
    TRY(host::check_unchanged(invitation.path, invitation.checked));
    return invalid("'" + invitation.path + "' was replaced while it was opened");
  }
  return file;
}

}  // namespace

Guest::Guest(const Invitation& invitation, const host::RunnerLimits& limits, Launch launch, UniqueFd file)
    : invitation_(invitation), limits_(limits), launch_(std::move(launch)), file_(std::move(file)) {
  if (invitation.layout) confinement_.emplace(*invitation.layout, invitation.cgroup, limits);
}

Guest::~Guest() {
  if (confinement_) confinement_->end_all();
}

Result<std::unique_ptr<Guest>> Guest::start(const Invitation& invitation, const host::RunnerLimits& limits) {
  UniqueFd file = TRY(open_checked(invitation));
  Launch launch = invitation.layers ? TRY(invitation.layers->launch(invitation.plugin_id, invitation.path, limits))
                                    : launch_without_layers(limits);
  std::unique_ptr<Guest> guest(new Guest(invitation, limits, std::move(launch), std::move(file)));
  guest->process_ = TRY(Process::start(invitation.program, invitation.plugin_id, invitation.path));
  guest->add_to_cgroup();
  if (limits.third_party) TRY(host::check_minimum_isolation(guest->isolation(), limits.minimum_isolation));
  return guest;
}

void Guest::add_to_cgroup() {
  std::string missing = confinement_ ? "" : "the agent makes no cgroups";
  if (confinement_) {
    confinement_->add(process_->pid());
    process_->after_end([this] { confinement_->end_all(); });
    missing = confinement_->problems();
  }
  if (!missing.empty()) launch_.level.missing[config::IsolationLayer::cgroup] = missing;
  if (!confinement_ || !confinement_->limits_memory()) launch_.spec.memory_bytes = limits_.memory_bytes;
  // The kernel counts by user, and at a replacement two processes of the plugin run side by side.
  launch_.spec.processes = 2 * limits_.processes;
}

std::string Guest::problems() const {
  std::string problems = confinement_ ? confinement_->problems() : std::string();
  if (!launch_.problem.empty()) problems += (problems.empty() ? "" : "; ") + launch_.problem;
  return problems;
}

Result<std::vector<host::ClassInfo>> Guest::introduce() {
  std::vector<host::ClassInfo> classes = TRY(read_introduction());
  TRY(host::check_unchanged(invitation_.path, invitation_.checked));
  file_.reset();
  return classes;
}

Result<std::vector<host::ClassInfo>> Guest::read_introduction() {
  Packer request;
  request.add(static_cast<std::uint32_t>(Call::describe));
  launch_.spec.pack(request);
  // Constructors may hang. The end of the process closes the channel, which ends the wait below.
  const std::stop_callback give_up(limits_.loading, [this] { process_->signal(SIGKILL); });
  Result<void> asked = process_->calls().send(request.bytes(), file_.get());
  auto introduction = asked ? process_->calls().receive(kLoadPatience) : Result<std::optional<Message>>(asked.error());
  if (!introduction && limits_.loading.stop_requested()) return invalid("its process was ended before its file was mapped");
  if (!introduction)
    return invalid("wanted a return, found that its process ended " +
                   explain(process_->wait(kGuestEndPatience).value_or("not, but hung up")));
  if (!*introduction) return invalid("wanted an end within 10s, found none");
  Unpacker in((*introduction)->bytes);
  auto status = in.number<koord_status>();
  std::string text(in.text().substr(0, kMaxProblem));
  in.number<std::int64_t>();
  if (status != KOORD_OK) return invalid(text);
  return unpack_classes(in);
}

std::string Guest::explain(std::string reason) const {
  if (confinement_ && confinement_->oom_kills() > 0)
    reason += ", out of its memory of " + std::to_string(limits_.memory_bytes >> 20) + " MiB";
  return reason;
}

}  // namespace koord::child
