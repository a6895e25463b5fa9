/** `npm start`: the server from the sources. */
import { runServer } from './run-server.ts';

process.exitCode = await runServer();
