// Which operation a request is, by method and parameters, and what it needs.
import type { Grant, Need } from './access.ts';
import { copyBlob } from './blob-copy.ts';
import { leaseBlob, setMetadata, setProperties, setTags, setTier } from './blob-properties.ts';
import { getBlob, getBlobProperties, getBlockList, getTags, noSnapshots } from './blob-reads.ts';
import { deleteBlob, putBlob } from './blob-writes.ts';
import { appendBlock, putBlock, putBlockList } from './block-writes.ts';
import { header, type StorageAnswer, type StorageCall } from './call.ts';
import {
  createContainer,
  deleteContainer,
  getAcl,
  leaseContainer,
  setAcl,
  setContainerMetadata,
  showContainer,
} from './containers.ts';
import { storageError } from './errors.ts';
import { listBlobs, listContainers } from './lists.ts';
import { accountInformation, getDelegationKey, getServiceProperties, setServiceProperties } from './service.ts';

export interface StorageOperation {
  readonly need: Need;
  run(call: StorageCall, grant: Grant): Promise<StorageAnswer>;
}

const containers = 'containers';
const blobs = 'containers/blobs';

const service = (action: string, letters: string, run: StorageOperation['run']): StorageOperation => ({
  need: { letters, level: 's', action, data: false },
  run,
});
const container = (
  action: string,
  letters: string,
  run: StorageOperation['run'],
  open?: 'container',
): StorageOperation => ({
  need: { letters, level: 'c', action, data: action.startsWith(blobs), ...(open === undefined ? {} : { open }) },
  run,
});
const blob = (verb: string, letters: string, run: StorageOperation['run'], open?: 'blob'): StorageOperation => ({
  need: { letters, level: 'o', action: `${blobs}/${verb}`, data: true, ...(open === undefined ? {} : { open }) },
  run,
});

type Table = { readonly [key: string]: StorageOperation };

/** By method and `comp`. */
const serviceTable: Table = {
  'GET list': service(`${containers}/read`, 'l', listContainers),
  'GET properties': service('read', 'r', getServiceProperties),
  'PUT properties': service('write', 'w', setServiceProperties),
  'POST userdelegationkey': service('generateUserDelegationKey/action', '', getDelegationKey),
};

const containerTable: Table = {
  'PUT ': container(`${containers}/write`, 'cw', createContainer),
  'GET ': container(`${containers}/read`, 'r', showContainer, 'container'),
  'HEAD ': container(`${containers}/read`, 'r', showContainer, 'container'),
  'GET metadata': container(`${containers}/read`, 'r', showContainer, 'container'),
  'HEAD metadata': container(`${containers}/read`, 'r', showContainer, 'container'),
  'PUT metadata': container(`${containers}/write`, 'w', setContainerMetadata),
  'GET acl': container(`${containers}/getAcl/action`, '', getAcl),
  'HEAD acl': container(`${containers}/getAcl/action`, '', getAcl),
  'PUT acl': container(`${containers}/setAcl/action`, '', setAcl),
  'PUT lease': container(`${containers}/lease/action`, 'wd', leaseContainer),
  'DELETE ': container(`${containers}/delete`, 'd', deleteContainer),
  'GET list': container(`${blobs}/read`, 'l', listBlobs, 'container'),
};

const blobTable: Table = {
  'GET ': blob('read', 'r', (call, { overrides }) => getBlob(call, overrides), 'blob'),
  'HEAD ': blob('read', 'r', getBlobProperties, 'blob'),
  'GET metadata': blob('read', 'r', getBlobProperties, 'blob'),
  'HEAD metadata': blob('read', 'r', getBlobProperties, 'blob'),
  'GET blocklist': blob('read', 'r', getBlockList),
  'GET tags': blob('tags/read', 't', getTags),
  'PUT ': blob('write', 'cw', putBlob),
  'PUT copy': blob('write', 'cw', (call) => copyBlob(call)),
  'PUT block': blob('write', 'w', putBlock),
  'PUT blocklist': blob('write', 'w', putBlockList),
  'PUT appendblock': blob('write', 'aw', appendBlock),
  'PUT metadata': blob('write', 'w', setMetadata),
  'PUT properties': blob('write', 'w', setProperties),
  'PUT tags': blob('tags/write', 't', setTags),
  'PUT tier': blob('write', 'w', setTier),
  'PUT lease': blob('write', 'wd', leaseBlob),
  'PUT snapshot': blob('write', 'cw', async () => {
    throw noSnapshots();
  }),
  'PUT undelete': blob('write', 'w', async () => ({ status: 200 })),
  'DELETE ': blob('delete', 'd', deleteBlob),
};

/** Throws 400 or 405 when there is no such operation. */
export function operationOf(call: StorageCall): StorageOperation {
  const { method, query } = call;
  const comp = (query.comp ?? '').toLowerCase();
  const restype = (query.restype ?? '').toLowerCase();
  if (restype === 'account' && comp === 'properties') {
    return {
      need: { letters: 'rwdlacup', level: call.container === '' ? 's' : 'c', action: 'read', data: false },
      run: accountInformation,
    };
  }
  const isService = call.container === '';
  const isContainer = !isService && call.blob === '' && restype === 'container';
  const isCopy =
    method === 'PUT' &&
    comp === '' &&
    header(call, 'x-ms-copy-source') !== undefined &&
    header(call, 'x-ms-blob-type') === undefined;
  const [table, key] = isService
    ? [serviceTable, `${method} ${comp}`]
    : isContainer
      ? [containerTable, `${method} ${comp}`]
      : [blobTable, isCopy ? 'PUT copy' : `${method} ${comp}`];
  const found = Object.hasOwn(table, key) ? table[key] : undefined;
  if (found !== undefined && (isService || isContainer || call.blob !== ''))
    return isCopy && header(call, 'x-ms-requires-sync') === 'true'
      ? { ...found, run: (one) => copyBlob(one, true) }
      : found;
  throw method === 'GET' || method === 'HEAD'
    ? storageError(400, 'InvalidUri')
    : storageError(405, 'UnsupportedHttpVerb');
}
