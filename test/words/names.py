# SPDX-License-Identifier: Apache-2.0
"""Words that must not be part of the name of a file, a folder or a C or C++ type, and what to write instead.

`names_of(path, content)` yields the names as (line, name, words); line 0 is the path. `find_in_name(words)` returns the
first such word and its replacement, or None. `identifiers_of(path, content)` yields each other name in the code once,
with its first line: functions, variables, macros. `find_in_identifier(words)` knows fewer words, because some of the
others are words of the language, of the kernel or of the plugin ABI, as "home", "guest" and "life" are.
"""
import re

from texts import code_of

REPLACEMENTS = {
    'an intent': 'wish wishes',
    'a runner': 'home homes',
    'ChildMonitor': 'attendant attendants',
    'PluginProcess': 'guest guests tenant tenants',
    'LaunchSpec': 'invitation invitations',
    'PeriodicTask': 'lookout lookouts',
    'KnobState, ActiveIntent, candidates': 'contest contests standing',
    'reported, changes, source': 'told untold said news',
    'an eviction tracker': 'book books',
    'eligibility': 'consent consents',
    'Trial, …Fixture': 'scene scenes court theatre desk desks',
    'FaultInjection': 'mischief',
    'Violations': 'sighting sightings',
    'a session': 'life lives',
    'a handover': 'succession successions',
    'the ABI corpus': 'museum museums exhibit exhibits',
    'a third party': 'stranger strangers',
    'an ABI boundary': 'border borders',
    'a noun that says what it holds':
        'going world spot unseen look figures dice course workpiece happening happenings bell raid raids',
}
INSTEAD = {word: instead for instead, words in REPLACEMENTS.items() for word in words.split()}
IDENTIFIER_REPLACEMENTS = {
    'the result: reported, output, answer, message': 'said',
    'reported, known, a noun for what was passed': 'told untold',
    'report, notify, record, log, send': 'tell tells telling teller',
    'changes, results, new lines': 'news',
    'again, or a verb: restart, refresh, renew': 'anew',
    'same, equal': 'alike',
    'three times': 'thrice',
    'observe, respect': 'heed heeds heeded',
    'missed, lost': 'unseen',
    'the name of the thing: listener, owner, subject, other': 'nobody somebody anybody whose whom whoever',
    'trusted, accepted': 'believe believes believed unbelieved disbelieved',
    'sessions (noun); is, exists, runs (verb)': 'lives',
}
IN_IDENTIFIERS = ('wish wishes wished wishing attendant attendants tenant tenants invitation invitations lookout lookouts contest contests consent '
                  'consents scene scenes theatre mischief sighting sightings succession successions museum museums stranger strangers '
                  'happening happenings workpiece workpieces')
INSTEAD_IN_IDENTIFIER = {word: INSTEAD.get(word, 'an intent') for word in IN_IDENTIFIERS.split()} | {
    word: instead for instead, words in IDENTIFIER_REPLACEMENTS.items() for word in words.split()}
OLD = 'old, former, previous, before the word'
WHOLE_NAMES = ('of', 'what')  # right as a part: "NodeOfTwenty"
# "life" in these is the usual term.
USUAL = re.compile(r'\bhalf (?:life|lives)\b|\blife (?:cycles?|times?|spans?)\b')

LANGUAGES = ('.c', '.cpp', '.h', '.hpp', '.go', '.js', '.py', '.rs')
C_FAMILY = ('.c', '.cpp', '.h', '.hpp')
TYPE = re.compile(r'^[ \t]*(?:typedef\s+)?(?:struct|class|enum(?: class)?|union)\s+(?:\[\[\w+\]\]\s+)?(\w+)|^[ \t]*using\s+(\w+)\s*=', re.M)
PART_OF_PATH = re.compile(r'[/_.-]')
IDENTIFIER = re.compile(r'[A-Za-z_]\w+')
PART_OF_TYPE = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+')


def names_of(path, content):
    yield 0, path, [part.lower() for part in PART_OF_PATH.split(path)]
    if not path.endswith(C_FAMILY):
        return
    for match in TYPE.finditer(content):
        name = match.group(1) or match.group(2)
        yield content.count('\n', 0, match.start(match.lastindex)) + 1, name, [part.lower() for part in PART_OF_TYPE.findall(name)]


def identifiers_of(path, content):
    if not path.endswith(LANGUAGES):
        return
    code = code_of(path, content)
    seen = set()
    for match in IDENTIFIER.finditer(code):
        name = match.group()
        if name not in seen:
            seen.add(name)
            yield code.count('\n', 0, match.start()) + 1, name, [part.lower() for part in PART_OF_TYPE.findall(name)]


def find_in_identifier(words):
    if words[-2:] == ['of', 'old']:
        return 'of old', OLD
    for word in USUAL.sub('', ' '.join(words)).split():
        if word in INSTEAD_IN_IDENTIFIER:
            return word, INSTEAD_IN_IDENTIFIER[word]
    return None


def find_in_name(words):
    if len(words) == 1 and words[0] in WHOLE_NAMES:
        return words[0], 'a noun that says what it holds'
    for word in USUAL.sub('', ' '.join(words)).split():
        if word in INSTEAD:
            return word, INSTEAD[word]
    return None
