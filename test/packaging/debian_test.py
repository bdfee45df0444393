#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each installed file is in exactly one Debian package, and versions and lists of packaging/debian agree with those of the build.

usage: debian_test.py TREE BUILD VERSION    unittest's output
"""
import fcntl
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE, BUILD, VERSION = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
DEBIAN = TREE / 'packaging/debian'
CONTROL = (DEBIAN / 'control').read_text(encoding='utf-8')
PACKAGES = set(re.findall(r'^Package: (.*)', CONTROL, re.M))
# debian/rules copies these for dh_installsystemd, which finds the units of a package by their names.
UNITS = {'koordetector.service', 'koord-cri-proxy.service', 'koord-cri-proxy.socket', 'koord-manager.service'}
NOT_IN_BUILD_DEPENDS = {'ccache', 'curl', 'ca-certificates', 'procps', 'ncurses-base'}  # for packaging/quickstart, the image, or optional


def lines_of(name):
    return [line.strip() for line in (DEBIAN / name).read_text(encoding='utf-8').splitlines() if line.strip() and not line.startswith('#')]


def introspect(what):
    return json.loads(subprocess.run(['meson', 'introspect', what, BUILD], check=True, stdout=subprocess.PIPE, text=True).stdout)


def installed_files():
    "Paths as Debian has them: the prefix is /usr, and the configuration is in /etc."
    options = {option['name']: option['value'] for option in introspect('--buildoptions')}
    configuration = os.path.join(options['prefix'], options['sysconfdir'])
    for path in introspect('--installed').values():
        if path.startswith(configuration + '/'):
            yield 'etc/' + os.path.relpath(path, configuration)
        else:
            yield 'usr/' + os.path.relpath(path, options['prefix'])


def patterns():
    "Each pattern of a file list, with its package."
    for package in sorted(PACKAGES):
        for line in lines_of(package + '.install'):
            yield package, line.split()[0]
    for line in lines_of('not-installed'):
        yield 'units', line


def run_script(name, argument, folder):
    "Runs a maintainer script on folders below this one, with the agent of the build."
    text = (DEBIAN / name).read_text(encoding='utf-8')
    for path in ('/var/lib/koordetector', '/run/koordetector', '/etc/koordetector', '/var/lib/kubelet', '/etc/default', '/etc/systemd'):
        text = text.replace(path, folder + path)
    configuration = pathlib.Path(folder, 'etc/koordetector/koordetector.yaml')
    configuration.parent.mkdir(parents=True, exist_ok=True)
    configuration.write_text(f'qos: {{directory: {folder}/var/lib/koordetector/qos}}\n', encoding='utf-8')
    environment = {**os.environ, 'PATH': f'{BUILD}/core/agentd:' + os.environ['PATH']}
    return subprocess.run(['sh', '-c', text, name, argument], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True, check=True).stdout


def words_of(text):
    return [word for word in text.split() if word != '.']


def changelog_of(tree):
    environment = {**os.environ, 'SOURCE_DATE_EPOCH': '1700000000', 'TZ': 'UTC-14'}  # a time zone in which the next day has begun
    return subprocess.run([tree / 'packaging/build-debian', '--changelog'], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment)


def depends_of(section):
    text = (TREE / 'packaging/dependencies').read_text(encoding='utf-8')
    lines = re.search(rf'^\[{section}\](.*?)(?=^\[|\Z)', text, re.M | re.S)[1].splitlines()[1:]
    return {' | '.join(re.split(r'\s*\|\s*', line.split('#')[0].strip())) for line in lines if line.split('#')[0].strip()}


class Debian(unittest.TestCase):
    def test_each_installed_file_is_in_exactly_one_package(self):
        for file in installed_files():
            packages = [package for package, pattern in patterns() if fnmatch.fnmatch(file, pattern)]
            self.assertEqual(len(packages), 1, f'{file}: {packages}')

    def test_no_package_lists_a_file_that_is_not_installed(self):
        files = list(installed_files())
        without_proxy = not any(file.endswith('/koord-cri-proxy') for file in files)
        for package, pattern in patterns():
            if package == 'koord-cri-proxy' and without_proxy:
                continue
            self.assertTrue(any(fnmatch.fnmatch(file, pattern) for file in files), f'{package}: {pattern}')

    def test_each_package_has_a_file_list_and_each_list_is_of_a_package(self):
        of_packages = {path.name.split('.')[0] for path in DEBIAN.iterdir() if '.' in path.name}
        self.assertEqual(of_packages, PACKAGES)

    def test_the_rules_take_each_unit_that_is_installed(self):
        named = set(re.search(r'^UNITS = (.*)', (DEBIAN / 'rules').read_text(encoding='utf-8'), re.M)[1].split())
        self.assertEqual(named, UNITS)
        self.assertLessEqual({os.path.basename(file) for file in installed_files() if '/systemd/system/' in file}, UNITS)

    def test_the_changelog_begins_with_the_version_of_the_build(self):
        made = changelog_of(TREE).stdout
        self.assertRegex(made, rf'^koordetector \({re.escape(VERSION)}(~git\d{{8}}\.[0-9a-f]{{8,}}(~dirty)?)?\+deb')
        self.assertIn('>  Tue, 14 Nov 2023 22:13:20 +0000\n', made)

    def test_build_depends_are_the_listed_dependencies(self):
        listed = re.search(r'^Build-Depends: (.*?)^\n', CONTROL, re.M | re.S)[1]
        named = {' '.join(one.split()) for one in listed.split(',')} - {'debhelper-compat (= 13)'}
        self.assertEqual(named, (depends_of('required') | depends_of('optional')) - NOT_IN_BUILD_DEPENDS)

    def test_the_copyright_file_has_the_licenses_of_code_that_is_compiled_in(self):
        text = (DEBIAN / 'copyright').read_text(encoding='utf-8')
        licenses = {name: words_of(body) for name, body in re.findall(r'^License: (\S+)\n((?: .*\n)+)', text, re.M)}
        for package, name, ours in (('libjs-chart.js', 'Expat', 'Expat'), ('musl-dev', 'MIT', 'Expat'), ('libspdlog-dev', 'Expat', 'Expat'),
                                    ('libvalijson-dev', 'BSD-2clause', 'BSD-2-Clause'), ('libprotobuf-dev', 'BSD-3-Clause~Google', 'BSD-3-Clause')):
            self.assertIn(f'({package})', text)
            theirs = pathlib.Path(f'/usr/share/doc/{package}/copyright')
            if theirs.exists():
                bodies = re.findall(rf'^License: *{name}\n((?: .*\n)+)', theirs.read_text(encoding='utf-8'), re.M)
                self.assertIn(licenses[ours], map(words_of, bodies), package)

    def test_the_documents_of_the_plugin_api_are_shipped_and_no_example_that_needs_a_build_folder(self):
        documents = {str(path.relative_to(TREE)) for path in (TREE / 'plugin-api').glob('*.md')}
        self.assertEqual(set(lines_of('koordetector-dev.docs')), documents)
        excluded = re.search(r'dh_installexamples (.*)', (DEBIAN / 'rules').read_text(encoding='utf-8'))[1]
        for example in sorted((TREE / 'examples').iterdir()):
            needs_build = any('KOORD_BUILD' in file.read_text(encoding='utf-8') for file in example.glob('run'))
            self.assertEqual(f'--exclude={example.name}' in excluded.split(), needs_build, example.name)

    def test_the_changelog_of_the_plugin_api_does_not_replace_that_of_the_package(self):
        self.assertIn('\tdh_installchangelogs --exclude=CHANGELOG.md\n', (DEBIAN / 'rules').read_text(encoding='utf-8'))

    def test_maintainer_scripts_are_valid_for_the_shell(self):
        scripts = [path for path in DEBIAN.iterdir() if path.suffix in ('.postinst', '.prerm', '.postrm', '.preinst')]
        self.assertTrue(scripts)
        for script in scripts:
            subprocess.run(['sh', '-n', script], check=True)
            self.assertIn('\n#DEBHELPER#\n', script.read_text(encoding='utf-8'), script.name)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='koord-test-debian-')
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.state = pathlib.Path(self.folder, 'var/lib/koordetector')
        (self.state / 'qos').mkdir(parents=True)
        (self.state / 'metrics.db').touch()

    def locked(self, name):
        "A lock that an agent has while it runs."
        lock = open(self.state / name, 'w', encoding='utf-8')
        self.addCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock

    def test_a_purge_deletes_the_state(self):
        self.locked('metrics.db.lock').close()
        self.locked('qos/originals.db.lock').close()
        self.assertEqual(run_script('koordetector.postrm', 'purge', self.folder), '')
        self.assertFalse(self.state.exists())

    def test_a_purge_keeps_the_state_of_another_agent_that_runs(self):
        for name in ('metrics.db.lock', 'qos/originals.db.lock'):
            with self.locked(name):
                self.assertIn('another agent runs', run_script('koordetector.postrm', 'purge', self.folder))
            self.assertTrue((self.state / 'metrics.db').exists(), name)

    def test_a_removal_says_that_an_agent_still_has_the_originals(self):
        (self.state / 'qos/originals.db').touch()
        with self.locked('qos/originals.db.lock'):
            output = run_script('koordetector.prerm', 'remove', self.folder)
        self.assertIn('an agent still runs', output)
        self.assertNotIn('install the package again', output)

    def test_a_purge_keeps_only_the_originals_of_knobs_that_were_not_reverted(self):
        (self.state / 'qos/originals.db').mkdir()
        self.assertIn('install the package again, stop the agent, then run `koordetector restore`',
                      run_script('koordetector.prerm', 'remove', self.folder))
        self.assertTrue((self.state / 'restore-failed').exists())
        self.assertIn('qos stays', run_script('koordetector.postrm', 'purge', self.folder))
        self.assertEqual([path.name for path in self.state.iterdir()], ['qos'])
        self.assertTrue((self.state / 'qos/originals.db').exists())

    def test_the_removal_of_the_proxy_warns_if_a_file_of_the_kubelet_names_it(self):
        for name in ('var/lib/kubelet/instance-config.yaml', 'etc/systemd/system/kubelet.service.d/20-proxy.conf'):
            file = pathlib.Path(self.folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            self.assertEqual(run_script('koord-cri-proxy.prerm', 'remove', self.folder), '')
            file.write_text('unix:///run/koord-cri-proxy/cri.sock', encoding='utf-8')
            self.assertIn('names this proxy', run_script('koord-cri-proxy.prerm', 'remove', self.folder))
            file.unlink()

    def test_an_upgrade_restarts_the_proxy_and_leaves_its_socket(self):
        lines = re.findall(r'dh_installsystemd -pkoord-cri-proxy (.*)', (DEBIAN / 'rules').read_text(encoding='utf-8'))
        flags = {line.split()[-1].rpartition('.')[2]: set(line.split()[:-1]) for line in lines}
        self.assertEqual(flags['service'], {'--no-enable', '--no-start', '--restart-after-upgrade'})
        self.assertLessEqual({'--no-stop-on-upgrade', '--no-restart-after-upgrade'}, flags['socket'])

    def test_the_purge_removes_the_directories_of_the_units(self):
        for package in ('koordetector', 'koord-cri-proxy'):
            unit = (TREE / f'packaging/{package}.service.in').read_text(encoding='utf-8')
            state = re.search(r'^StateDirectory=(.*)', unit, re.M)[1]
            self.assertIn(f'/var/lib/{state}', (DEBIAN / f'{package}.postrm').read_text(encoding='utf-8'))

    def test_libraries_that_are_opened_by_name_are_those_of_the_control_file(self):
        sbom = runpy.run_path(str(TREE / 'packaging/sbom.py'))
        for package in PACKAGES:
            paragraph = re.search(rf'^Package: {package}\n(.*?)(?=^\n|\Z)', CONTROL, re.M | re.S)[1]
            named = {library for library, name in (('libssl.so.3', 'libssl3'), ('libcrypto.so.3', 'libssl3'), ('libpfm.so.4', 'libpfm4'))
                     if re.search(rf'^(?:Depends|Recommends):.*\b{name}\b', paragraph, re.M)}
            self.assertEqual(set(sbom['OPENED_BY_NAME'].get(package, [])), named, package)


def bill_of_materials(folder):
    "Makes a package with the program, and one with a page only, and their bill of materials."
    (folder / 'changelog').write_text(
        f'koordetector ({VERSION}+deb0) unstable; urgency=medium\n\n  * A change.\n\n -- A B <a@b.example>  Tue, 14 Nov 2023 22:13:20 +0000\n',
        encoding='utf-8')
    target = folder / 'koordetector/usr/share/doc/koordetector/koordetector.spdx.json'
    subprocess.run([sys.executable, TREE / 'packaging/sbom.py', BUILD, folder, target], check=True, umask=0o077)
    return target, json.loads(target.read_text(encoding='utf-8'))


class BillOfMaterials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='koord-test-sbom-')
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.program = cls.folder / 'koordetector/usr/bin/koordetector'
        cls.page = cls.folder / 'koordctl/usr/share/man/man1/page'
        for path in (cls.program, cls.page):
            path.parent.mkdir(parents=True)
        shutil.copy2(pathlib.Path(BUILD) / 'core/agentd/koordetector', cls.program)
        cls.page.write_text('page', encoding='utf-8')
        cls.target, cls.bill = bill_of_materials(cls.folder)
        cls.own = {one['name']: one for one in cls.bill['packages'] if one['versionInfo'] == VERSION + '+deb0'}

    def related(self, package, kind):
        names = {one['SPDXID']: one.get('name', one.get('fileName')) for one in self.bill['packages'] + self.bill['files']}
        return {names[relation['relatedSpdxElement']] for relation in self.bill['relationships']
                if (relation['spdxElementId'], relation['relationshipType']) == (self.own[package]['SPDXID'], kind)}

    def test_it_names_the_files_of_each_package(self):
        self.assertEqual(self.related('koordetector', 'CONTAINS'), {'./usr/bin/koordetector'})
        self.assertEqual(self.related('koordctl', 'CONTAINS'), {'./usr/share/man/man1/page'})
        digest = hashlib.sha256(self.program.read_bytes()).hexdigest()
        self.assertIn({'algorithm': 'SHA256', 'checksumValue': digest}, [one for file in self.bill['files'] for one in file['checksums']])

    def test_the_code_of_a_package_is_that_of_its_files(self):
        for name, file in (('koordetector', self.program), ('koordctl', self.page)):
            code = hashlib.sha1(hashlib.sha1(file.read_bytes()).hexdigest().encode()).hexdigest()
            self.assertTrue(self.own[name]['filesAnalyzed'])
            self.assertEqual(self.own[name]['packageVerificationCode']['packageVerificationCodeValue'], code)

    def test_it_names_what_is_linked_and_compiled_into_each_package(self):
        self.assertTrue(any(name.startswith('libsqlite3') for name in self.related('koordetector', 'DYNAMIC_LINK')))
        self.assertLessEqual({'libvalijson-dev', 'libfmt-dev'}, self.related('koordetector', 'STATIC_LINK'))
        self.assertEqual(self.related('koordctl', 'STATIC_LINK'), set())

    def test_ccache_is_no_build_tool(self):
        names = {one['name'] for one in self.bill['packages']}
        self.assertIn('meson', names)
        self.assertNotIn('ccache', names)

    def test_each_identifier_is_used_once(self):
        identifiers = [one['SPDXID'] for one in self.bill['packages'] + self.bill['files']]
        self.assertEqual(len(identifiers), len(set(identifiers)))

    def test_everybody_may_read_it(self):
        self.assertEqual(self.target.stat().st_mode & 0o777, 0o644)

    def test_the_namespace_is_that_of_the_content(self):
        self.assertRegex(self.bill['documentNamespace'], '^urn:uuid:[0-9a-f-]{36}$')
        self.assertEqual(bill_of_materials(self.folder)[1]['documentNamespace'], self.bill['documentNamespace'])
        self.page.write_text('another page', encoding='utf-8')
        self.assertNotEqual(bill_of_materials(self.folder)[1]['documentNamespace'], self.bill['documentNamespace'])
        self.page.write_text('page', encoding='utf-8')


class Checkout(unittest.TestCase):
    "packaging/build-debian in a checkout of its own."

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='koord-test-checkout-')
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        for name in ('meson.build', '.gitignore', 'packaging/build-debian', 'packaging/debian/control'):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TREE / name, self.tree / name)
        (self.tree / 'packaging/CHANGELOG.md').write_text(
            f'# Changes\n\n## {VERSION}\n\nFirst words.\n\nNew:\n\n- One `thing`.\n- Another.\n\nTo do:\n\n- Work.\n\nLast words.\n', encoding='utf-8')

    def git(self, *arguments):
        environment = {**os.environ, 'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_COMMITTER_DATE': '2023-11-14T22:13:20Z'}
        return subprocess.run(['git', '-C', self.tree, '-c', 'user.name=A', '-c', 'user.email=a@b.example', *arguments], check=True,
                              stdout=subprocess.PIPE, env=environment, text=True).stdout.strip()

    def commit(self):
        if not shutil.which('git'):
            self.skipTest('git is not installed')
        self.git('init', '-q')
        self.git('add', '.')
        self.git('commit', '-q', '-m', 'Begin')

    def version(self):
        return re.match(r'koordetector \((.*)\+deb\d+\) ', changelog_of(self.tree).stdout)[1]

    def sources(self, *left_out):
        code = runpy.run_path(str(self.tree / 'packaging/build-debian'))
        return {str(path.relative_to(self.tree)) for path in code['source_files'](left_out) if path.is_file()}

    def test_a_release_has_the_version_of_its_tag_and_other_commits_a_lower_one(self):
        self.commit()
        unreleased = f'{VERSION}~git20231114.{self.git("rev-parse", "--short=8", "HEAD")}'
        self.assertEqual(self.version(), unreleased)
        self.git('tag', f'v{VERSION}')
        self.assertEqual(self.version(), VERSION)
        (self.tree / 'meson.build').write_text((self.tree / 'meson.build').read_text(encoding='utf-8') + '# a change\n', encoding='utf-8')
        self.assertEqual(self.version(), unreleased + '~dirty')
        if shutil.which('dpkg'):
            for lower, higher in ((unreleased, VERSION), (unreleased + '~dirty', unreleased), (VERSION + '~git20230101.ffffffff', unreleased)):
                subprocess.run(['dpkg', '--compare-versions', lower + '+deb12', 'lt', higher + '+deb12'], check=True)

    def test_sources_without_a_checkout_have_the_version_of_the_build(self):
        self.assertEqual(self.version(), VERSION)

    def test_a_checkout_that_git_cannot_read_ends_the_build_with_the_message_of_git(self):
        self.commit()
        (self.tree / '.git/HEAD').write_text('broken', encoding='utf-8')
        done = changelog_of(self.tree)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, 'build-debian: git .* failed in .*: fatal: ')

    def test_only_files_of_git_are_copied_and_without_it_no_ignored_ones(self):
        for name in ('build/a', 'build-asan/a', 'packaging/__pycache__/a.pyc', 'packages/a.deb', 'packaging/a.o'):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).touch()
        files = {'meson.build', '.gitignore', 'packaging/build-debian', 'packaging/debian/control', 'packaging/CHANGELOG.md'}
        self.assertEqual(self.sources(self.tree / 'packages'), files)
        (self.tree / 'packages/a.deb').unlink()
        self.commit()
        (self.tree / 'untracked').touch()
        self.assertEqual(self.sources(), files)

    def test_the_changelog_keeps_the_titles_of_lists(self):
        self.assertIn('\n\n  * First words.\n  * New:\n    - One thing.\n    - Another.\n  * To do:\n    - Work.\n  * Last words.\n\n -- ',
                      changelog_of(self.tree).stdout)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
