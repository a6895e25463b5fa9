import { snapshotStream } from '/work/main/server/src/stream/backup/snapshot-stream.ts';
import { connectNats } from '/work/main/server/src/stream/nats/connect-nats.ts';
import { openLog } from '/work/main/server/src/log.ts';
import { jetstream, jetstreamManager } from '/work/main/node_modules/@nats-io/jetstream/lib/mod.js';
const log=openLog({level:'silent',pretty:false});
const c=await connectNats({url:process.argv[2]!,name:'x',log});
const jsm=await jetstreamManager(c.nc);
const i=await jsm.streams.info('EVENTS-0'); console.log(i.state.first_seq,i.state.last_seq,i.state.messages,i.cluster?.leader);
for (const s of [1,2,3,100,1000,2500,2501,2502,2531]) console.log(s, await jsm.streams.getMessage('EVENTS-0',{seq:s}).then(m=>m?m.data.length:'null',e=>'ERR '+e.message));
try{ let n=0; await snapshotStream(c,'EVENTS-0',{write:async()=>{n++}}); console.log('snapshot ok',n);}catch(e){console.log('snapshot',(e as Error).message)}
process.exit(0)
