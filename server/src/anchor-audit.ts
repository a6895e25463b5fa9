/** `node server/src/anchor-audit.ts <workspace id>`: takes the present end of an audit log for its anchor, after a restored backup. */
import { readConfig } from './config.ts';
import { openLog } from './log.ts';
import { checkAudit } from './store/audit-log.ts';
import { openStore } from './store/open-store.ts';
import { openStream } from './stream/open-stream.ts';

const [workspaceId] = process.argv.slice(2);
const read = readConfig(undefined, { MILLRACE_ROLES: 'control' });
if (!read.ok) throw new Error(read.problems.join('\n'));
if (workspaceId === undefined) throw new Error('usage: node server/src/anchor-audit.ts <workspace id>');
const { control, roles, natsUrl, natsFiles, stream: settings } = read.value;
const log = openLog({ level: 'warn', pretty: false });
await using store = await openStore(control.databaseUrl);
await using stream = await openStream({ natsUrl, natsFiles, roles, settings, log });
await using side = await stream.recordSide();
const checked = await store.inWorkspace(workspaceId, (tx) => checkAudit(tx, workspaceId, {}));
if (checked.kind === 'broken') throw new Error(`entry ${checked.sequence}: ${checked.why}`);
const before = await side.auditAnchors.last(workspaceId);
const anchor = { sequence: checked.end.sequence, hash: checked.end.hash.toString('hex') };
const kept = await side.auditAnchors.put(workspaceId, anchor);
if (kept !== 'stored') throw new Error(`the anchor was not stored: ${kept}`);
console.log(JSON.stringify({ workspaceId, before, anchor }));
