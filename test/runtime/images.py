# SPDX-License-Identifier: Apache-2.0
"""Container images for tests, made here instead of pulled: localhost/pause:1 and localhost/busybox:1."""
import hashlib
import io
import json
import platform
import subprocess
import tarfile

ARCHITECTURE = {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(platform.machine(), platform.machine())
MEDIA_TYPE = 'application/vnd.oci.image.'


def _add(archive, name, data=b'', kind=tarfile.REGTYPE, target=''):
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.linkname = kind, 0o755, target
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def _layer(busybox):
    """Returns a file system with busybox and a link for each of its programs."""
    programs = subprocess.check_output([busybox, '--list'], text=True).split()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w') as archive:
        for folder in ('bin', 'dev', 'etc', 'proc', 'root', 'sys', 'tmp'):
            _add(archive, folder, kind=tarfile.DIRTYPE)
        _add(archive, 'bin/busybox', busybox.read_bytes())
        for program in programs:
            if program != 'busybox':
                _add(archive, 'bin/' + program, kind=tarfile.SYMTYPE, target='busybox')
    return out.getvalue()


class _Archive:
    """Collects the files of an OCI archive."""

    def __init__(self):
        self.blobs, self.manifests = {}, []

    def blob(self, data, kind):
        digest = hashlib.sha256(data).hexdigest()
        self.blobs[digest] = data
        return {'mediaType': MEDIA_TYPE + kind, 'digest': 'sha256:' + digest, 'size': len(data)}

    def image(self, name, layer, config):
        settings = {'architecture': ARCHITECTURE, 'os': 'linux', 'config': config,
                    'rootfs': {'type': 'layers', 'diff_ids': ['sha256:' + hashlib.sha256(layer).hexdigest()]}}
        manifest = {'schemaVersion': 2, 'mediaType': MEDIA_TYPE + 'manifest.v1+json',
                    'config': self.blob(json.dumps(settings).encode(), 'config.v1+json'),
                    'layers': [self.blob(layer, 'layer.v1.tar')]}
        entry = self.blob(json.dumps(manifest).encode(), 'manifest.v1+json')
        entry['annotations'] = {'io.containerd.image.name': name}
        self.manifests.append(entry)

    def write(self, path):
        index = {'schemaVersion': 2, 'mediaType': MEDIA_TYPE + 'index.v1+json', 'manifests': self.manifests}
        with tarfile.open(path, 'w') as archive:
            _add(archive, 'oci-layout', b'{"imageLayoutVersion":"1.0.0"}')
            _add(archive, 'index.json', json.dumps(index).encode())
            for digest, data in self.blobs.items():
                _add(archive, 'blobs/sha256/' + digest, data)


def write_images(busybox, path):
    """Writes both images to one archive, for `ctr images import`."""
    layer, archive = _layer(busybox), _Archive()
    archive.image('localhost/pause:1', layer, {'Entrypoint': ['/bin/busybox', 'sleep', '2147483647']})
    archive.image('localhost/busybox:1', layer, {'Env': ['PATH=/bin'], 'Cmd': ['/bin/sh']})
    archive.write(path)
