// SPDX-License-Identifier: Apache-2.0
#include "core/http/tls_library.hpp"

#include <dlfcn.h>
#include <openssl/opensslv.h>

#include "core/base/file.hpp"

namespace koord::http {
namespace {

constexpr std::size_t kMaxPemBytes = 4 << 20;

template <class Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// Loads libssl. It depends on libcrypto, and dlsym() searches both.
Result<TlsLibrary> load_library() {
  const std::string name = "libssl.so." + std::to_string(OPENSSL_SHLIB_VERSION);
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return invalid("cannot load libssl: " + std::string(::dlerror()));
  TlsLibrary all{};
#define KOORD_FIND(name) &&find_function(handle, #name, all.name)
  const bool complete = true KOORD_TLS_FUNCTIONS(KOORD_FIND);
#undef KOORD_FIND
  if (!complete) return invalid("cannot use " + name + ": " + ::dlerror());
  if (all.OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) != 1) return invalid("cannot initialize " + name);
  return all;
}

// Refuses to ask for a passphrase, because it cannot be entered.
int no_passphrase(char*, int, int, void*) { return -1; }

// Returns the certificates of a text up to the first unreadable certificate. OpenSSL's error queue has the reason why
// it ended.
std::vector<TlsCertificate> certificates_in(const TlsLibrary& tls, const std::string& text) {
  const std::unique_ptr<BIO, decltype(&::BIO_free)> bio(tls.BIO_new_mem_buf(text.data(), static_cast<int>(text.size())),
                                                        tls.BIO_free);
  std::vector<TlsCertificate> all;
  while (X509* one = bio ? tls.PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr) : nullptr)
    all.emplace_back(one, tls.X509_free);
  return all;
}

// Returns whether the text was read to its end, that is at least one certificate was read, and no further certificate
// follows.
bool read_to_end(const TlsLibrary& tls, const std::vector<TlsCertificate>& all) {
  const unsigned long error = tls.ERR_peek_last_error();
  return !all.empty() && ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

}  // namespace

const Result<TlsLibrary>& tls_library() {
  static const Result<TlsLibrary> loaded = load_library();
  return loaded;
}

std::string tls_reason(const TlsLibrary& tls) {
  const char* text = tls.ERR_reason_error_string(tls.ERR_get_error());
  tls.ERR_clear_error();
  return text != nullptr ? text : "no reason given";
}

Result<PemText> pem_of(const std::string& text, const std::string& file, const char* what) {
  if (!text.empty()) return PemText{what, text};
  std::string read = TRY(read_file(file, kMaxPemBytes));
  std::string name = "'" + file + "'";
  return PemText{std::move(name), std::move(read)};
}

Result<std::vector<TlsCertificate>> read_authorities(const TlsLibrary& tls, const PemText& pem) {
  std::vector<TlsCertificate> all = certificates_in(tls, pem.text);
  const bool good = read_to_end(tls, all);
  const std::string why = tls_reason(tls);
  if (good) return all;
  return invalid(pem.name + ": " + why + ", expected certificates of authorities in PEM");
}

Result<void> present(const TlsLibrary& tls, SSL_CTX* context, const PemText& chain) {
  std::vector<TlsCertificate> all = certificates_in(tls, chain.text);
  bool good = read_to_end(tls, all);
  if (good) tls.ERR_clear_error();
  for (std::size_t i = 0; good && i < all.size(); ++i) {
    good = i == 0 ? tls.SSL_CTX_use_certificate(context, all[i].get()) == 1
                  : tls.SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, all[i].get()) == 1;
  }
  if (good) return {};
  return invalid(chain.name + ": " + tls_reason(tls) + ", expected this program's own certificate in PEM");
}

Result<void> use_key(const TlsLibrary& tls, SSL_CTX* context, const PemText& pem) {
  const std::unique_ptr<BIO, decltype(&::BIO_free)> bio(
      tls.BIO_new_mem_buf(pem.text.data(), static_cast<int>(pem.text.size())), tls.BIO_free);
  const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(
      bio ? tls.PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr) : nullptr, tls.EVP_PKEY_free);
  if (key && tls.SSL_CTX_use_PrivateKey(context, key.get()) == 1 && tls.SSL_CTX_check_private_key(context) == 1)
    return {};
  return invalid(pem.name + ": " + tls_reason(tls) +
                 ", expected the key of our certificate in PEM, without a passphrase");
}

}  // namespace koord::http
