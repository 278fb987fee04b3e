// Backup and restore: all versions of an object in one opaque text that only this cloud can open.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isRecord } from '../../../arm/record.ts';
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Operation } from '../../../store/store.ts';
import { bodyOf, nameOf, type VaultAnswer, type VaultCall, type VaultRoute } from './call.ts';
import { badParameter, conflict } from './errors.ts';
import { demandHead, headToWrite } from './find.ts';
import {
  cloudPartition,
  type HeadBody,
  headId,
  type Objects,
  type ObjectType,
  readHead,
  type Stored,
  type VersionBody,
} from './objects.ts';
import { managedRefusal } from './secrets.ts';
import { bundleOf } from './shapes.ts';

/** As many versions as a batch can bring back. */
const maxVersions = 30;
const restoreSchema = Type.Object({ value: Type.String({ minLength: 1, maxLength: 3_000_000 }) });

export function backupRoutes(type: ObjectType): readonly VaultRoute[] {
  return [
    {
      method: 'POST',
      path: `${type}/{name}/backup`,
      need: { permission: [type, 'backup'], action: `${type}/backup/action` },
      run: (call) => backUp(call, type),
    },
    {
      method: 'POST',
      path: `${type}/restore`,
      need: { permission: [type, 'restore'], action: `${type}/restore/action` },
      run: (call) => restore(call, type),
    },
  ];
}

interface Part {
  readonly head: HeadBody;
  readonly versions: readonly VersionBody[];
}

function typesOf(type: ObjectType): readonly ObjectType[] {
  return type === 'certificates' ? ['certificates', 'keys', 'secrets'] : [type];
}

async function backUp(call: VaultCall, type: ObjectType): Promise<VaultAnswer> {
  const name = nameOf(call);
  const { body } = await demandHead(call, type, name);
  if (body.managed) throw managedRefusal(type.slice(0, -1), name);
  const kept: Part[] = [];
  for (const one of typesOf(type)) {
    const head = await readHead(call.objects, call.vault.name, one, name);
    if (head === undefined) continue;
    const { documents } = await call.objects.query({
      partition: call.vault.name,
      filter: { op: 'eq', field: ['list'], value: headId(one, name) },
      limit: maxVersions + 1,
    });
    if (documents.length > maxVersions)
      throw badParameter(`An object with more than ${maxVersions} versions cannot be backed up here.`);
    const { pending: _pending, value: _value, ...rest } = head.body;
    kept.push({
      head: rest,
      versions: documents.flatMap((document) => (document.body.kind === 'version' ? [document.body] : [])),
    });
  }
  const plain = JSON.stringify({
    type,
    parts: kept.map(({ head, versions }) => ({ head, versions: versions.map(revealed) })),
  });
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', await keyOf(call.objects), iv);
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return { body: { value: Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url') } };
}

function revealed(version: VersionBody) {
  return { ...version, value: version.value?.reveal() };
}

async function restore(call: VaultCall, type: ObjectType): Promise<VaultAnswer> {
  const { value } = bodyOf(call, restoreSchema);
  const content = await open(call.objects, Buffer.from(value, 'base64url'));
  if (content?.type !== type) throw badParameter('Backup blob is malformed, or of another cloud or kind of object.');
  const operations: Operation<Stored>[] = [];
  for (const { head, versions } of content.parts) {
    if ((await headToWrite(call, head.type, head.name)) !== undefined)
      throw conflict(
        `The ${head.type.slice(0, -1)} ${head.name} exists already. Delete and purge it before it is restored.`,
      );
    operations.push({ kind: 'create', id: headId(head.type, head.name), body: head });
    for (const version of versions)
      operations.push({
        kind: 'create',
        id: `${headId(version.type, version.name)}/${version.version}`,
        body: version,
      });
  }
  try {
    await call.objects.batch(call.vault.name, operations);
  } catch (error) {
    if (!isStoreError(error, 'Exists')) throw error;
    throw conflict('Versions of this object, or the object, exist already in this vault.');
  }
  const [part] = content.parts;
  const current = part?.versions.find(({ version }) => version === part.head.current);
  if (part === undefined || current === undefined) throw badParameter('Backup blob is malformed.');
  return { body: bundleOf(call.vault, current, part.head) };
}

async function open(
  objects: Objects,
  bytes: Buffer,
): Promise<{ readonly type: ObjectType; readonly parts: readonly Part[] } | undefined> {
  if (bytes.length < 29) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', await keyOf(objects), bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    const text = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
    const content: unknown = JSON.parse(text);
    if (!isRecord(content)) return undefined;
    const { type, parts } = content as unknown as { type: ObjectType; parts: readonly Part[] };
    return {
      type,
      parts: parts.map(({ head, versions }) => ({
        head,
        versions: versions.map((version) => {
          const { value, ...rest } = version as unknown as Omit<VersionBody, 'value'> & { readonly value?: string };
          return value === undefined ? rest : { ...rest, value: new Secret(value) };
        }),
      })),
    };
  } catch (error) {
    if (isStoreError(error)) throw error;
    // Whatever does not open was not made here.
    return undefined;
  }
}

/** Made at the first use, the same ever after. */
async function keyOf(objects: Objects): Promise<Buffer> {
  const key = { partition: cloudPartition, id: 'backup-key' };
  for (;;) {
    const there = await objects.read(key);
    if (there?.body.kind === 'backupKey') return Buffer.from(there.body.value.reveal(), 'base64');
    try {
      const value = new Secret(randomBytes(32).toString('base64'));
      await objects.create(key, { kind: 'backupKey', list: 'backup', value });
    } catch (error) {
      if (!isStoreError(error, 'Exists')) throw error;
    }
  }
}
