// Containers of an account.
import { isStoreError } from '../../../store/errors.ts';
import type { Document, Operation } from '../../../store/store.ts';
import { header, metadataHeaders, metadataOf, type StorageAnswer, type StorageCall, smallBody } from './call.ts';
import { checkConditions } from './conditions.ts';
import type { Contents, Piece } from './contents.ts';
import {
  type AccessRule,
  type ContainerBody,
  containerId,
  type Documents,
  demandContainer,
  isContainerName,
  newEtag,
  readContainer,
  type StorageBody,
} from './documents.ts';
import { storageError } from './errors.ts';
import { changeLease, checkLease, leaseHeaders, stateHeaders } from './leases.ts';
import { declaration, element, field, readXml, textOf } from './xml.ts';

export async function createContainer(call: StorageCall): Promise<StorageAnswer> {
  const metadata = metadataOf(call);
  const body = await makeContainer(call.documents, call.account.name, call.container, call.world.clock.now(), {
    ...(metadata === undefined ? {} : { metadata }),
    ...publicAccessOf(call),
  });
  if (body === undefined) throw storageError(409, 'ContainerAlreadyExists');
  return { status: 201, headers: stateHeaders(body) };
}

/** Undefined when there is one already. */
export async function makeContainer(
  documents: Documents,
  account: string,
  name: string,
  now: number,
  more: Pick<ContainerBody, 'metadata' | 'publicAccess'> = {},
): Promise<ContainerBody | undefined> {
  if (!isContainerName(name)) throw storageError(400, 'InvalidResourceName');
  const body: ContainerBody = {
    kind: 'container',
    sort: `containers/${name}`,
    name,
    modified: now,
    etag: newEtag(now),
    ...more,
  };
  try {
    await documents.create({ partition: account, id: containerId(name) }, body);
    return body;
  } catch (error) {
    if (isStoreError(error, 'Exists')) return undefined;
    throw error;
  }
}

function publicAccessOf(call: StorageCall): Pick<ContainerBody, 'publicAccess'> {
  const asked = header(call, 'x-ms-blob-public-access');
  if (asked === undefined || asked === '') return {};
  if (asked !== 'blob' && asked !== 'container') throw storageError(400, 'InvalidHeaderValue');
  if (!call.account.allowsPublic) throw storageError(409, 'PublicAccessNotPermitted');
  return { publicAccess: asked };
}

export async function showContainer(call: StorageCall): Promise<StorageAnswer> {
  const { body } = await demand(call);
  checkLease(call, body.lease, 'Container', false);
  return {
    status: 200,
    headers: {
      ...stateHeaders(body),
      ...metadataHeaders(body.metadata),
      ...leaseHeaders(body.lease, call.world.clock.now()),
      ...(body.publicAccess === undefined ? {} : { 'x-ms-blob-public-access': body.publicAccess }),
      'x-ms-has-immutability-policy': 'false',
      'x-ms-has-legal-hold': 'false',
      'x-ms-default-encryption-scope': '$account-encryption-key',
      'x-ms-deny-encryption-scope-override': 'false',
    },
  };
}

function demand({ documents, account, container }: StorageCall): Promise<Document<ContainerBody>> {
  return demandContainer(documents, account.name, container);
}

async function change(
  call: StorageCall,
  make: (body: ContainerBody) => ContainerBody,
  isLeaseFree = false,
): Promise<ContainerBody> {
  const { documents, world } = call;
  for (;;) {
    const found = await demand(call);
    checkConditions(call, found.body, false);
    if (!isLeaseFree) checkLease(call, found.body.lease, 'Container', false);
    const now = world.clock.now();
    const next = { ...make(found.body), modified: now, etag: newEtag(now) };
    try {
      await documents.replace(found, next);
      return next;
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
    }
  }
}

export async function setContainerMetadata(call: StorageCall): Promise<StorageAnswer> {
  const metadata = metadataOf(call);
  const next = await change(call, ({ metadata: _before, ...rest }) => ({
    ...rest,
    ...(metadata === undefined ? {} : { metadata }),
  }));
  return { status: 200, headers: stateHeaders(next) };
}

export async function leaseContainer(call: StorageCall): Promise<StorageAnswer> {
  for (;;) {
    const found = await demand(call);
    checkConditions(call, found.body, false);
    const { lease, answer } = changeLease(call, found.body.lease);
    const { lease: _before, ...rest } = found.body;
    try {
      await call.documents.replace(found, lease === undefined ? rest : { ...rest, lease });
      return { ...answer, headers: { ...stateHeaders(found.body), ...answer.headers } };
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
    }
  }
}

export async function getAcl(call: StorageCall): Promise<StorageAnswer> {
  const { body } = await demand(call);
  const rules = (body.rules ?? []).map(({ id, start, expiry, permissions }) =>
    element('SignedIdentifier', [
      field('Id', id),
      element('AccessPolicy', [field('Start', start), field('Expiry', expiry), field('Permission', permissions)]),
    ]),
  );
  return {
    status: 200,
    headers: {
      ...stateHeaders(body),
      ...(body.publicAccess === undefined ? {} : { 'x-ms-blob-public-access': body.publicAccess }),
    },
    body: `${declaration}${element('SignedIdentifiers', rules)}`,
  };
}

export async function setAcl(call: StorageCall): Promise<StorageAnswer> {
  const text = (await smallBody(call, 64 * 1024)).toString('utf8');
  const root = text.trim() === '' ? undefined : readXml(text);
  if (text.trim() !== '' && root?.name !== 'SignedIdentifiers') throw storageError(400, 'InvalidXmlDocument');
  const rules: AccessRule[] = (root?.children ?? []).map((node) => {
    const id = textOf(node, 'Id') ?? '';
    const policy = node.children.find(({ name }) => name === 'AccessPolicy');
    const [start, expiry, permissions] = ['Start', 'Expiry', 'Permission'].map((name) => textOf(policy, name));
    if (id === '' || id.length > 64) throw storageError(400, 'InvalidXmlDocument');
    return {
      id,
      ...(start === undefined || start === '' ? {} : { start }),
      ...(expiry === undefined || expiry === '' ? {} : { expiry }),
      ...(permissions === undefined ? {} : { permissions }),
    };
  });
  if (rules.length > 5) throw storageError(400, 'InvalidXmlDocument');
  const open = publicAccessOf(call);
  const next = await change(call, ({ publicAccess: _open, rules: _rules, ...rest }) => ({ ...rest, ...open, rules }));
  return { status: 200, headers: stateHeaders(next) };
}

export async function deleteContainer(call: StorageCall): Promise<StorageAnswer> {
  const { documents, contents, account, container } = call;
  const found = await demand(call);
  checkConditions(call, found.body, false);
  checkLease(call, found.body.lease, 'Container', true);
  await dropContainer(documents, contents, account.name, container);
  return { status: 202 };
}

const batchMax = 90;

/** First the container, so that nothing new comes into it, then what was in it. */
export async function dropContainer(
  documents: Documents,
  contents: Contents,
  account: string,
  container: string,
): Promise<void> {
  const found = await readContainer(documents, account, container);
  if (found !== undefined) {
    try {
      await documents.delete(found);
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
    }
  }
  for (const prefix of [`${container}/`, `uncommitted/${container}/`])
    await dropAll(documents, contents, account, prefix);
}

export async function dropAll(
  documents: Documents,
  contents: Contents,
  account: string,
  prefix: string,
): Promise<void> {
  for (;;) {
    const page = await documents.query({
      partition: account,
      filter: { op: 'prefix', field: ['sort'], value: prefix },
      limit: batchMax,
    });
    if (page.documents.length === 0) return;
    const operations = page.documents.map((version): Operation<StorageBody> => ({ kind: 'delete', version }));
    try {
      await documents.batch(account, operations);
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
      continue;
    }
    await contents.remove(page.documents.flatMap(({ body }) => piecesOf(body)));
  }
}

export function piecesOf(body: StorageBody): readonly Piece[] {
  return body.kind === 'blob' ? body.pieces : body.kind === 'block' ? [body.piece] : [];
}
