import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIP, type Server } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Records of a name: addresses, names that it is an alias of, texts as `txt:…`, or `silence` and `failure`. The nth question may get its own. */
export type Zone = Record<string, (nth: number) => string[]>;

export type NameServer = AsyncDisposable & { address: string; questions: string[] };

const A = 1;
const CNAME = 5;
const TXT = 16;
const AAAA = 28;
const UDP_BYTES = 1_200;

/** A name server on loopback, over UDP and TCP, that answers from a zone and knows nothing else. */
export async function openNameServer(zone: Zone): Promise<NameServer> {
  const questions: string[] = [];
  const { tcp, udp, port } = await listen((query) => answer(query, { zone, questions }));
  return {
    address: `127.0.0.1:${port}`,
    questions,
    async [Symbol.asyncDispose]() {
      udp.close();
      tcp.close();
    },
  };
}

type Reply = (query: Buffer) => Buffer | undefined;

/** TCP chooses the port; where another process has it for UDP, the next one is tried. */
async function listen(reply: Reply): Promise<{ tcp: Server; udp: Socket; port: number }> {
  for (;;) {
    const tcp = overTcp(reply).listen(0, '127.0.0.1');
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    const udp = overUdp(reply);
    try {
      udp.bind(port, '127.0.0.1');
      await once(udp, 'listening');
      return { tcp, udp, port };
    } catch (error) {
      udp.close();
      tcp.close();
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

function overTcp(reply: Reply): Server {
  return createServer((socket) => {
    socket.on('error', () => undefined).unref();
    socket.on('data', (chunk) => {
      const response = reply(chunk.subarray(2));
      if (response !== undefined) socket.write(Buffer.concat([u16(response.length), response]));
    });
  });
}

function overUdp(reply: Reply): Socket {
  const udp = createSocket('udp4');
  return udp.on('message', (query, from) => {
    const response = reply(query);
    if (response !== undefined)
      udp.send(response.length > UDP_BYTES ? cut(response) : response, from.port, from.address);
  });
}

function answer(query: Buffer, { zone, questions }: { zone: Zone; questions: string[] }): Buffer | undefined {
  const { name, type, end } = readQuestion(query);
  questions.push(`${type === A ? 'A' : 'AAAA'} ${name}`);
  const nth = questions.filter((question) => question === questions.at(-1)).length;
  const values = zone[name]?.(nth);
  if (values?.includes('silence')) return undefined;
  const code = values === undefined ? 3 : values.includes('failure') ? 2 : 0;
  const records = (values ?? [])
    .map((value) => readValue(value))
    .filter((each) => each.type === type || each.type === CNAME);
  // The records that an alias leads to follow it, under their own name.
  let owner = writeName(name);
  const written = records.map((each) => {
    const bytes = Buffer.concat([owner, u16(each.type), u16(1), u16(0), u16(0), u16(each.data.length), each.data]);
    if (each.type === CNAME) owner = each.data;
    return bytes;
  });
  const head = Buffer.concat([query.subarray(0, 2), u16(0x8180 | code), u16(1), u16(written.length), u16(0), u16(0)]);
  return Buffer.concat([head, query.subarray(12, end), ...written]);
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function readValue(value: string): { type: number; data: Buffer } {
  if (value.startsWith('txt:'))
    return { type: TXT, data: Buffer.from(`${String.fromCodePoint(value.length - 4)}${value.slice(4)}`) };
  if (isIP(value) === 0) return { type: CNAME, data: writeName(value) };
  return { type: isIP(value) === 4 ? A : AAAA, data: Buffer.from(ipaddr.parse(value).toByteArray()) };
}

function writeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** The head and the question only, marked as truncated: ask again over TCP. */
function cut(response: Buffer): Buffer {
  const { end } = readQuestion(response);
  const short = Buffer.from(response.subarray(0, end));
  short.writeUInt16BE(short.readUInt16BE(2) | 0x0200, 2);
  short.writeUInt16BE(0, 6);
  return short;
}

function u16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}
