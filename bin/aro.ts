#!/usr/bin/env node
// Starts the command line. CommonJS and free of types, so that an old Node can parse it far enough to say what it lacks.
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(
    `aro: needs Node 24 or later, this is ${process.version}. Run it through npm, which brings its own ("npm run aro -- --help"), or install Node 24.\n`,
  );
  process.exit(1);
}

// Beside the packages and not in the shared temporary directory, where another user could have put compiled code.
enableCompileCache(process.env.NODE_COMPILE_CACHE ?? join(__dirname, '..', 'node_modules', '.cache', 'compile'));

// Early releases of Node 24 call type stripping and SQLite experimental on standard error; that is no news to a user.
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning') process.stderr.write(`aro: ${warning.name}: ${warning.message}\n`);
});

import('../src/cli/main.ts').then(
  (cli) => cli.main(process.argv.slice(2)),
  (error) => {
    const missing = error.code === 'ERR_MODULE_NOT_FOUND' ? ' Run "npm ci" to install the packages.' : '';
    process.stderr.write(`aro: cannot start: ${error.message.split('\n')[0]}.${missing}\n`);
    process.exitCode = 1;
  },
);
