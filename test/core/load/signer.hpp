// SPDX-License-Identifier: Apache-2.0
// Signer: signs plugins in a test with new, real keys.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace koord::test {

class Signer {
 public:
  explicit Signer(const char* algorithm = "ED25519");
  ~Signer();

  std::string public_pem() const;
  std::string private_pem(const char* passphrase = nullptr) const;
  std::string sign(std::string_view bytes) const;

  // Writes the public key (or FILE.sig) to this path.
  std::string publish(const std::string& path) const;
  void sign_file(const std::string& path) const;

 private:
  struct Key;
  std::unique_ptr<Key> key_;
};

}  // namespace koord::test
