#!/usr/bin/env node
// The only file of the package that an old Node has to understand: it ends with a sentence instead of a syntax error.
'use strict';

const NEEDED = [22, 19];
const found = process.versions.node.split('.').map(Number);

if (found[0] < NEEDED[0] || (found[0] === NEEDED[0] && found[1] < NEEDED[1])) {
  process.stderr.write(
    'millrace: This is Node ' +
      process.versions.node +
      ', and Millrace needs ' +
      NEEDED.join('.') +
      ' or newer.\n' +
      'Install Node 24 (https://nodejs.org/en/download, or `nvm install 24`) and run the command again.\n',
  );
  process.exitCode = 1;
} else {
  // Compiled code is kept between runs: a short command takes half the time.
  require('node:module').enableCompileCache();
  void import('../dist/fill-in.js').then(function () {
    return import('../dist/main.js');
  });
}
