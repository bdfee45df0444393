# SPDX-License-Identifier: Apache-2.0
"""The phrases that are not plain words, and what to write instead.

`find_in(text)` returns the findings in a `Text`.
"""
import re
from typing import NamedTuple


class Finding(NamedTuple):
    start: int
    end: int
    phrase: str
    instead: str


# The words "who" and "whose" are right after these.
PEOPLE = (r'(?:user|users|operator|operators|author|authors|engineer|engineers|people|person|persons|human|humans|reader|readers|'
          r'admin|admins|owner|owners|process|processes|everyone|those)')

NO_PERSON = '"no plugin", "no process", "nothing", "none"'
ONE_PERSON = 'the name of the thing: "another process", "a plugin", "a caller"'

# (words, pattern, what to write instead). The pattern is searched only in texts that have one of the words.
RULES = [
    ('wish wishes wished wishing', r'wish(?:es|ed|ing)?', '"intent", "proposed"'),
    ('give gives gave given giving', r'(?:giv(?:e|es|en|ing)|gave)(?: \w+){0,3} back',
     '"revert" (to the original), "roll back" (a half-applied write), "return" (a value)'),
    ('take takes took taken taking', r'(?:tak(?:e|es|en|ing)|took)(?: \w+){0,3} back', '"revert", "withdraw"'),
    ('home homes', r'(?<![/$.])homes?(?! directory| folder)', '"runner"; "isolation: process / inprocess"'),
    ('guest guests tenant tenants', r'(?:guest(?! time| guest_nice)|(?<!multi-)tenant)s?', '"plugin process"'),
    ('attendant attendants', r'attendants?', '"child monitor"'),
    ('desk desks', r'desks?', '"service dispatcher"'),
    ('remote', r'remote hosts?', '"host proxy"'),
    ('invitation invitations invite invites invited', r'invit(?:ations?|es?|ed)', '"launch spec"'),
    ('introduce introduces introduced introduction', r'introduc(?:es?|ed|tion)', '"handshake"'),
    ('lookout lookouts', r'lookouts?', '"poll", "periodic task"'),
    ('look looks', r'(?:a|an|the|each|every|next|first|second|third|last|one|two|three|between|per|this|that|previous|its|old|new|'
     r'same|such|whole) looks?(?![- ](?:up|at|like|ups)\b)|looks? ago', '"poll", "read", "check"'),
    ('act acts', r'(?:an|the|each|every|one|no|first|per) act|of acts', '"one-shot"'),
    ('told', r'told', '"reported", "known", "passed"'),
    ('tell tells telling', r'tell(?:s|ing)?', '"reports", "states", "shows", "distinguishes"'),
    ('untold', r'untold', '"unreported"'),
    ('news', r'news', '"changes"'),
    ('said', r'said', '"reported", "stated", "documented", "given"; the column is "source"'),
    ('book books', r'books?', '"eviction tracker"'),
    ('consent consents consented', r'consent(?:s|ed)?', '"eligibility"'),
    ('scene scenes', r'scenes?', '"trial", "…Fixture"'),
    ('mischief mischiefs', r'mischiefs?', '"fault injection"'),
    ('sighting sightings', r'sightings?', '"violations"'),
    ('court theatre theater', r'court|theat(?:re|er)', '"…Fixture"'),
    ('life', r'life(?![- ]?(?:cycle|time|span))', '"session", "run"'),
    ('lives', r'lives', '"sessions" (noun); "is", "exists", "runs" (verb)'),
    ('succession successions', r'successions?', '"handover"'),
    ('left', r'left over', '"stale"'),
    ('museum museums', r'museums?', '"ABI corpus"'),
    ('stranger strangers', r'strangers?', '"third party"'),
    ('border borders', r'borders?', '"ABI boundary"'),
    ('happening happenings', r'happenings?', '"event"'),
    ('unseen', r'unseen', '"unnoticed"'),
    ('workpiece workpieces', r'workpieces?', 'a noun that says what it holds'),
    ('standing', r'standing (?:wish|intent|order)\w*', '"active intent"'),
    ('contest contests', r'contests?', '"candidates", "contested"'),
    ('had', r'to be had', '"available", "unavailable", "missing"'),
    ('become becomes became', r'bec[ao]mes? of', '"status or result of"'),
    ('nobody', r'nobody', NO_PERSON),
    ('no', r'no one(?! \w+ly\b)', NO_PERSON),
    ('somebody anybody', r'(?:some|any)body', ONE_PERSON),
    ('believe believes believed believing', r'believ(?:es?|ed|ing)', '"trusted", "accepted"'),
    ('knows', r'knows better', 'the condition'),
    ('who', rf'(?<!{PEOPLE} )who', 'the name of the thing: "a plugin that", "the process that"'),
    ('whoever whom', r'whoever|whom', 'the name of the thing: "any caller"'),
    ('what', r'what of|what c[ao]mes? of', '"the part of", "the result of"'),
    ('want', r'for want of', '"for lack of"'),
    ('mend mended mends', r'mend(?:s|ed)?', '"fix"'),
    ('whose', rf'(?<!{PEOPLE} )whose', '"with", "its", "of which"'),
    ('rule', r'as a rule', '"usually", or the condition'),
    ('none', r'there (?:is|are|was|were|being) none', '"without", "missing", "no X exists"'),
    ('so', r'so that\b[^.]*\bso that', 'two sentences'),
    ('anew', r'anew', '"again"; a verb: "restart", "reset", "recreate"'),
    ('alike', r'(?<!look )alike', '"the same", "equally", "in the same way"'),
    ('thrice heed heeds', r'thrice|heeds?', '"three times"; "observe"'),
    ('late', r'of late', '"recently"'),
    ('need', r'need not', '"does not have to", "may lack", "is optional"'),
    ('long', r'for so long(?! that)', '"for this time", or the time'),
    ('many', r'so many(?![^.;:]*\bthat\b)', '"this many", "a limited number of", or the number'),
    ('ever', r'for ever|ever (?:more|less)', '"forever", "permanently"; "more and more"'),
    ('vain', r'in vain', 'the result: "ignored", "without effect"'),
    ('afresh', r'afresh', '"again"'),
    ('have', r'would have it', 'the subject and what it does'),
    ('business', r'no business', '"must not"'),
    ('gets', r'gets by', '"manages without", "needs only"'),
    ('there', r'(?:that|which) there (?:is|are) not', '"missing"'),
    ('but', r'but for(?! (?:a|an) (?:moment|while|time))', '"except for"'),
    ('off', r'written off', '"abandoned"'),
    ('no', r'(?<!^)that is no (?!longer|different|more|error|problem|such|other|less)\w+', '"that is not a …", "an invalid …"'),
    ('wanted', r"(?:^|(?<=[:,;] ))wanted(?= ['\w])(?! TEXT NOT)", '"expected"'),
    ('not', r'not un(?:like|likely|usual|common|reasonable|known|important|expected)', 'the positive word'),
]

OPENERS = {'of', 'what', 'who', 'whose', 'which'}
OPENER = r'(?:of|what|who|whose|that which)\b'
# In mid-text a sentence begins with a capital letter; "e.g." and file names end no sentence.
OPENER_LATER = re.compile(r'(?:(?<=[A-Za-z0-9)\]\'"`%][.!?] )|(?<=\n))["\'(\[]?(Of|What|Who|Whose|That which)\b|'
                          r'(?<=[\w)}]: )([Ww]hat|[Ww]ho|[Ww]hose)\b')
OPENER_FIRST = re.compile(r'\s*["\'(\[]?(' + OPENER + ')', re.I)
# "which…" behind a member is right.
FRAGMENT = re.compile(r'\s*((?:(?:In|By) w|W)hich)\b')
OPENER_CAPITAL = re.compile(r'["\'(]?(Of|What|Who|Whose|That which|what|who|whose)\b')
SUBJECT_FIRST = 'the subject first: a verb for a function ("Returns…"), a noun phrase for a type'

WORD = re.compile(r'[a-z]+')


def lookbehinds(pattern):
    """Python knows only lookbehinds of a fixed width: one for each alternative."""
    group = re.match(r'\(\?<!\(\?:([^)]*)\) \)', pattern)
    if not group:
        return pattern
    return ''.join(rf'(?<!\b{word} )' for word in group.group(1).split('|')) + pattern[group.end():]


def compiled():
    by_word = {}
    for words, pattern, instead in RULES:
        expression = re.compile(rf'(?<![\w`/.{{-])(?:{lookbehinds(pattern)})(?![\w`/(=-])', re.I)
        for word in words.split():
            by_word.setdefault(word, []).append((expression, instead))
    return by_word


BY_WORD = compiled()
TRIGGERS = frozenset(BY_WORD) | OPENERS | {'that'}


def openers(text):
    body = text.body
    if text.kind != 'string' or text.is_test_name():
        first = OPENER_FIRST.match(body)
        # "of the pod" behind a member, or in a table, is no sentence; nor is a single word, the head of a column.
        if first and (first.group(1) == 'of' and text.kind != 'string' or ' ' not in body):
            first = None
    else:
        first = OPENER_CAPITAL.match(body)
        # A single capital word is a name or the head of a column, not a sentence.
        if first and body.count(' ') < 2:
            first = None
    fragment = FRAGMENT.match(body) if text.kind == 'comment' else None
    matches = [match for match in (first, fragment) if match] + list(OPENER_LATER.finditer(body))
    return [Finding(*match.span(match.lastindex), f'{match.group(match.lastindex)}… as the first word', SUBJECT_FIRST)
            for match in matches]


def find_in(text):
    words = TRIGGERS.intersection(WORD.findall(text.body.lower()))
    if not words:
        return []
    found = {}
    if not words.isdisjoint(OPENERS) or 'that' in words:
        for finding in openers(text):
            found[finding.start] = finding
    for word in words:
        for expression, instead in BY_WORD.get(word, ()):
            for match in expression.finditer(text.body):
                found.setdefault(match.start(), Finding(match.start(), match.end(), match.group(), instead))
    return [found[start] for start in sorted(found)]
