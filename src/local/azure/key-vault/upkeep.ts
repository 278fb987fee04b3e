// What the agenda of the vaults does when something is due.
import { isStoreError } from '../../../store/errors.ts';
import type { Document } from '../../../store/store.ts';
import type { World } from '../kernel/world.ts';
import { type Agenda, createAgenda } from './agenda.ts';
import { bringOn } from './certificate-renewal.ts';
import { purgeVault } from './deleted-vaults.ts';
import { rotateKey, rotationDue } from './keys.ts';
import { purgeHead } from './lifecycle.ts';
import { type HeadBody, openObjects, readVersion, type Stored } from './objects.ts';
import { vaultOf } from './vault.ts';

const agendas = new WeakMap<World, Agenda>();
const dayMs = 86_400_000;

/** One for each cloud. */
export function agendaOf(world: World): Agenda {
  let agenda = agendas.get(world);
  if (agenda === undefined) {
    agenda = createAgenda(world, (document) => handle(world, document));
    agendas.set(world, agenda);
  }
  return agenda;
}

async function handle(world: World, document: Document<Stored>): Promise<void> {
  const { body } = document;
  if (body.kind === 'deletedVault') return purgeVault(world, body.name);
  if (body.kind !== 'head') return;
  try {
    await handleHead(world, { ...document, body });
  } catch (error) {
    // Somebody changed it meanwhile, and with it when it is due.
    if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
  }
}

async function handleHead(world: World, head: Document<HeadBody>): Promise<void> {
  const objects = await openObjects(world);
  const { partition, body } = head;
  const { dueAt: _dueAt, ...rest } = body;
  if (body.deleted !== undefined) return purgeHead(objects, partition, head);
  const record = await world.resources.named('Microsoft.KeyVault/vaults', partition);
  if (record === undefined) {
    // The vault is deleted and may come back.
    await objects.replace(head, { ...rest, dueAt: world.clock.now() + dayMs });
    return;
  }
  const place = { world, objects, vault: vaultOf(world, record.body) };
  if (body.type === 'certificates') return bringOn(place, head);
  const version =
    body.current === undefined ? undefined : await readVersion(objects, partition, body.type, body.name, body.current);
  const due = version === undefined ? {} : rotationDue(version.body, body.rotation);
  if (due.dueAt !== undefined && due.dueAt <= world.clock.now()) await rotateKey(place, body.name);
  else await objects.replace(head, { ...rest, ...due });
}
