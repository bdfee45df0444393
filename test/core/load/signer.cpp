// SPDX-License-Identifier: Apache-2.0
#include "signer.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <stdexcept>

#include "core/base/file.hpp"

namespace koord::test {
namespace {

using Buffer = std::unique_ptr<BIO, decltype(&BIO_free)>;

std::string text_of(const Buffer& buffer) {
  char* text = nullptr;
  long size = BIO_get_mem_data(buffer.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

void must(int done) {
  if (done != 1) throw std::runtime_error("libcrypto failed");
}

void write(const std::string& path, const std::string& content) {
  if (auto written = write_file_atomically(path, content); !written)
    throw std::runtime_error(written.error().message());
}

}  // namespace

struct Signer::Key {
  EVP_PKEY* key;
  ~Key() { EVP_PKEY_free(key); }
};

Signer::Signer(const char* algorithm) : key_(new Key{EVP_PKEY_Q_keygen(nullptr, nullptr, algorithm)}) {
  must(key_->key != nullptr);
}

Signer::~Signer() = default;

std::string Signer::public_pem() const {
  Buffer buffer(BIO_new(BIO_s_mem()), &BIO_free);
  must(PEM_write_bio_PUBKEY(buffer.get(), key_->key));
  return text_of(buffer);
}

std::string Signer::private_pem(const char* passphrase) const {
  Buffer buffer(BIO_new(BIO_s_mem()), &BIO_free);
  const EVP_CIPHER* cipher = passphrase == nullptr ? nullptr : EVP_aes_128_cbc();
  must(PEM_write_bio_PKCS8PrivateKey(buffer.get(), key_->key, cipher, passphrase,
                                     passphrase == nullptr ? 0 : static_cast<int>(std::string_view(passphrase).size()),
                                     nullptr, nullptr));
  return text_of(buffer);
}

std::string Signer::sign(std::string_view bytes) const {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  must(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_->key));
  std::string signature(64, '\0');
  std::size_t size = signature.size();
  must(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                      reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
  return signature;
}

std::string Signer::publish(const std::string& path) const {
  write(path, public_pem());
  return path;
}

void Signer::sign_file(const std::string& path) const { write(path + ".sig", sign(*read_file(path))); }

}  // namespace koord::test
