# SPDX-License-Identifier: Apache-2.0
"""Credentials of clients: service-account tokens by generation, client certificates, and their files.

The service account's directory changes as under the kubelet: a new folder is made, and the symlink ..data is moved to it in one
step. `token` and `ca.crt` are symlinks through ..data and never change themselves."""
import base64
import json
import os
import secrets
import shutil
import ssl
import threading

from . import certificates, status

SERVICE_ACCOUNT = "system:serviceaccount:koordinator-system:koordetector"
_NAMESPACE = "koordinator-system"


class Credentials:
    def __init__(self, folder, node_name):
        self._folder, self._node_name = folder, node_name
        self._mutex = threading.RLock()
        self._pki = os.path.join(folder, "pki")
        self.service_account = os.path.join(folder, "serviceaccount")
        for path in (self._pki, self.service_account):
            os.makedirs(path)
        self._valid = {}  # token: its generation
        self._token, self.generation = "", 0
        self._mounts = 0
        self._client_serial = ""
        self._client_authority = certificates.Authority(self._pki, "client-ca", "koord-test-client-ca")
        self._proxy_authority = certificates.Authority(self._pki, "front-proxy-ca", "koord-test-front-proxy-ca")
        self._proxy_authority.sign("front-proxy-client", "/CN=front-proxy-client")
        self._server_names = "IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc"
        self._kubelet_names = f"IP:127.0.0.1,DNS:{node_name}"
        self._authority = certificates.Authority(self._pki, "ca-1", "koord-test-ca-1")
        self._kubelet_authority = self._authority
        self._authorities = 1
        self._sign_servers()
        self.rotate_client_certificate()
        self.rotate_token()

    def context(self, server):
        """Returns the TLS context for new connections to "api" or "kubelet"."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with self._mutex:
            context.load_cert_chain(self._pem(server), self._key(server))
            context.load_verify_locations(self._client_authority.certificate)
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def user(self, authorization, certificate):
        """Returns (user, token generation); the generation is 0 if there was no token."""
        with self._mutex:
            if authorization is not None:
                scheme, _, token = authorization.partition(" ")
                if scheme.lower() != "bearer" or token.strip() not in self._valid:
                    raise status.unauthorized()
                return SERVICE_ACCOUNT, self._valid[token.strip()]
            if certificate:
                if certificate["serialNumber"].lstrip("0") != self._client_serial:
                    raise status.unauthorized()
                return dict(pair for part in certificate["subject"] for pair in part)["commonName"], 0
            return "system:anonymous", 0

    def identity(self, user, certificate):
        """Returns the user of user() with its groups."""
        if user == "system:anonymous":
            return {"username": user, "groups": ["system:unauthenticated"]}
        if user == SERVICE_ACCOUNT:
            return self.account()
        groups = [value for part in (certificate or {}).get("subject", ()) for key, value in part if key == "organizationName"]
        return {"username": user, "groups": [*groups, "system:authenticated"]}

    def account(self):
        """Returns the user of the service account's token, which is bound to a pod on the node."""
        return {"username": SERVICE_ACCOUNT, "groups": ["system:serviceaccounts", "system:authenticated"],
                "extra": {"authentication.kubernetes.io/node-name": [self._node_name]}}

    def client_authority(self):
        return self._client_authority.certificate

    def front_proxy_authority(self):
        return self._proxy_authority.certificate

    def front_proxy_certificate(self):
        """Returns the paths of the certificate and its key."""
        return self._pem("front-proxy-client"), self._key("front-proxy-client")

    def is_valid(self, token):
        """Returns whether this is a token of the service account."""
        with self._mutex:
            return token in self._valid

    def rotate_token(self, keep_old=False, write=True):
        """Issues a new token. Earlier tokens are refused from now on, unless keep_old is set."""
        with self._mutex:
            if not keep_old:
                self._valid.clear()
            self.generation += 1
            claims = {"sub": SERVICE_ACCOUNT, "aud": ["https://kubernetes.default.svc"], "generation": self.generation}
            self._token = ".".join(_segment(part) for part in ({"alg": "RS256", "typ": "JWT"}, claims, secrets.token_hex(24)))
            self._valid[self._token] = self.generation
            if write:
                self._write_account()

    def write_token(self):
        with self._mutex:
            self._write_account()

    def expire_tokens(self):
        with self._mutex:
            self._valid.clear()

    def rotate_client_certificate(self):
        """Issues a new client certificate. The earlier certificate is refused from now on."""
        with self._mutex:
            certificate, _ = self._client_authority.sign("client", "/O=koord-test/CN=koordetector")
            self._client_serial = certificates.serial_of(certificate)

    def replace_ca(self, kubelet_apart=False, write=True):
        """Makes a new authority and new serving certificates; with `kubelet_apart` the kubelet gets its own authority."""
        with self._mutex:
            self._authorities += 1
            name = f"ca-{self._authorities}"
            self._authority = certificates.Authority(self._pki, name, f"koord-test-{name}")
            self._kubelet_authority = self._authority
            if kubelet_apart:
                self._kubelet_authority = certificates.Authority(self._pki, f"kubelet-{name}", f"koord-test-kubelet-{name}")
            self._sign_servers()
            if write:
                self._write_account()

    def renew_serving_certificates(self):
        with self._mutex:
            self._sign_servers()

    def write_kubeconfigs(self, api_port):
        """Writes `kubeconfig` with the token's file and `kubeconfig-certificate` with a client certificate."""
        by_token = {"tokenFile": os.path.join(self.service_account, "token")}
        by_certificate = {"client-certificate": self._pem("client"), "client-key": self._key("client")}
        for name, user in (("kubeconfig", by_token), ("kubeconfig-certificate", by_certificate)):
            cluster = {"server": f"https://127.0.0.1:{api_port}", "certificate-authority": os.path.join(self.service_account, "ca.crt")}
            config = {"apiVersion": "v1", "kind": "Config", "current-context": "test",
                      "clusters": [{"name": "test", "cluster": cluster}], "users": [{"name": "test", "user": user}],
                      "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": _NAMESPACE}}]}
            with open(os.path.join(self._folder, name), "w", encoding="ascii") as file:
                json.dump(config, file, indent=1)

    def _pem(self, name):
        return os.path.join(self._pki, name + ".pem")

    def _key(self, name):
        return os.path.join(self._pki, name + ".key")

    def _sign_servers(self):
        self._authority.sign("api", "/CN=kube-apiserver", self._server_names)
        self._kubelet_authority.sign("kubelet", "/O=system:nodes/CN=system:node:test", self._kubelet_names)
        shutil.copy(self._kubelet_authority.certificate, self._pem("kubelet-ca.new"))
        os.replace(self._pem("kubelet-ca.new"), self._pem("kubelet-ca"))

    def _write_account(self):
        self._mounts += 1
        name = f"..mount_{self._mounts}"
        folder = os.path.join(self.service_account, name)
        os.mkdir(folder)
        shutil.copy(self._authority.certificate, os.path.join(folder, "ca.crt"))
        for file_name, text in (("token", self._token), ("namespace", _NAMESPACE)):
            with open(os.path.join(folder, file_name), "w", encoding="ascii") as file:
                file.write(text)
        data = os.path.join(self.service_account, "..data")
        os.symlink(name, data + "_new")
        os.replace(data + "_new", data)
        for file_name in ("token", "ca.crt", "namespace"):
            link = os.path.join(self.service_account, file_name)
            if not os.path.islink(link):
                os.symlink(f"..data/{file_name}", link)
        if self._mounts > 1:
            shutil.rmtree(os.path.join(self.service_account, f"..mount_{self._mounts - 1}"))


def _segment(part):
    text = part if isinstance(part, str) else json.dumps(part)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
