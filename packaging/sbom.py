#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the bill of materials of Debian packages as SPDX 2.3, from the files and the log of the build.

usage: sbom.py BUILD DEBIAN OUTPUT   BUILD: the build folder; DEBIAN: the folder debian/ with the packages' files

It names each file of the packages with its SHA-256, and for each package the Debian packages with their versions that

- have a shared library that its programs are linked with or open by name (DYNAMIC_LINK);
- have a header, a static library or another file that was compiled or linked into its programs (STATIC_LINK);
- have a program that the build ran (BUILD_TOOL_OF).

The same build gives the same file: the time is SOURCE_DATE_EPOCH, and documentNamespace is computed from the other content.
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import uuid

TLS = ['libcrypto.so.3', 'libssl.so.3']
OPENED_BY_NAME = {'koordetector': TLS, 'koordctl': TLS, 'koord-manager': TLS, 'koordetector-plugins': ['libpfm.so.4']}  # as in debian/control
NOT_PACKAGES = {'tmp', 'source', '.debhelper'}
BILL = 'usr/share/doc/koordetector/koordetector.spdx.json'


def output_of(*command, may_fail=False):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if may_fail else None, text=True, check=not may_fail)
    return done.stdout


def is_elf(path):
    if not path.is_file() or path.is_symlink():
        return False
    with path.open('rb') as file:
        return file.read(4) == b'\x7fELF'


def files_of(debian, target):
    "Each file, with the package that has it; without those of debug information, and without the bill of materials."
    for package in sorted(debian.iterdir()):
        if package.is_dir() and package.name not in NOT_PACKAGES:
            for path in sorted(package.rglob('*')):
                inside = path.relative_to(package)
                if path.is_file() and not path.is_symlink() and path != target and inside.parts[0] != 'DEBIAN' and 'usr/lib/debug/' not in str(inside):
                    yield package.name, path


def libraries_of(package, paths):
    "Paths of the shared libraries in the files' own lists, and of those that programs of this package open by name."
    known = {}
    for line in output_of('/sbin/ldconfig', '-p').splitlines():
        if match := re.match(r'\s+(\S+) \(.*\) => (\S+)', line):
            known.setdefault(match[1], match[2])
    needed = set(OPENED_BY_NAME.get(package, []))
    for path in paths:
        needed |= set(re.findall(r'\(NEEDED\).*\[(.*)\]', output_of('readelf', '-d', str(path))))
    return {known[name] for name in needed if name in known}


def inputs_of(build):
    "For each file that the build makes, the files that it is made of: the inputs of its rule, and what the compiler read."
    rules = (build / 'build.ninja').read_text(encoding='utf-8').replace('$\n', '')
    inputs = {}
    for outputs, sources, settings in re.findall(r'^build (.*?(?<!\$)): \S+(.*)\n((?: .*\n)*)', rules, re.M):
        of_rule = set(sources.split('||')[0].replace('|', ' ').split())
        if 'musl-gcc' in settings:
            of_rule |= set(map(str, pathlib.Path('/usr/lib').glob('*-linux-musl/libc.a')))
        # Libraries may be linked with -l… or by their path.
        of_rule |= set(re.findall(r'/usr/\S+\.a\b', settings))
        for output in outputs.replace('|', ' ').split():
            inputs.setdefault(output, set()).update(of_rule)
    output = None
    for line in output_of('ninja', '-C', str(build), '-t', 'deps').splitlines():
        if line.startswith(' '):
            inputs.setdefault(output, set()).add(line.strip())
        elif line:
            output = line.rpartition(': #deps')[0]
    return inputs


def compiled_in(target, inputs):
    "Files of other packages that the compiler read for this target, or that are linked or packed into it."
    found, left = set(), [target]
    while left:
        new = {name for name in inputs.get(left.pop(), ()) if name not in found and not re.search(r'\.so(\.[\d.]+|\.symbols)?$', name)}
        found |= new
        left += new
    return {name for name in found if name.startswith('/usr/') and not re.match(r'/usr/(s?bin|lib/ccache)/', name)}


def built_from(build, paths):
    "Files of other packages that were compiled into these programs. They have the names that the build gave them."
    installed, about = (json.loads((build / f'meson-info/{name}.json').read_text(encoding='utf-8')) for name in ('intro-installed', 'meson-info'))
    made = {os.path.basename(target): os.path.relpath(path, about['directories']['build']) for path, target in installed.items()}
    inputs = inputs_of(build)
    return set().union(*(compiled_in(made[path.name], inputs) for path in paths if path.name in made))


def tools_of(build):
    "Programs that the rules of the build name, or that are run by such programs."
    rules = (build / 'build.ninja').read_text(encoding='utf-8')
    named = set(re.findall(r'/usr/(?:s?bin|lib/ccache)/[\w.+-]+', rules))
    commands = set(re.findall(r'^ command = (?:/usr/bin/)?([\w+-]+)', rules, re.M))
    return named | {path for name in commands | {'c++', 'cc', 'ld', 'dpkg-deb', 'dh'} if os.path.exists(path := '/usr/bin/' + name)}


def packages_of(paths):
    "Names of the installed packages that have these files."
    real = set(paths) | {os.path.realpath(path) for path in paths}
    names = sorted(real | {path.removeprefix('/usr') for path in real})
    found = set()
    for begin in range(0, len(names), 500):
        for line in output_of('dpkg-query', '-S', *names[begin:begin + 500], may_fail=True).splitlines():
            if not line.startswith('diversion '):
                found |= {package.strip() for package in line.rpartition(': ')[0].split(',')}
    return found - {'ccache'}  # it runs the compiler and does not change its output


def spdx_id(text):
    return 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.-]', '-', text)


def package_of(name):
    "An installed package of Debian, as SPDX has it."
    package, version, architecture, source, homepage = output_of(
        'dpkg-query', '-W', '-f', '${Package}\t${Version}\t${Architecture}\t${source:Package}\t${Homepage}', name).split('\t')
    release = dict(line.split('=', 1) for line in pathlib.Path('/etc/os-release').read_text(encoding='utf-8').splitlines() if '=' in line)
    distribution = release['ID'].strip('"') + '-' + release['VERSION_ID'].strip('"')
    quoted = version.replace('+', '%2B').replace(':', '%3A')
    return {
        'SPDXID': spdx_id('Debian-' + package), 'name': package, 'versionInfo': version, 'supplier': 'Organization: Debian',
        'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False, 'licenseConcluded': 'NOASSERTION', 'licenseDeclared': 'NOASSERTION',
        'copyrightText': 'NOASSERTION', 'sourceInfo': 'Debian source package: ' + source, **({'homepage': homepage} if homepage else {}),
        'externalRefs': [{'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl',
                          'referenceLocator': f'pkg:deb/debian/{package.replace("+", "%2B")}@{quoted}?arch={architecture}&distro={distribution}'}]}


def own_package(name, version, files):
    digests = sorted(file['checksums'][0]['checksumValue'] for file in files)
    return {
        'SPDXID': spdx_id('Package-' + name), 'name': name, 'versionInfo': version, 'supplier': 'Organization: Koordetector',
        'downloadLocation': 'NOASSERTION', 'filesAnalyzed': True,
        'packageVerificationCode': {'packageVerificationCodeValue': hashlib.sha1(''.join(digests).encode()).hexdigest(),
                                    'packageVerificationCodeExcludedFiles': ['./' + BILL] if name == 'koordetector' else []},
        'licenseConcluded': 'NOASSERTION', 'licenseDeclared': 'Apache-2.0', 'copyrightText': 'NOASSERTION'}


def file_of(package, folder, path):
    content, name = path.read_bytes(), './' + str(path.relative_to(folder))
    return {
        'SPDXID': spdx_id(f'File-{package}-{hashlib.sha1(name.encode()).hexdigest()[:16]}'), 'fileName': name,
        **({'fileTypes': ['BINARY']} if is_elf(path) else {}), 'licenseConcluded': 'NOASSERTION', 'copyrightText': 'NOASSERTION',
        'checksums': [{'algorithm': kind.upper(), 'checksumValue': hashlib.new(kind, content).hexdigest()} for kind in ('sha1', 'sha256')]}


def document_of(build, debian, target, version):
    paths = {}
    for package, path in files_of(debian, target):
        paths.setdefault(package, []).append(path)
    files = {package: [file_of(package, debian / package, path) for path in paths[package]] for package in paths}
    relations = [('SPDXRef-DOCUMENT', 'DESCRIBES', spdx_id('Package-' + package)) for package in paths]
    used = set()

    def relate(package, role, names):
        used.update(names)
        ids = [(spdx_id('Package-' + package), spdx_id('Debian-' + name.partition(':')[0])) for name in sorted(names)]
        relations.extend((other, role, own) if role == 'BUILD_TOOL_OF' else (own, role, other) for own, other in ids)

    tools = packages_of(tools_of(build))
    for package in paths:
        relations += [(spdx_id('Package-' + package), 'CONTAINS', file['SPDXID']) for file in files[package]]
        programs = [path for path in paths[package] if is_elf(path)]
        relate(package, 'DYNAMIC_LINK', packages_of(libraries_of(package, programs)))
        relate(package, 'STATIC_LINK', packages_of(built_from(build, programs)))
        relate(package, 'BUILD_TOOL_OF', tools)
    others = {one['SPDXID']: one for one in map(package_of, sorted(used))}
    document = {
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': 'koordetector-' + version,
        'creationInfo': {'created': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(int(os.environ.get('SOURCE_DATE_EPOCH', 0)))),
                         'creators': ['Organization: Koordetector', 'Tool: packaging/sbom.py']},
        'packages': [own_package(package, version, files[package]) for package in paths] + [others[one] for one in sorted(others)],
        'files': [file for package in paths for file in files[package]],
        'relationships': [{'spdxElementId': first, 'relationshipType': kind, 'relatedSpdxElement': second} for first, kind, second in relations]}
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    return {**document, 'documentNamespace': uuid.uuid5(uuid.NAMESPACE_OID, digest).urn}


def main(build, debian, target):
    version = output_of('dpkg-parsechangelog', '-l', str(debian / 'changelog'), '-S', 'Version').strip()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(document_of(build, debian, target, version), indent=1) + '\n', encoding='utf-8')
    target.chmod(0o644)


if __name__ == '__main__':
    if len(sys.argv) != 4:
        sys.exit(__doc__.split('\n\n')[1])
    main(*map(pathlib.Path, sys.argv[1:]))
