// SPDX-License-Identifier: Apache-2.0
#include "core/base/object_name.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace koord;

TEST_CASE("namespaces and Services have DNS labels as names") {
  for (const char* name : {"a", "a-b", "koord-manager", "a0"}) {
    CAPTURE(name);
    CHECK(is_dns_label(name));
    CHECK(is_service_name(name));
  }
  CHECK(is_dns_label("0a"));
  CHECK_FALSE(is_service_name("0a"));
  CHECK(is_dns_label(std::string(63, 'a')));
  for (const std::string& name :
       {std::string(), std::string(64, 'a'), std::string("A"), std::string("a.b"), std::string("-a"), std::string("a-"),
        std::string("a_b"), std::string("a/b"), std::string("a\x1b"), std::string("a\0", 2), std::string("\xc3\xa4")}) {
    CAPTURE(name);
    CHECK_FALSE(is_dns_label(name));
    CHECK_FALSE(is_service_name(name));
  }
}

TEST_CASE("most other objects have DNS subdomains as names") {
  for (const std::string& name :
       {std::string("a"), std::string("node-1.example"), std::string("0.1"), std::string(253, 'a')}) {
    CAPTURE(name);
    CHECK(is_dns_subdomain(name));
  }
  for (const std::string& name :
       {std::string(), std::string("."), std::string("a."), std::string(".a"), std::string("a..b"), std::string("a.-b"),
        std::string("a-.b"), std::string("A"), std::string("a b"), std::string("a/b"), std::string(254, 'a')}) {
    CAPTURE(name);
    CHECK_FALSE(is_dns_subdomain(name));
  }
}

TEST_CASE("keys and values of labels") {
  for (const char* key : {"a", "A_b.c-0", "app.kubernetes.io/name"}) {
    CAPTURE(key);
    CHECK(is_label_key(key));
  }
  for (const std::string& key : {std::string(), std::string("/a"), std::string("a/"), std::string("a/b/c"),
                                 std::string("A.io/a"), std::string("-a"), std::string("a b"), std::string(64, 'a')}) {
    CAPTURE(key);
    CHECK_FALSE(is_label_key(key));
  }
  for (const char* value : {"", "a", "A_b.c-0"}) {
    CAPTURE(value);
    CHECK(is_label_value(value));
  }
  for (const std::string& value : {std::string("-a"), std::string("a-"), std::string("a b"), std::string("\x1b[1m"),
                                   std::string("a/b"), std::string("\xc2\x9b"), std::string(64, 'a')}) {
    CAPTURE(value);
    CHECK_FALSE(is_label_value(value));
  }
}
