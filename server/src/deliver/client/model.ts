/** The three parts of the client that know each other: a pool, its connections and the POSTs on their way. */
import type { Socket } from 'node:net';
import type { Client, Dispatcher } from 'undici';
import type { Dial, DialTimings } from './dial.ts';
import type { AnswerBudget } from './limit-answer.ts';
import type { Standing } from './pace.ts';
import type { Answer, Post } from './post.ts';
import type { Target } from './read-target.ts';

/** One open socket with undici's parser on it. It carries one POST at a time. */
export type Connection = {
  pool: Pool;
  socket: Socket;
  client: Client;
  handler: Dispatcher.DispatchHandler;
  address: string;
  /** POSTs that were answered over it. */
  uses: number;
  sending: Sending | undefined;
  /** How much may still come in answer to the POST. */
  budget: AnswerBudget;
};

/** The connections of one workspace to one origin. It exists while it has a connection or a POST, and not a moment longer. */
export type Pool = {
  workspaceId: string;
  origin: string;
  /** The last one used is the first one taken, so that those in excess grow old and close. */
  idle: Connection[];
  /** By its last answer; before the first one, as far as the sender of its POSTs knows. */
  standing: Standing;
  /** Connections, and dials that may become one. */
  open: number;
  /** POSTs that are not answered yet. */
  unanswered: number;
  waiting: Sending[];
  /** Places that this pool holds in the line for new connections. */
  inLine: number;
};

/** One POST from its call to its answer. A plain record with every field from the start: there are thousands of them a second. */
export type Sending = {
  post: Post;
  target: Target;
  pool: Pool;
  startedAt: number;
  resolve: (answer: Answer) => void;
  /** Its neighbours in `deadlines.ts`. */
  earlier: Sending | undefined;
  later: Sending | undefined;
  stage: 'waiting' | 'dialing' | 'sent' | 'settled';
  hasRetried: boolean;
  dial: Dial | undefined;
  connection: Connection | undefined;
  /** Only when this POST opened its connection. */
  dialed: DialTimings | undefined;
  address: string | undefined;
  /** 0 until there is one. */
  firstByteAt: number;
  /** 0 until the head of the response is complete. */
  status: number;
  retryAfter: string | undefined;
  /** The response has `Connection: close`. */
  isClosing: boolean;
  /** The kept part of the body; its first piece as it came, as long as there is no other. */
  body: Buffer | undefined;
  bytes: number;
};
