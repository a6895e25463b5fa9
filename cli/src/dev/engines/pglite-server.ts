/** A program: `node pglite-server DIR PORT` serves the database in DIR until SIGTERM. */
import process from 'node:process';
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

/** The server's pools together stay far below. */
const MAX_CONNECTIONS = 100;

const [dir = '', port = ''] = process.argv.slice(2);
const db = await PGlite.create({ dataDir: dir });
const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: Number(port), maxConnections: MAX_CONNECTIONS });
await server.start();

process.once('SIGTERM', () => {
  void server
    .stop()
    .then(() => db.close())
    .then(() => process.exit(0));
});
