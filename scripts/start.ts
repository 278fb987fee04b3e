// `npm start`, as long as there is no region to start.
console.log(`There is no region to start in this version. What there is: the foundation that the services are built on (the document
store, the ARM contract, the service kit, certificates), the embedded Kubernetes, the local Azure, and Maestro.

  npm test                                                                 run everything that shows it works
  npm run aro -- local kubernetes --clusters 3 --data-dir .aro/kubernetes  three clusters for kubectl
  npm run aro -- local azure --data-dir .aro/azure                         a cloud for az and the Azure SDKs
  npm run aro -- --help                                                    what the command line can do
  README.md                                                                what is here`);
