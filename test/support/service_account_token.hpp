// SPDX-License-Identifier: Apache-2.0
// Makes tokens of ServiceAccounts like the API server's tokens, but without a valid signature.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace koord::test {

// Encodes with the URL-safe alphabet, without padding.
inline std::string base64_url(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string encoded;
  unsigned bits = 0, count = 0;
  for (const char c : text) {
    bits = (bits << 8 | static_cast<unsigned char>(c)) & 0xffff;
    for (count += 8; count >= 6; count -= 6) encoded += kAlphabet[bits >> (count - 6) & 63];
  }
  if (count != 0) encoded += kAlphabet[bits << (6 - count) & 63];
  return encoded;
}

// Makes a token. A different `number` changes its time, id and signature, as in a renewed token.
inline std::string service_account_token(const std::string& user, const std::string& node, int number) {
  const std::string times = std::to_string(1700000000 + number);
  const std::string claims =
      R"({"aud":["https://kubernetes.default.svc"],"exp":)" + times + R"(,"iat":)" + times + R"(,"jti":"id-)" +
      std::to_string(number) + R"(","kubernetes.io":{"namespace":"n","node":{"name":")" + node + R"(","uid":"uid-of-)" +
      node + R"("},"pod":{"name":"p","uid":"u"},"serviceaccount":{"name":"a","uid":"s"}},"sub":")" + user + R"("})";
  return base64_url(R"({"alg":"RS256","kid":"k"})") + '.' + base64_url(claims) + '.' +
         base64_url("signature " + std::to_string(number));
}

}  // namespace koord::test
