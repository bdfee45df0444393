// SPDX-License-Identifier: Apache-2.0
#include "core/load/crypto.hpp"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <openssl/opensslv.h>
#include <openssl/pem.h>

#include <memory>

namespace koord::load {
namespace {

struct Functions {
  decltype(&::OPENSSL_init_crypto) init;
  decltype(&::EVP_sha256) sha256;
  decltype(&::EVP_Digest) digest;
  decltype(&::BIO_new_mem_buf) new_buffer;
  decltype(&::BIO_free) free_buffer;
  decltype(&::PEM_read_bio_PUBKEY) read_key;
  decltype(&::EVP_PKEY_get_id) kind_of_key;
  decltype(&::EVP_PKEY_get_raw_public_key) bytes_of_key;
  decltype(&::EVP_PKEY_new_raw_public_key) new_key;
  decltype(&::EVP_PKEY_free) free_key;
  decltype(&::EVP_MD_CTX_new) new_context;
  decltype(&::EVP_MD_CTX_free) free_context;
  decltype(&::EVP_DigestVerifyInit) verify_init;
  decltype(&::EVP_DigestVerify) verify;
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, Functions& f) {
  return find(library, "OPENSSL_init_crypto", f.init) && find(library, "EVP_sha256", f.sha256) &&
         find(library, "EVP_Digest", f.digest) && find(library, "BIO_new_mem_buf", f.new_buffer) &&
         find(library, "BIO_free", f.free_buffer) && find(library, "PEM_read_bio_PUBKEY", f.read_key) &&
         find(library, "EVP_PKEY_get_id", f.kind_of_key) &&
         find(library, "EVP_PKEY_get_raw_public_key", f.bytes_of_key) &&
         find(library, "EVP_PKEY_new_raw_public_key", f.new_key) && find(library, "EVP_PKEY_free", f.free_key) &&
         find(library, "EVP_MD_CTX_new", f.new_context) && find(library, "EVP_MD_CTX_free", f.free_context) &&
         find(library, "EVP_DigestVerifyInit", f.verify_init) && find(library, "EVP_DigestVerify", f.verify);
}

// Loads libcrypto without the system's openssl.cnf, which may load further code.
Result<Functions> load() {
  const std::string name = "libcrypto.so." + std::to_string(OPENSSL_SHLIB_VERSION);
  void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return invalid("cannot load libcrypto: " + std::string(::dlerror()));
  Functions functions;
  if (!find_all(library, functions)) return invalid("cannot use " + name + ": " + ::dlerror());
  if (functions.init(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) != 1) return invalid("cannot initialize " + name);
  return functions;
}

const Result<Functions>& functions() {
  static const Result<Functions> all = load();
  return all;
}

template <class T, class Free>
std::unique_ptr<T, Free> own(T* object, Free free) {
  return {object, free};
}

const unsigned char* data_of(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

// Refuses encrypted keys, because no passphrase can be entered.
int no_passphrase(char*, int, int, void*) { return -1; }

}  // namespace

Result<std::string> sha256_of(std::string_view bytes) {
  const Functions f = TRY(functions());
  std::array<unsigned char, 32> digest;
  if (f.digest(bytes.data(), bytes.size(), digest.data(), nullptr, f.sha256(), nullptr) != 1)
    return invalid("SHA-256 cannot be computed");
  std::string text;
  for (unsigned char byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

Result<PublicKey> read_public_key(const std::string& pem) {
  const Functions f = TRY(functions());
  const auto buffer = own(f.new_buffer(pem.data(), static_cast<int>(pem.size())), f.free_buffer);
  if (buffer == nullptr) return invalid("a key cannot be read");
  const auto key = own(f.read_key(buffer.get(), nullptr, no_passphrase, nullptr), f.free_key);
  if (key == nullptr) return invalid("expected a public key in PEM, found none");
  if (f.kind_of_key(key.get()) != EVP_PKEY_ED25519) return invalid("expected an Ed25519 key, found another kind");
  PublicKey bytes;
  std::size_t size = bytes.size();
  if (f.bytes_of_key(key.get(), bytes.data(), &size) != 1 || size != bytes.size())
    return invalid("expected an Ed25519 key, found one of another size");
  return bytes;
}

Result<bool> verify(const PublicKey& key, std::string_view signature, std::string_view bytes) {
  const Functions f = TRY(functions());
  const auto owner = own(f.new_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()), f.free_key);
  const auto context = own(f.new_context(), f.free_context);
  if (owner == nullptr || context == nullptr ||
      f.verify_init(context.get(), nullptr, nullptr, nullptr, owner.get()) != 1)
    return invalid("Ed25519 cannot be computed");
  return f.verify(context.get(), data_of(signature), signature.size(), data_of(bytes), bytes.size()) == 1;
}

}  // namespace koord::load
