// SPDX-License-Identifier: Apache-2.0
#include "core/manager/object_writer.hpp"

#include <utility>
#include <vector>

#include "core/base/url.hpp"
#include "core/kube/refusal.hpp"
#include "core/kube/update.hpp"

namespace koord::manager {
namespace {

using Outcome = PerNodeObjects::Outcome;

kube::Call call_of(const std::string& collection, const PerNodeObjects::Write& write) {
  switch (write.what) {
    case PerNodeObjects::Write::Do::create:
      return kube::create_call(collection, write.object);
    case PerNodeObjects::Write::Do::replace:
      return kube::replace_call(collection, write.name, write.object, false);
    case PerNodeObjects::Write::Do::remove:
      break;
  }
  kube::Call call;
  call.verb = kube::Verb::remove;
  call.target = collection + '/' + percent_encode(write.name);
  call.body = write.object;
  return call;
}

}  // namespace

void ObjectWriter::run() {
  while (running_.size() < kMostRunning && may_write_()) {
    const std::optional<PerNodeObjects::Write> write = objects_.next(clock_.now());
    if (!write) return;
    send(*write);
  }
}

void ObjectWriter::send(const PerNodeObjects::Write& write) {
  running_[write.name] =
      client_.send(call_of(collection_, write), [this, name = write.name](Result<kube::Reply> reply) {
        const std::string of = name;
        take(of, reply);
        running_.erase(of);
        run();
      });
}

void ObjectWriter::take(const std::string& name, const Result<kube::Reply>& reply) {
  if (reply && reply->ok()) {
    problem_.clear();
    return objects_.ended(clock_.now(), name, Outcome::done, reply->body);
  }
  const bool changed = reply && (reply->status == 409 || reply->status == 404);
  if (!changed) problem_ = name + ": " + kube::describe(reply);
  objects_.ended(clock_.now(), name, changed ? Outcome::changed : Outcome::failed);
}

void ObjectWriter::cancel() {
  for (auto& [name, pending] : std::exchange(running_, {})) {
    pending.reset();
    objects_.ended(clock_.now(), name, Outcome::failed);
  }
}

}  // namespace koord::manager
