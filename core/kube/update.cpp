// SPDX-License-Identifier: Apache-2.0
#include "core/kube/update.hpp"

#include <utility>

#include "core/base/backoff.hpp"
#include "core/base/url.hpp"
#include "core/kube/refusal.hpp"

namespace koord::kube {
namespace {

using WriteOutcome = Written::Outcome;

std::string target_of(const std::string& collection, const std::string& name, bool status) {
  return collection + '/' + percent_encode(name) + (status ? "/status" : "");
}

Call with_body(Verb verb, std::string target, std::string body, std::string content_type = "application/json") {
  Call call;
  call.verb = verb;
  call.target = std::move(target);
  call.body = std::move(body);
  call.content_type = std::move(content_type);
  return call;
}

class Run final : public Client::Pending {
 public:
  Run(event::Loop& loop, Client& client, Update what, OnWritten on_written)
      : loop_(loop),
        client_(client),
        what_(std::move(what)),
        on_written_(std::move(on_written)),
        backoff_(std::chrono::milliseconds(100), std::chrono::seconds(2), random_seed()) {
    if (what_.known.empty()) {
      ask();
    } else {
      timer_ = loop_.after(Duration::zero(), [this] { change(std::exchange(what_.known, {})); });
    }
  }

 private:
  void ask() {
    pending_ = client_.send(get_call(what_.collection, what_.name), [this](Result<Reply> reply) {
      if (!reply) return end(std::move(reply).error());
      if (reply->status == 404) return create();
      if (!reply->ok()) return refused(*reply);
      change(std::move(reply->body));
    });
  }

  void create() {
    if (what_.missing.empty()) return end(WriteOutcome::absent, {});
    pending_ = client_.send(create_call(what_.collection, what_.missing), [this](Result<Reply> reply) {
      if (!reply) return end(std::move(reply).error());
      if (reply->status == 409) return again(*reply);  // a different client has created the object
      if (!reply->ok()) return refused(*reply);
      created_ = true;
      change(std::move(reply->body));
    });
  }

  void change(std::string newest) {
    Result<std::optional<std::string>> wanted = what_.change(newest);
    if (!wanted) return end(std::move(wanted).error());
    if (!*wanted) return end(created_ ? WriteOutcome::created : WriteOutcome::unchanged, std::move(newest));
    write(*std::move(*wanted));
  }

  void write(std::string object) {
    Call call = replace_call(what_.collection, what_.name, std::move(object), what_.status);
    pending_ = client_.send(std::move(call), [this](Result<Reply> reply) {
      if (!reply) return end(std::move(reply).error());
      // Another client has changed or removed the object.
      if (reply->status == 409 || reply->status == 404) return again(*reply);
      if (!reply->ok()) return refused(*reply);
      end(created_ ? WriteOutcome::created : WriteOutcome::updated, std::move(reply->body));
    });
  }

  void again(const Reply& conflict) {
    if (++conflicts_ >= what_.attempts) return refused(conflict);
    created_ = false;
    timer_ = loop_.after(backoff_.failed(), [this] { ask(); });
  }

  void refused(const Reply& reply) { end(Written{WriteOutcome::refused, {}, status_of(reply), conflicts_}); }
  void end(WriteOutcome outcome, std::string object) { end(Written{outcome, std::move(object), {}, conflicts_}); }

  // Ends the update. Must be the last call, because the callback may destroy this object.
  void end(Result<Written> written) {
    OnWritten on_written = std::exchange(on_written_, {});
    on_written(std::move(written));
  }

  event::Loop& loop_;
  Client& client_;
  Update what_;
  OnWritten on_written_;
  Backoff backoff_;
  Client::PendingPtr pending_;
  std::unique_ptr<event::Timer> timer_;
  std::uint32_t conflicts_ = 0;
  bool created_ = false;
};

}  // namespace

std::string_view name_of(WriteOutcome outcome) {
  switch (outcome) {
    case WriteOutcome::unchanged:
      return "unchanged";
    case WriteOutcome::updated:
      return "updated";
    case WriteOutcome::created:
      return "created";
    case WriteOutcome::absent:
      return "absent";
    case WriteOutcome::refused:
      return "refused";
  }
  return "?";
}

Client::PendingPtr update(event::Loop& loop, Client& client, Update what, OnWritten on_written) {
  return std::make_unique<Run>(loop, client, std::move(what), std::move(on_written));
}

Call get_call(const std::string& collection, const std::string& name) {
  return with_body(Verb::get, target_of(collection, name, false), {});
}

Call create_call(const std::string& collection, std::string object) {
  return with_body(Verb::create, collection, std::move(object));
}

Call replace_call(const std::string& collection, const std::string& name, std::string object, bool status) {
  return with_body(Verb::update, target_of(collection, name, status), std::move(object));
}

Call merge_patch_call(const std::string& collection, const std::string& name, std::string patch, bool status) {
  return with_body(Verb::patch, target_of(collection, name, status), std::move(patch), "application/merge-patch+json");
}

Call strategic_merge_patch_call(const std::string& collection, const std::string& name, std::string patch,
                                bool status) {
  return with_body(Verb::patch, target_of(collection, name, status), std::move(patch),
                   "application/strategic-merge-patch+json");
}

}  // namespace koord::kube
