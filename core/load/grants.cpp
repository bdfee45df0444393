// SPDX-License-Identifier: Apache-2.0
#include "core/load/grants.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/base/parse.hpp"
#include "core/load/manifest.hpp"
#include "core/service/services.hpp"

namespace koord::load {
namespace {

enum KindBit : std::uint8_t { kAdvisor = 1, kExternalAdvisor = 2, kQosStrategy = 4, kRuntimeHook = 8, kAll = 15 };

struct Kind {
  std::string_view id;
  KindBit bit;
};

constexpr std::array kKinds = {
    Kind{"koord.advisor/1", kAdvisor},
    Kind{"koord.external-advisor/1", kExternalAdvisor},
    Kind{"koord.qos-strategy/1", kQosStrategy},
    Kind{"koord.runtime-hook/1", kRuntimeHook},
};

// One service, and the kinds of plugins that it is granted to if the host offers it.
struct Grant {
  std::string_view id;
  std::uint8_t granted_to;
};

constexpr std::array kGrants = {
    Grant{"koord.audit/1", kAll},  Grant{"koord.capabilities/1", kAll},
    Grant{"koord.cgroup/1", kAll}, Grant{"koord.clock/1", kAll},
    Grant{"koord.config/1", kAll}, Grant{"koord.evict/1", kQosStrategy},
    Grant{"koord.fs/1", kAll},     Grant{"koord.knobs/1", kQosStrategy},
    Grant{"koord.kv/1", kAll},     Grant{"koord.metrics/1", kAll},
    Grant{"koord.state/1", kAll},  Grant{"koord.verdict/1", kAdvisor | kExternalAdvisor | kQosStrategy},
};

const Kind* find_kind(std::string_view id) {
  auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return k.id == id; });
  return kind == kKinds.end() ? nullptr : &*kind;
}

const Grant* find_grant(std::string_view id) {
  auto grant = std::find_if(kGrants.begin(), kGrants.end(), [&](const Grant& g) { return g.id == id; });
  return grant == kGrants.end() ? nullptr : &*grant;
}

bool is_offered(std::string_view id) { return service::find_service(id) != nullptr; }

std::uint8_t bits_of(const std::vector<std::string>& kinds) {
  std::uint8_t bits = 0;
  for (const std::string& id : kinds) {
    if (const Kind* kind = find_kind(id)) bits |= kind->bit;
  }
  return bits;
}

std::string kinds_with(std::uint8_t bits) {
  std::vector<std::string> ids;
  for (const Kind& kind : kKinds) {
    if ((bits & kind.bit) != 0) ids.emplace_back(kind.id);
  }
  return join(ids, ", ");
}

std::vector<std::string> offered_to(std::uint8_t kinds) {
  std::vector<std::string> ids;
  for (const Grant& grant : kGrants) {
    if ((grant.granted_to & kinds) != 0 && is_offered(grant.id)) ids.emplace_back(grant.id);
  }
  return ids;
}

Error refusal(const Manifest& manifest, const std::string& service, std::string_view why) {
  return invalid(manifest.id + " requests service " + service + ", " + std::string(why) + "; offered to " +
                 join(manifest.kinds, ", ") + ": " + join(offered_to(bits_of(manifest.kinds)), ", "));
}

}  // namespace

std::vector<std::string> known_kinds() {
  std::vector<std::string> ids;
  for (const Kind& kind : kKinds) ids.emplace_back(kind.id);
  return ids;
}

bool is_known_kind(std::string_view kind) { return find_kind(kind) != nullptr; }

std::vector<std::string> granted_services(std::string_view kind_id) {
  const Kind* kind = find_kind(kind_id);
  return kind == nullptr ? std::vector<std::string>{} : offered_to(kind->bit);
}

Result<void> check_required_services(const Manifest& manifest) {
  std::uint8_t kinds = bits_of(manifest.kinds);
  for (const std::string& id : manifest.required_services) {
    const Grant* grant = find_grant(id);
    if (grant == nullptr || !is_offered(id)) return refusal(manifest, id, "which this host does not have");
    if ((grant->granted_to & kinds) == 0) {
      return refusal(manifest, id, "which is granted to " + kinds_with(grant->granted_to));
    }
  }
  return {};
}

}  // namespace koord::load
