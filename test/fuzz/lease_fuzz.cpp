// SPDX-License-Identifier: Apache-2.0
// A Lease of any content: a record must be the same after writing and reading. An identity contains a complete address
// or no address. Agents, koordctl and koord-manager must read the same holder.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/manager/lease_record.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::manager;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string address = address_of_identity(text);
  check(address.empty() || text.starts_with(address + '/'));
  Result<LeaseRecord> record = parse_lease(text);
  if (!record) {
    check(!record.error().message().empty());
    return 0;
  }
  check(record->duration >= Duration::zero() && record->transitions >= 0);
  const Result<kube::LeaseState> state = kube::parse_lease_state(text);
  check(state.has_value() && state->holder == record->holder && state->duration == record->duration);
  (void)kube::pod_of_identity(record->holder);
  (void)address_of_identity(record->holder);
  const Result<std::string> written = lease_json({"ns", "name"}, *record);
  check(written.has_value());
  Result<LeaseRecord> again = parse_lease(*written);
  check(again.has_value());
  again->object = record->object;
  check(*again == *record);
  return 0;
}
