// SPDX-License-Identifier: Apache-2.0
// Certificate authorities and certificates for tests, made by the program openssl in a temporary folder.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "test/support/child_process.hpp"

namespace koord::test {

class CertificateFolder {
 public:
  CertificateFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "koord-test-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~CertificateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  CertificateFolder(const CertificateFolder&) = delete;
  CertificateFolder& operator=(const CertificateFolder&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string pem(const std::string& name) const { return path(name + ".pem"); }
  std::string key(const std::string& name) const { return path(name + ".key"); }

  void run(const std::string& command) const {
    const Finished finished = run_to_end({"/bin/sh", "-c", "cd '" + folder_ + "' && " + command});
    REQUIRE_MESSAGE(finished.exit_status == 0, finished.output);
  }
  void authority(const std::string& name) const {
    run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=" + name +
        " -keyout " + name + ".key -out " + name + ".pem");
  }
  // `subject`: "/O=group/CN=name".
  void issue(const std::string& by, const std::string& name, const std::string& subject,
             const std::string& extension) const {
    request(name, subject);
    run("echo '" + extension + "' > " + name + ".ext && openssl x509 -req -days 2 -in " + name + ".csr -CA " + by +
        ".pem -CAkey " + by + ".key -CAcreateserial -extfile " + name + ".ext -out " + name + ".pem");
  }
  // `openssl x509` 3.0 cannot set an end date in the past; `openssl ca` can.
  void issue_expired(const std::string& by, const std::string& name, const std::string& subject) const {
    request(name, subject);
    run(": > index.txt && printf '[ca]\\ndefault_ca=c\\n[c]\\ndatabase=index.txt\\nnew_certs_dir=.\\ndefault_md=sha256\\n"
        "policy=p\\nrand_serial=yes\\n[p]\\ncommonName=supplied\\norganizationName=optional\\n' > ca.cnf && "
        "openssl ca -batch -notext -config ca.cnf -in " +
        name + ".csr -cert " + by + ".pem -keyfile " + by +
        ".key -startdate 20200101000000Z -enddate 20200102000000Z -out " + name + ".pem");
  }

 private:
  void request(const std::string& name, const std::string& subject) const {
    run("openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj '" + subject + "' -keyout " + name +
        ".key -out " + name + ".csr");
  }

  std::string folder_;
};

}  // namespace koord::test
