// `npm start`, as long as there is no region to start.
console.log(`There is no service to start in this version: it holds the foundation that the services are built on
(the document store, the ARM contract, the service kit, certificates).

  npm test              run everything that shows it works
  npm run aro -- --help what the command line can do
  README.md             what is here`);
