// SPDX-License-Identifier: Apache-2.0
#include "core/child/guest.hpp"

#include "core/child/call_server.hpp"
#include "core/child/protocol.hpp"
#include "core/child/wire.hpp"

namespace koord::child {
namespace {

constexpr Duration kLoadPatience = std::chrono::seconds(10);
constexpr Duration kGuestEndPatience = std::chrono::seconds(2);  // once the channel is closed
constexpr std::size_t kMaxProblem = 4096;

}  // namespace

Guest::Guest(const Invitation& invitation, const host::HomeLimits& limits) : invitation_(invitation), limits_(limits) {
  if (invitation.layout) confinement_.emplace(*invitation.layout, invitation.cgroup, limits);
}

Guest::~Guest() {
  if (confinement_) confinement_->end_all();
}

Result<std::unique_ptr<Guest>> Guest::start(const Invitation& invitation, const host::HomeLimits& limits) {
  TRY(host::check_unchanged(invitation.path, invitation.checked));
  std::unique_ptr<Guest> guest(new Guest(invitation, limits));
  guest->process_ =
      TRY(Process::start(invitation.program, invitation.plugin_id, invitation.path, limits.capabilities));
  std::optional<Confinement>& confinement = guest->confinement_;
  if (confinement) {
    confinement->add(guest->process_->pid());
    guest->process_->after_end([&confinement] { confinement->end_all(); });
  }
  if (!confinement || !confinement->limits_memory()) guest->process_->limit_memory(limits.memory_bytes);
  return guest;
}

Result<std::vector<host::ClassInfo>> Guest::introduce() {
  std::vector<host::ClassInfo> classes = TRY(read_introduction());
  TRY(host::check_unchanged(invitation_.path, invitation_.checked));
  return classes;
}

Result<std::vector<host::ClassInfo>> Guest::read_introduction() {
  Packer request;
  request.add(static_cast<std::uint32_t>(Call::describe));
  Result<void> asked = process_->calls().send(request.bytes());
  auto introduction = asked ? process_->calls().receive(kLoadPatience) : Result<std::optional<Message>>(asked.error());
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
