# SPDX-License-Identifier: Apache-2.0
"""Certificate authorities and the certificates that they sign, made by the program openssl."""
import os
import subprocess

_NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def _openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]}: {done.stderr.strip()}")


class Authority:
    """An authority. Writes NAME.pem and NAME.key, for itself and for each of its certificates, into a folder."""

    def __init__(self, folder, name, common_name):
        self._folder, self.name = folder, name
        _openssl("req", "-x509", *_NEW_KEY, "-days", "2", "-subj", f"/CN={common_name}", "-addext",
                 "keyUsage=critical,keyCertSign,digitalSignature", "-keyout", self._path(name, "key"),
                 "-out", self.certificate)

    @property
    def certificate(self):
        return self._path(self.name, "pem")

    def sign(self, name, subject, names=""):
        """Returns the paths of the certificate and its key. `names`: "IP:127.0.0.1,DNS:localhost"; empty for a client."""
        certificate, key = self._path(name, "pem"), self._path(name, "key")
        request, extensions = self._path(name, "csr"), self._path(name, "ext")
        use = "serverAuth" if names else "clientAuth"
        with open(extensions, "w", encoding="ascii") as file:
            file.write(f"extendedKeyUsage={use}\n" + (f"subjectAltName={names}\n" if names else ""))
        _openssl("req", *_NEW_KEY, "-subj", subject, "-keyout", key + ".new", "-out", request)
        _openssl("x509", "-req", "-days", "2", "-in", request, "-CA", self.certificate, "-CAkey",
                 self._path(self.name, "key"), "-CAcreateserial", "-extfile", extensions, "-out", certificate + ".new")
        os.replace(key + ".new", key)
        os.replace(certificate + ".new", certificate)
        os.remove(request)
        os.remove(extensions)
        return certificate, key

    def _path(self, name, ending):
        return os.path.join(self._folder, f"{name}.{ending}")


def serial_of(path):
    done = subprocess.run(["openssl", "x509", "-in", path, "-noout", "-serial"], capture_output=True, text=True, check=True)
    return done.stdout.strip().partition("=")[2].lstrip("0")
