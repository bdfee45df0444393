// SPDX-License-Identifier: Apache-2.0
// The table koord.verdict/1 in a child.
#include <memory>
#include <utility>

#include "core/child/remote_call.hpp"
#include "core/child/verdict_wire.hpp"
#include "core/service/verdict_arguments.hpp"

namespace koord::child {
namespace {

koord_status post(const koord_host* host, const koord_verdict* verdicts, std::uint32_t n, std::uint32_t stride) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    const Result<std::vector<verdict::Record>> records = service::verdicts_argument(verdicts, n, stride);
    if (!records) return refuse_record(remote, Service::refuse_verdicts, service::refusal_of_verdict(records.error()));
    Packer question = request(Service::verdict_post);
    add_posted(question, *records);
    return remote.returned(remote.ask(question));
  });
}

koord_status end(const koord_host* host, std::uint64_t victim, std::uint32_t resource, std::uint32_t kind,
                 koord_str why) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(service::verdict_key_argument(victim, resource, kind));
    const std::string text = TRY(service::why_argument(why));
    Packer question = request(Service::verdict_end);
    question.add(victim).add(resource).add(kind).add(std::string_view(text));
    return remote.returned(remote.ask(question));
  });
}

koord_status acquire(const koord_host* host, const koord_verdict_list** list) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(service::pointer_argument(list, "list"));
    return remote.acquire(list);
  });
}

void release(const koord_host* host, const koord_verdict_list* list) {
  serve(host, [&](HostProxy& remote) {
    if (list && !remote.release(list))
      remote.log(KOORD_LOG_ERROR, "released a list of verdicts that it does not hold, ignoring");
    return KOORD_OK;
  });
}

koord_status subscribe(const koord_host* host, std::int32_t on) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(service::on_argument(on));
    return remote.returned(remote.ask(request(Service::verdict_subscribe).add(on)));
  });
}

}  // namespace

koord_status HostProxy::acquire(const koord_verdict_list** list) {
  if (Result<void> room = service::check_held_lists(lists_); !room)
    return fail(service::status_of(room.error()), service::why(room.error()));
  std::lock_guard lock(newest_list_mutex_);
  const std::uint64_t known = newest_list_ ? newest_list_->standing()->version : 0;
  Answer answer = ask(request(Service::verdict_acquire).add(known));
  if (!answer.ok()) return returned(answer);
  if (answer.rest.number<std::uint32_t>() != 0)
    newest_list_ = std::make_shared<const service::VerdictList>(
        std::make_shared<const verdict::CurrentVerdicts>(take_standing(answer.rest)));
  *list = lists_.acquire(newest_list_);
  return KOORD_OK;
}

bool HostProxy::release(const koord_verdict_list* list) { return lists_.release(list); }

const koord_svc_verdict remote_verdict = {
    sizeof remote_verdict,       0,        post, end, acquire, release, service::verdicts_of_list,
    service::generation_of_list, subscribe};

}  // namespace koord::child
