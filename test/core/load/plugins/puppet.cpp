// SPDX-License-Identifier: Apache-2.0
// A plugin that macros define. PUPPET_ID is its id, and PUPPET_GATE its feature gate. PUPPET_KIND is its kind: 1
// advisor, 2 external advisor, 3 strategy, 4 hook. PUPPET_RUN and PUPPET_EVENTS define whether it has run() and
// on_event().
#include "puppet.hpp"

#include <cstring>

using koord::test::PuppetCall;
using koord::test::PuppetStrings;

namespace {

PuppetStrings strings{};

struct Self {
  const koord_host* host;
};

koord_status pull(const PuppetCall& call) {
  return strings.pull != nullptr ? strings.pull(strings.hand, call) : KOORD_OK;
}

const koord_host* host_of(void* self) { return static_cast<Self*>(self)->host; }

koord_status create(const koord_host* host, const koord_class*, void** self) {
  *self = new Self{host};
  koord_status status = pull({"create", host});
  if (status != KOORD_OK) delete static_cast<Self*>(*self);
  return status;
}
koord_status init(void* self) { return pull({"init", host_of(self)}); }
koord_status run(void* self, const koord_stop* stop) { return pull({"run", host_of(self), 0, 0, stop}); }
koord_status on_event(void* self, uint32_t what, uint64_t version) {
  return pull({"on_event", host_of(self), what, version});
}
koord_status stop(void* self) { return pull({"stop", host_of(self)}); }
void destroy(void* self) {
  pull({"destroy", host_of(self)});
  delete static_cast<Self*>(self);
}
koord_status collect(void* self, uint64_t now, uint64_t deadline) {
  return pull({"collect", host_of(self), now, deadline});
}
koord_status url(void*, char* buf, uint64_t cap, uint64_t* need) {
  const char text[] = "http://127.0.0.1:9100/metrics";
  *need = sizeof text - 1;
  if (cap < *need) return KOORD_E_TOO_SMALL;
  std::memcpy(buf, text, *need);
  return KOORD_OK;
}
koord_status evaluate(void* self, uint64_t now, uint64_t deadline) {
  return pull({"evaluate", host_of(self), now, deadline});
}
koord_status handle(void* self, const koord_hook_request*, const koord_hook_response*) {
  return pull({"handle", host_of(self)});
}

#define LIFE(table) \
  { sizeof(table), 0, create, init, PUPPET_RUN ? run : nullptr, PUPPET_EVENTS ? on_event : nullptr, stop, destroy }

#if PUPPET_KIND == 1
#define KIND "koord.advisor/1"
const koord_advisor table{LIFE(koord_advisor), collect};
#elif PUPPET_KIND == 2
#define KIND "koord.external-advisor/1"
const koord_external_advisor table{LIFE(koord_external_advisor), url, nullptr, nullptr, nullptr, nullptr, nullptr};
#elif PUPPET_KIND == 3
#define KIND "koord.qos-strategy/1"
const koord_qos_strategy table{LIFE(koord_qos_strategy), evaluate, nullptr};
#else
#define KIND "koord.runtime-hook/1"
const koord_runtime_hook table{LIFE(koord_runtime_hook), KOORD_STAGE_PRE_CREATE_CONTAINER, 0, handle};
#endif

const char schema[] =
    R"({"type": "object", "properties": {"limit": {"type": "object", "properties": {"cpu": {"type": "integer"}}}}})";

const koord_class classes[] = {{sizeof(koord_class), 0, KIND, "puppet", schema, &table.life, 3'600'000'000'000}};

__attribute__((section(KOORD_MANIFEST_SECTION), used)) const char manifest[] =
    "koord-manifest/1\nid=" PUPPET_ID "\nversion=1.2.3\nabi=1.0\nkinds=" KIND "\ngate=" PUPPET_GATE
    "\ndefault=true\nrequires=koord.metrics/1\n";

const koord_module module{
    KOORD_MAGIC, sizeof(koord_module), KOORD_ABI_MAJOR, KOORD_ABI_MINOR, 1, sizeof(koord_class), 0, manifest, classes};

}  // namespace

PuppetStrings* koord_test_puppet() { return &strings; }
extern "C" const koord_module* koord_entry_v1() { return &module; }
