// SPDX-License-Identifier: Apache-2.0
// koord.verdict/1: verdicts of plugins about containers that are slowed down. This service checks them, adds the names
// of their subjects, and passes them to the store that all plugins and the API read.
#include <utility>
#include <vector>

#include "core/service/arguments.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"
#include "core/service/verdict_arguments.hpp"

namespace koord::service {
namespace {

verdict::Source source_of(const PluginContext& context) {
  const bool is_own = context.rights().host_plugin;
  return {context.id(), is_own ? verdict::Origin::own : verdict::Origin::third_party, context.session()};
}

// Adds labels and names to victims and suspects. A third-party plugin cannot name an unknown pod or container.
Result<void> name_subjects(const state::SnapshotPtr& state, PluginContext& context,
                           std::vector<verdict::Record>& records) {
  const SnapshotViewPtr view = context.shared().views.of(state);
  for (std::size_t i = 0; i < records.size(); ++i) {
    verdict::Record& record = records[i];
    std::optional<metric::Subject> victim = view->subject(record.victim.handle);
    if (!victim)
      return refuse(KOORD_E_GONE, "verdict " + std::to_string(i) + ": no pod or container has the handle " +
                                      std::to_string(record.victim.handle));
    record.victim = *std::move(victim);
    record.victim_name = verdict::name_of_subject(record.victim.labels);
    for (verdict::Suspect& suspect : record.suspects) {
      if (suspect.kind != verdict::SuspectKind::subject) continue;
      if (!context.rights().host_plugin) suspect.name.clear();
      std::optional<metric::Subject> living = view->subject(suspect.subject.handle);
      if (!living) continue;
      suspect.subject = *std::move(living);
      suspect.name = verdict::name_of_subject(suspect.subject.labels);
    }
  }
  return {};
}

Result<void> check_times(PluginContext& context, const std::vector<verdict::Record>& records) {
  for (std::size_t i = 0; i < records.size(); ++i)
    if (!context.is_time_plausible(to_ns(records[i].to)))
      return logged(context, refusal_of_verdict(invalid("verdict " + std::to_string(i) + ": to_ns is in the future")));
  return {};
}

// Ends the verdicts about victims that ended while they were posted. Earlier verdicts are ended when their victim ends.
void end_about_ended(SharedServices& shared, const state::SnapshotPtr& known,
                     const std::vector<std::uint64_t>& victims) {
  const state::SnapshotPtr now = shared.hub.current();
  if (now == known) return;
  const SnapshotViewPtr view = shared.views.of(now);
  for (const std::uint64_t victim : victims)
    if (!view->subject(victim))
      shared.verdicts.end_all_about(shared.clock.now(), victim, "the pod or container has ended");
}

koord_status post(const koord_host* host, const koord_verdict* verdicts, std::uint32_t n, std::uint32_t stride) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    Result<std::vector<verdict::Record>> records = verdicts_argument(verdicts, n, stride);
    if (!records) return logged(context, refusal_of_verdict(records.error()));
    TRY(check_times(context, *records));
    SharedServices& shared = context.shared();
    const state::SnapshotPtr state = shared.hub.current();
    TRY(name_subjects(state, context, *records));
    std::vector<std::uint64_t> victims;
    for (const verdict::Record& record : *records) victims.push_back(record.victim.handle);
    const Result<void> posted = shared.verdicts.post(shared.clock.now(), source_of(context), *std::move(records));
    if (!posted && posted.error().is(std::errc::operation_canceled)) return refuse(KOORD_E_GONE, posted.error().text);
    if (!posted) return context.over_quota("verdicts", posted.error().text);
    end_about_ended(shared, state, victims);
    return {};
  });
}

koord_status end(const koord_host* host, std::uint64_t victim, std::uint32_t resource, std::uint32_t kind,
                 koord_str why) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    const verdict::Key key = TRY(verdict_key_argument(victim, resource, kind));
    std::string text = TRY(why_argument(why));
    SharedServices& shared = context.shared();
    if (!shared.verdicts.end(shared.clock.now(), context.id(), key, std::move(text)))
      return refuse(KOORD_E_NOT_FOUND, "no verdict of this plugin stands about " + std::to_string(victim));
    return {};
  });
}

koord_status acquire(const koord_host* host, const koord_verdict_list** list) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    TRY(pointer_argument(list, "list"));
    TRY(check_held_lists(context.verdict_lists()));
    SharedServices& shared = context.shared();
    *list = context.verdict_lists().acquire(shared.verdict_lists.of(shared.verdicts.standing()));
    return {};
  });
}

void release(const koord_host* host, const koord_verdict_list* list) {
  serve(host, [&](PluginContext& context) {
    if (list && !context.verdict_lists().release(list))
      context.log(KOORD_LOG_ERROR, "released a list of verdicts that it does not hold, ignoring");
    return KOORD_OK;
  });
}

koord_status subscribe(const koord_host* host, std::int32_t on) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    TRY(on_argument(on));
    context.subscribe_verdicts(on == 1);
    return {};
  });
}

}  // namespace

const koord_svc_verdict verdict_service = {
    sizeof verdict_service, 0, post, end, acquire, release, verdicts_of_list, generation_of_list, subscribe};

}  // namespace koord::service
