#!/usr/bin/env node
/** The program `millrace`. */
import process from 'node:process';
import { buildProgram } from './program.ts';
import { tellFailure } from './output/failures.ts';

// A reader such as `head` may close the pipe early: then the command ends without an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

try {
  await buildProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = tellFailure(error);
}
