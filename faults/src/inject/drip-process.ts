/** Opens many slow sockets from a process of its own, so that the effort of doing so is not taken for the server's. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type DripOrder = { port: number; sockets: number; lengthMs: number };
export type DripReport = {
  opened: number;
  timedOut: number;
  closedOtherwise: number;
  longestMs: number;
  mostOpen: number;
};

const HEAD = 'POST /v1/batch HTTP/1.1\r\nHost: slow.example\r\nX-Drip: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
const BYTE_EVERY_MS = 1_000;
const RAMP_MS = 2_000;

process.once('message', (order: DripOrder) => {
  void drip(order).then((report) => process.send?.(report, () => process.exit(0)));
});

/** Each socket that the server closes is replaced, until the time is over. */
async function drip({ port, sockets, lengthMs }: DripOrder): Promise<DripReport> {
  const report: DripReport = { opened: 0, timedOut: 0, closedOtherwise: 0, longestMs: 0, mostOpen: 0 };
  const stopAt = performance.now() + RAMP_MS + lengthMs;
  let open = 0;

  async function keepOne(delayMs: number): Promise<void> {
    await sleep(delayMs);
    while (performance.now() < stopAt) {
      open += 1;
      report.opened += 1;
      report.mostOpen = Math.max(report.mostOpen, open);
      const { tookMs, isTimeout } = await dripOnce(port);
      open -= 1;
      report.longestMs = Math.max(report.longestMs, Math.round(tookMs));
      if (isTimeout) report.timedOut += 1;
      else report.closedOtherwise += 1;
    }
  }

  await Promise.all(Array.from({ length: sockets }, (_, i) => keepOne((i / sockets) * RAMP_MS)));
  return report;
}

function dripOnce(port: number): Promise<{ tookMs: number; isTimeout: boolean }> {
  return new Promise((resolve) => {
    let openedAt = performance.now();
    let sent = 0;
    let answer = '';
    const dripByte = () => {
      socket.write(HEAD.charAt(sent) || 'a');
      sent += 1;
    };
    const dripping = setInterval(dripByte, BYTE_EVERY_MS);
    const socket = connect(port, '127.0.0.1', () => {
      openedAt = performance.now();
      dripByte();
    });
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearInterval(dripping);
      resolve({ tookMs: performance.now() - openedAt, isTimeout: answer.startsWith('HTTP/1.1 408') });
    });
  });
}
