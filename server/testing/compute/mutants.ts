/**
 * Ways in which the fold could be wrong, each as a change of one place in `server/src/compute`. `check-mutants.ts` shows that random
 * histories notice every one of them.
 */
export type Mutant = { name: string; file: string; find: string; replace: string };

const of = (file: string, mutants: Record<string, [find: string, replace: string]>): Mutant[] =>
  Object.entries(mutants).map(([name, [find, replace]]) => ({ name, file, find, replace }));

export const MUTANTS: readonly Mutant[] = [
  ...of('state/buckets.ts', {
    'a window ends one bucket early': ['- windowMs) / resolutionMs)', '- windowMs) / resolutionMs) + 1'],
    'a timer is due one bucket late': ['(bucket + 1) * resolutionMs', '(bucket + 2) * resolutionMs'],
    'an event at the edge falls into the next bucket': ['Math.floor(eventAt /', 'Math.ceil(eventAt /'],
    'a late event is put behind newer ones': [
      'while (place > 0 && (buckets[place - 1] ?? 0) > bucket) place -= 1;',
      '',
    ],
  }),
  ...of('state/number-cells.ts', {
    'merged buckets count as one event': ['(cells.counts[place] ?? 0) + count', '(cells.counts[place] ?? 0) + 1'],
    'the least is the first': ['return a < b ? a : b;', 'return a;'],
    'the greatest is the last': ['return a > b ? a : b;', 'return b;'],
    'the second event of a bucket is lost in the bytes': [
      'writeBucket(to, bucket - before, count > 1);\n    before = bucket;\n    if (count > 1)',
      'writeBucket(to, bucket - before, count > 2);\n    before = bucket;\n    if (count > 2)',
    ],
    'pruning takes the bucket that still counts': [
      '(cells.buckets[expired] ?? 0) < oldest',
      '(cells.buckets[expired] ?? 0) <= oldest',
    ],
  }),
  ...of('state/stamped-cells.ts', {
    'among equal times the other message wins': ['a.at - b.at || a.hash - b.hash', 'a.at - b.at || b.hash - a.hash'],
    'the last value is the last that came': [
      'if (newest !== undefined && compareStamps(newest, stamp) >= 0) return;',
      '',
    ],
    'the first value is the last of its bucket': ['?? stamp) < 0) {', '?? stamp) > 0) {'],
    'a first value keeps one bucket only': [
      'cells.buckets.splice(-1 - place, 0, bucket);\n    cells.stamps',
      'cells.buckets.splice(0, 9, bucket);\n    cells.stamps',
    ],
  }),
  ...of('state/seen-ids.ts', {
    'repeated calls are recognised for 23 hours': ['KEPT_HOURS = 24', 'KEPT_HOURS = 23'],
    'repeated calls are recognised for 25 hours': ['KEPT_HOURS = 24', 'KEPT_HOURS = 25'],
    'repeated calls count': ['isKnown: known >= 0,', 'isKnown: false,'],
    'a repeated call does not renew its id': ['if ((seen.hours[known] ?? 0) >= hour) return', 'if (hour > 0) return'],
  }),
  ...of('state/value-cells.ts', {
    'a late value counts as new in a list': ['if (before !== undefined && before >= bucket) return;', ''],
    'merged lists keep one side': ['for (const [value, bucket] of from.newest) addUnique(into, value, bucket);', ''],
    'merged frequencies keep one side': [
      "addCounted(into, value, (own) => mergeCells(own, 'count', cells), cells.buckets.at(-1) ?? 0);",
      'void [value, cells];',
    ],
  }),
  ...of('state/traits.ts', {
    'an older identify call changes a trait': [
      'if (before !== undefined && compareStamps(before.stamp, trait.stamp) >= 0) return false;',
      '',
    ],
  }),
  ...of('state/groups.ts', {
    'an older group call changes the time': [
      'if ((groups.get(id) ?? Number.NEGATIVE_INFINITY) >= eventAt) return;',
      '',
    ],
  }),
  ...of('state/tiles.ts', {
    'the third event of a tile forgets the first two': [
      'tile.hours = hoursOf(tile);\n    addToCells',
      'tile.hours = numberCells();\n    addToCells',
    ],
    'merged tiles keep the hours of one side': ["mergeCells(hours, 'count', hoursOf(other));", ''],
    'merged tiles keep one total': [
      'const total = tile.total + other.total;',
      'const total = Math.max(tile.total, other.total);',
    ],
  }),
  ...of('state/held-values.ts', {
    'the sequence is lost in the bytes': ['sequence: Math.floor(read / 3)', 'sequence: 1'],
  }),
  ...of('fold/incoming-event.ts', {
    'an event may happen after its receipt': [
      'Math.min(parseTimestamp(event.timestamp) ?? receivedAt, receivedAt)',
      '(parseTimestamp(event.timestamp) ?? receivedAt)',
    ],
  }),
  ...of('fold/fold-event.ts', {
    'a range includes its end': ['at >= between.to', 'at > between.to'],
    'a range excludes its beginning': ['at < between.from', 'at <= between.from'],
    'events of other sources count': ['sources?.has(incoming.sourceId) === false || ', ''],
    'the rules of a leaf are not asked': [' || matches?.(incoming.event) === false', ''],
    'only one definition of a measure is evaluated': [
      'for (const place of measure.users) touched[place] = 1;',
      'touched[measure.users[0] ?? 0] = 1;',
    ],
    'a changed trait evaluates nothing': [
      'for (const place of plan.byTrait.get(name) ?? []) touched[place] = 1;',
      'void [name, touched];',
    ],
    'a sum is rounded to whole units': [
      'return Number.isSafeInteger(millionths) ? millionths',
      'return Number.isSafeInteger(millionths) ? Math.round(Number(millionths) / 1e6) * 1e6',
    ],
  }),
  ...of('fold/evaluate.ts', {
    'the sequence is not counted': ['(held?.sequence ?? 0) + 1', '(held?.sequence ?? 1)'],
    'an event forgets the timers of other definitions': [
      'let dueAt = isFull ? NEVER : (profile.dueAt ?? NEVER);',
      'let dueAt = NEVER;',
    ],
    'audiences that ask for another one are not evaluated': [
      'for (const dependent of definition.dependents) marks[dependent] = 1;',
      '',
    ],
    'time goes back': ['const now = Math.max(asked.now, state.evaluatedAt);', 'const now = asked.now;'],
    'definitions that changed are evaluated in the past': [
      'if (isRevised ? asked.isOfTime === true : !isFull && marks[place] === 0) continue;',
      'if (!isRevised && !isFull && marks[place] === 0) continue;',
    ],
    'a group waits for its last part': [
      'soonest = Math.min(soonest, Math.abs(found));',
      'soonest = Math.max(soonest === NEVER ? 0 : soonest, Math.abs(found));',
    ],
    'anonymous profiles are sent': ["(kind === 'user' || isForAnonymous)", '(key !== undefined || isForAnonymous)'],
    'a change does not wait until it settles': ['now + settleMs', 'now'],
    'the event of a transition is not named': [
      "if (cause === 'event' && asked.messageId !== undefined)",
      "if (cause === 'time' && asked.messageId !== undefined)",
    ],
    'lists are equal when they are as long': [
      'a.every((each, at) => each === b[at])',
      'a.every((each) => each !== undefined)',
    ],
    'a new definition takes measures of others with it': [
      'slot > plan.lastSlot || plan.measures.has(slot)',
      'slot > plan.lastSlot',
    ],
  }),
  ...of('fold/evaluate-leaf.ts', {
    'at least is more than, for sums': ['value < atLeast', 'value <= atLeast'],
    'at least is more than, for counts': ['if (count >= atLeast) return endOf', 'if (count > atLeast) return endOf'],
    'less than includes the bound': ['value >= lessThan', 'value > lessThan'],
    'the next change is that of the bucket after': ['endOf(cells.buckets[changed - 1]', 'endOf(cells.buckets[changed]'],
    'averages are cut off': ['Math.floor((2 * amount + count) / (2 * count))', 'Math.floor(amount / count)'],
    'an average without events is 0': ['if (total.count === 0) return false;', ''],
  }),
  ...of('fold/compute-trait.ts', {
    'among equally frequent values the last wins': [
      'compareValues(value, best.value) < 0',
      'compareValues(value, best.value) > 0',
    ],
    'a list changes when its newest value leaves': ['endOf(Math.min(...live', 'endOf(Math.max(...live'],
    'no events are 0': ['if (total.count === 0) return null;', 'if (total.count === 0) return 0;'],
  }),
  ...of('fold/merge-profiles.ts', {
    'a merge drops a measure': ['of from.records) {', 'of from.records.slice(1)) {'],
    'a merge drops the traits': ['mergeTraits(traitsOf(into), traitsOf(from), plan.neededTraits);', ''],
    'a merge drops the groups': ['mergeGroups(groupsOf(into), groupsOf(from));', ''],
    'a merge drops the tiles': ['mergeTiles(into.tiles, from.tiles);', ''],
    'a merge drops the message ids': ['return mergeSeen(into.seen, from.seen);', 'return 0;'],
    'a merge lets time go back': ['into.evaluatedAt = Math.max(into.evaluatedAt, from.evaluatedAt);', ''],
  }),
  ...of('fold/fold-batch.ts', {
    'changes that are due wait for the event': ['transitions.push(...advance(profile, plan, receivedAt));', ''],
    'changes of a merged profile that are due are forgotten': ['...advance(merged, plan, now), ', ''],
    'a merge evaluates nothing': [
      "transitions.push(...evaluate(into, plan, { now, cause: 'merge', touched: undefined }));",
      '',
    ],
    'a merged profile is written once more': ['open.delete(from.key);', ''],
    'a merged profile stays a member': ['return heldDefinitions(merged.state, plan);', 'return [];'],
  }),
  ...of('fold/advance-profiles.ts', {
    'a scan leaves new measures empty': [
      'const isUrgent = fillFromTiles(profile.state, plan);',
      'const isUrgent = false;',
    ],
    'a scan leaves audiences alone that ask for others': [
      ' || (dueAt !== Infinity && asksOthers(plan, planVersion))',
      '',
    ],
    'a scan forgets the timers of other definitions': [
      'Math.min(dueAt, profile.dueAt ?? Infinity)',
      '(profile.dueAt ?? Infinity)',
    ],
  }),
  ...of('fold/backfill.ts', {
    'an hour of the past counts as one event': ['[counts[at] ?? 0, 0]', '[1, 0]'],
    'the past of one source is enough': [
      'for (const tile of tiles) addTile',
      'for (const tile of tiles.slice(0, 1)) addTile',
    ],
  }),
  ...of('fold/resolve-identity.ts', {
    'a shared device goes to the second user': [
      "return { from: anonymous, to: 'shared', merges: false };",
      "return { from: anonymous, to: owners[0] ?? '', merges: false };",
    ],
    'placeholder ids name a profile': ['id === undefined || isPlaceholderId(id)', 'id === undefined'],
    'events of a shared device count for a profile of its own': [
      "return target === 'shared' ? undefined :",
      "return target === 'shared' ? anonymous :",
    ],
    'a device of a merged user is shared': [
      'const owners = [owner, ...made.map(({ from }) => from.key)];',
      'const owners = [owner];',
    ],
    'a taken id is aliased again': [
      "? undefined : 'taken'",
      '? undefined : { from: previous, to: owner, merges: true }',
    ],
  }),
  ...of('fold/measure-need.ts', {
    'a measure that is kept too briefly is shared': [
      'measure.id === id && keptFor(measure) >= keepMs',
      'measure.id === id',
    ],
    'measures of different sources are one': ['range, sources && [...new Set(sources)].toSorted()]', 'range]'],
  }),
  ...of('fold/compile-plan.ts', {
    'a leaf without a name sees events without a definition of their own only': [
      'list.push(...any);',
      'void [list, any];',
    ],
  }),
  ...of('fold/compile-condition.ts', {
    'at least, and less than: only the first counts': [
      "aggregate === 'count' && leaf.lessThan === undefined ?",
      "aggregate === 'count' ?",
    ],
  }),
  ...of('profiles/profile-key.ts', {
    'a user and a device of one name are one': ['${workspaceId}\\n${kind}\\n${id}', '${workspaceId}\\n${id}'],
  }),
];
