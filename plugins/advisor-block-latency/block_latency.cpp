// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-block-latency/block_latency.hpp"

namespace koord::block_latency {
namespace {

constexpr unsigned kMinorBits = 20;

OperationTotals added(const OperationTotals& before, const OperationTotals& now) {
  if (now.requests < before.requests) return now;
  // The values of a row are not read at the same time, so one may lag by a request. Its difference is never less than
  // 0.
  const auto minus = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
  return {now.requests - before.requests, minus(now.bytes, before.bytes), minus(now.device_ns, before.device_ns),
          minus(now.queue_ns, before.queue_ns)};
}

}  // namespace

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::read:
      return "read";
    case Operation::write:
      return "write";
    case Operation::other:
      return "other";
  }
  return "unknown";
}

std::string name_of(Device device) {
  return std::to_string(device.number >> kMinorBits) + ":" + std::to_string(device.number & ((1u << kMinorBits) - 1));
}

OperationTotals& OperationTotals::operator+=(const OperationTotals& other) {
  requests += other.requests;
  bytes += other.bytes;
  device_ns += other.device_ns;
  queue_ns += other.queue_ns;
  return *this;
}

OperationTotals Requests::all() const {
  OperationTotals sum;
  for (const auto& [device, totals] : devices)
    for (const OperationTotals& operation : totals.by_operation) sum += operation;
  return sum;
}

bool Requests::empty() const {
  return latency_of(Operation::read).empty() && latency_of(Operation::write).empty() && all().requests == 0;
}

Requests& Requests::operator+=(const Requests& other) {
  for (Operation direction : kDirections) latency_of(direction) += other.latency_of(direction);
  for (const auto& [device, totals] : other.devices)
    for (Operation operation : kOperations) devices[device].of(operation) += totals.of(operation);
  return *this;
}

Requests added(const Requests& before, const Requests& now) {
  Requests difference;
  for (Operation direction : kDirections)
    difference.latency_of(direction) = latency::added(before.latency_of(direction), now.latency_of(direction));
  for (const auto& [device, totals] : now.devices) {
    const auto known = before.devices.find(device);
    DeviceTotals& added_there = difference.devices[device];
    for (Operation operation : kOperations)
      added_there.of(operation) = known == before.devices.end()
                                      ? totals.of(operation)
                                      : added(known->second.of(operation), totals.of(operation));
  }
  return difference;
}

}  // namespace koord::block_latency
