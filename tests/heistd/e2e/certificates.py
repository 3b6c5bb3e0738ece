"""Certificates for tests, made by the command openssl."""

import atexit
import functools
import os
import ssl
import subprocess
import tempfile

EC = ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
NAMES = "DNS:localhost,IP:127.0.0.1"


def openssl(*words):
    done = subprocess.run(["openssl", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"openssl {words}: {done.stderr}")


class Identity:
    """The files of a certificate and its key."""

    def __init__(self, folder, name):
        self.certificate = os.path.join(folder, name + ".pem")
        self.key = os.path.join(folder, name + ".key")

    @property
    def options(self):
        return ("--tls-certificate", self.certificate, "--tls-key", self.key)

    def made(self, *words, algorithm=EC):
        kind, *parameters = algorithm
        openssl("req", "-x509", "-newkey", kind, *parameters, "-nodes", "-keyout", self.key,
                "-out", self.certificate, "-days", "2", *words)
        return self


class Authority(Identity):
    """Who vouches for certificates of servers."""

    def __init__(self, folder, name="authority"):
        super().__init__(folder, name)
        self.folder = folder
        self.made("-subj", f"/CN={name}")

    def identity(self, name, names=NAMES, algorithm=EC, days=2):
        return Identity(self.folder, name).made(
            "-CA", self.certificate, "-CAkey", self.key, "-subj", f"/CN={name}", "-days", str(days),
            "-addext", f"subjectAltName={names}", algorithm=algorithm)

    def context(self):
        """Of a client that trusts no other authority."""
        return ssl.create_default_context(cafile=self.certificate)


@functools.cache
def shared():
    """An authority and an identity for all tests of a program."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    authority = Authority(folder.name)
    return authority, authority.identity("server")
