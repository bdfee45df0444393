// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/claimed_subject.hpp"

#include <doctest/doctest.h>

#include <string>

#include "test/support/service_account_token.hpp"

using namespace koord::kubeauth;
using namespace koord::test;

namespace {

std::string of_claims(const std::string& claims) { return claimed_subject("e30." + base64_url(claims) + ".c2ln"); }

}  // namespace

TEST_CASE("a token and its successor claim the same subject; those of other users and nodes claim others") {
  const std::string subject = claimed_subject(service_account_token("system:serviceaccount:n:a", "node-1", 1));
  CHECK(subject == "system:serviceaccount:n:a s node-1 uid-of-node-1");
  CHECK(claimed_subject(service_account_token("system:serviceaccount:n:a", "node-1", 2)) == subject);
  CHECK(claimed_subject(service_account_token("system:serviceaccount:n:a", "node-2", 1)) != subject);
  CHECK(claimed_subject(service_account_token("system:serviceaccount:n:b", "node-1", 1)) != subject);
}

TEST_CASE("a token of another kind, or with claims that are not understood, claims no subject") {
  for (const char* token : {"", "a", "a.b", "a.b.c.d", "..", "a.!.c", "a.bm8ganNvbg.c"}) {
    CAPTURE(token);
    CHECK(claimed_subject(token).empty());
  }
  CHECK(of_claims(R"({"sub":"a"})") == "a   ");
  CHECK(of_claims(R"({"sub":7})").empty());
  CHECK(of_claims(R"({"sub":"a","kubernetes.io":[1]})") == "a   ");
  CHECK(of_claims("[" + std::string(100'000, '[')).empty());
  CHECK(of_claims(R"({"sub":")" + std::string(600, 'a') + "\"}").empty());
}
