# SPDX-License-Identifier: Apache-2.0
"""Words that must not be part of the name of a file, a folder or a C or C++ type, and what to write instead.

`names_of(path, content)` yields the names as (line, name, words); line 0 is the path. `find_in_name(words)` returns the
first such word and its replacement, or None. Functions and variables are not checked: too many of their names are
words of the language or of the kernel.
"""
import re

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
WHOLE_NAMES = ('of', 'what')  # right as a part: "NodeOfTwenty"
# "life" in these is the usual term.
USUAL = re.compile(r'\bhalf (?:life|lives)\b|\blife (?:cycles?|times?|spans?)\b')

C_FAMILY = ('.c', '.cpp', '.h', '.hpp')
TYPE = re.compile(r'^[ \t]*(?:typedef\s+)?(?:struct|class|enum(?: class)?|union)\s+(?:\[\[\w+\]\]\s+)?(\w+)|^[ \t]*using\s+(\w+)\s*=', re.M)
PART_OF_PATH = re.compile(r'[/_.-]')
PART_OF_TYPE = re.compile(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+')


def names_of(path, content):
    yield 0, path, [part.lower() for part in PART_OF_PATH.split(path)]
    if not path.endswith(C_FAMILY):
        return
    for match in TYPE.finditer(content):
        name = match.group(1) or match.group(2)
        yield content.count('\n', 0, match.start(match.lastindex)) + 1, name, [part.lower() for part in PART_OF_TYPE.findall(name)]


def find_in_name(words):
    if len(words) == 1 and words[0] in WHOLE_NAMES:
        return words[0], 'a noun that says what it holds'
    for word in USUAL.sub('', ' '.join(words)).split():
        if word in INSTEAD:
            return word, INSTEAD[word]
    return None
