#!/usr/bin/env node
/** The program `millrace`. */
import process from 'node:process';
import { buildProgram } from './program.ts';
import { tellFailure } from './output/failures.ts';

try {
  await buildProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = tellFailure(error);
}
