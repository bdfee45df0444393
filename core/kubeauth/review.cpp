// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/review.hpp"

#include <algorithm>
#include <utility>

#include "core/base/utf8.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"
#include "core/json/writer.hpp"
#include "core/kube/refusal.hpp"

namespace koord::kubeauth {
namespace {

constexpr std::string_view kTokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr std::string_view kAccessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
constexpr std::size_t kMaxReviewBytes = 256u << 10;
constexpr std::size_t kMaxMessage = 300;

void write_texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  json.key(name).begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

void write_if(JsonWriter& json, std::string_view name, const std::string& text) {
  if (!text.empty()) json.member(name, text);
}

// Returns the request's JSON. Calls `spec` to write the content of its spec.
template <class Spec>
std::string review_body(std::string_view api_version, std::string_view kind, const Spec& spec) {
  JsonWriter json;
  json.begin_object().member("apiVersion", api_version).member("kind", kind).key("spec").begin_object();
  spec(json);
  json.end_object().end_object();
  return json.text();
}

kube::Call review_call(std::string_view target, std::string body) {
  kube::Call call;
  call.verb = kube::Verb::create;
  call.target = std::string(target);
  call.body = std::move(body);
  call.max_body = kMaxReviewBytes;
  call.timeout = std::chrono::seconds(5);
  return call;
}

std::string one_message(std::string text) {
  cut_utf8(text, kMaxMessage);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

Result<std::vector<std::string>> texts_of(const JsonField& field, std::size_t most) {
  std::vector<std::string> texts;
  const std::vector<JsonField> items = TRY(field.list());
  if (items.size() > most)
    return field.wrong("found " + std::to_string(items.size()) + " values, expected at most " + std::to_string(most));
  for (const JsonField& item : items) {
    std::string text = TRY(item.text());
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<Identity> identity_of(const JsonField& user) {
  Identity identity;
  identity.user = TRY(user["username"].required_text());
  identity.uid = TRY(user["uid"].text());
  identity.groups = TRY(texts_of(user["groups"], kMaxGroups));
  const auto members = TRY(user["extra"].members());
  std::size_t values = 0;
  for (const auto& [key, field] : members) {
    std::vector<std::string> texts = TRY(texts_of(field, kMaxExtraValues));
    values += texts.size();
    if (values > kMaxExtraValues) return field.wrong("found too many values, expected at most those of 256");
    identity.extra.insert_or_assign(key, std::move(texts));
  }
  return identity;
}

// Returns the answer's JSON if it is of this kind.
Result<boost::json::value> review_of(std::string_view text, std::string_view kind, std::string_view group) {
  boost::json::value root = TRY(read_json(text, kMaxReviewBytes));
  const JsonField answer(root);
  TRY(answer.check_mapping());
  const std::string found_kind = TRY(answer["kind"].text());
  const std::string found_version = TRY(answer["apiVersion"].text());
  if (found_kind != kind || !found_version.starts_with(group))
    return invalid("found an object of kind '" + found_kind.substr(0, 64) + "', expected " + std::string(kind));
  return root;
}

// Returns the boolean. Fails if the field is missing or is not a boolean.
Result<bool> decided(const JsonField& field) {
  if (field.empty()) return field.wrong("found nothing, expected true or false");
  return field.boolean();
}

bool meets(const std::vector<std::string>& audiences, const std::vector<std::string>& of_token) {
  return std::any_of(audiences.begin(), audiences.end(), [&](const std::string& one) {
    return std::find(of_token.begin(), of_token.end(), one) != of_token.end();
  });
}

// Returns why an answer with a status other than 2xx contains no decision.
std::string unavailable_because(const Result<kube::Reply>& reply, std::string_view resource) {
  std::string text = kube::describe(reply);
  if (!reply) return text;
  if (reply->status == 401) text += " (expected credentials of our own that the API server accepts)";
  if (reply->status == 403) text += " (expected the right to create " + std::string(resource) + ")";
  return text;
}

}  // namespace

std::string describe(const Access& access) {
  if (!access.path.empty()) return access.verb + " " + access.path;
  std::string text = access.verb + " " + access.resource;
  if (!access.group.empty()) text += "." + access.group;
  if (!access.subresource.empty()) text += "/" + access.subresource;
  if (!access.name.empty()) text += " '" + access.name + "'";
  return text;
}

bool may_be_token(std::string_view token) {
  return !token.empty() && token.size() <= kMaxTokenBytes &&
         std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

kube::Call token_review_call(std::string_view token, const std::vector<std::string>& audiences) {
  return review_call(kTokenReviews, review_body("authentication.k8s.io/v1", "TokenReview", [&](JsonWriter& json) {
                       json.member("token", token);
                       write_texts(json, "audiences", audiences);
                     }));
}

kube::Call access_review_call(std::string body) { return review_call(kAccessReviews, std::move(body)); }

std::string access_review_body(const Identity& identity, const Access& access) {
  return review_body("authorization.k8s.io/v1", "SubjectAccessReview", [&](JsonWriter& json) {
    json.member("user", identity.user);
    write_if(json, "uid", identity.uid);
    write_texts(json, "groups", identity.groups);
    if (!identity.extra.empty()) {
      json.key("extra").begin_object();
      for (const auto& [key, values] : identity.extra) write_texts(json, key, values);
      json.end_object();
    }
    if (!access.path.empty()) {
      json.key("nonResourceAttributes").begin_object().member("path", access.path).member("verb", access.verb);
      json.end_object();
      return;
    }
    json.key("resourceAttributes").begin_object().member("verb", access.verb);
    write_if(json, "group", access.group);
    write_if(json, "version", access.version);
    write_if(json, "resource", access.resource);
    write_if(json, "subresource", access.subresource);
    write_if(json, "name", access.name);
    write_if(json, "namespace", access.name_space);
    json.end_object();
  });
}

Result<TokenDecision> parse_token_review(std::string_view text, const std::vector<std::string>& audiences) {
  const boost::json::value root = TRY(review_of(text, "TokenReview", "authentication.k8s.io/"));
  const JsonField status = JsonField(root)["status"];
  TokenDecision decision;
  // The API server omits `authenticated` if it is false.
  TRY(status.check_mapping());
  if (status.empty()) return status.wrong("found nothing, expected the result of the review");
  const bool authenticated = !status["authenticated"].empty() && TRY(status["authenticated"].boolean());
  if (!authenticated) {
    decision.outcome = TokenDecision::Outcome::refused;
    std::string why = TRY(status["error"].text());
    decision.message = why.empty() ? "the token is not valid" : one_message(std::move(why));
    return decision;
  }
  const std::vector<std::string> of_token = TRY(texts_of(status["audiences"], kMaxExtraValues));
  if (!audiences.empty() && !meets(audiences, of_token)) {
    decision.outcome = TokenDecision::Outcome::refused;
    decision.message = "the token is for another audience";
    return decision;
  }
  decision.identity = TRY(identity_of(status["user"]));
  decision.outcome = TokenDecision::Outcome::authenticated;
  return decision;
}

Result<AccessDecision> parse_access_review(std::string_view text) {
  const boost::json::value root = TRY(review_of(text, "SubjectAccessReview", "authorization.k8s.io/"));
  const JsonField status = JsonField(root)["status"];
  AccessDecision decision;
  const bool allowed = TRY(decided(status["allowed"]));
  const bool denied = !status["denied"].empty() && TRY(status["denied"].boolean());
  std::string reason = TRY(status["reason"].text());
  std::string trouble = TRY(status["evaluationError"].text());
  decision.outcome = allowed && !denied ? AccessDecision::Outcome::allowed : AccessDecision::Outcome::denied;
  decision.message = one_message(reason.empty() ? std::move(trouble) : std::move(reason));
  return decision;
}

TokenDecision judge_token(const Result<kube::Reply>& reply, const std::vector<std::string>& audiences) {
  TokenDecision undecided;
  if (!reply || !reply->ok()) {
    undecided.message = unavailable_because(reply, "tokenreviews.authentication.k8s.io");
    return undecided;
  }
  Result<TokenDecision> decision = parse_token_review(reply->body, audiences);
  if (decision) return *std::move(decision);
  undecided.message = "the answer to a TokenReview: " + one_message(decision.error().message());
  return undecided;
}

AccessDecision judge_access(const Result<kube::Reply>& reply) {
  AccessDecision undecided;
  if (!reply || !reply->ok()) {
    undecided.message = unavailable_because(reply, "subjectaccessreviews.authorization.k8s.io");
    return undecided;
  }
  Result<AccessDecision> decision = parse_access_review(reply->body);
  if (decision) return *std::move(decision);
  undecided.message = "the answer to a SubjectAccessReview: " + one_message(decision.error().message());
  return undecided;
}

}  // namespace koord::kubeauth
