#!/usr/bin/env node
// Starts the command line. CommonJS and free of types, so that an old Node can parse it far enough to say what it lacks.
const { enableCompileCache } = require('node:module');

if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(
    `aro: needs Node 24 or later, this is ${process.version}. Run it through npm, which brings its own ("npm run aro -- --help"), or install Node 24.\n`,
  );
  process.exit(1);
}

enableCompileCache();
import('../src/cli/main.ts').then((cli) => cli.main(process.argv));
