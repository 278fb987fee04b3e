// What a DNS question is answered: the zones of the cloud with authority, everything else with a refusal.
import {
  type Answer,
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  type OptAnswer,
  type Packet,
  RECURSION_DESIRED,
  type SoaAnswer,
  TRUNCATED_RESPONSE,
} from 'dns-packet';
import type { DnsAnswer, Network, RecordType } from '../kernel/network.ts';
import { packetAnswer } from './record-data.ts';

/** Of a packet's flags; dns-packet writes it from there. */
const rcode = { none: 0, formatError: 1, serverFailure: 2, noSuchName: 3, notImplemented: 4, refused: 5 } as const;
type Rcode = (typeof rcode)[keyof typeof rcode];

export interface Zones {
  /** `azure.test`: has authority for it even where no zone says so. */
  readonly suffix: string;
  resolve: Network['resolve'];
}

const recordTypes: readonly RecordType[] = ['A', 'AAAA', 'CNAME', 'TXT', 'NS', 'SOA', 'MX', 'SRV', 'PTR', 'CAA'];
const headerBytes = 12;
const smallestUdp = 512;
/** More does not pass every path unharmed. */
const largestUdp = 1232;
const negativeSeconds = 60;

/** The answer to a packet, at most as long as the transport takes; undefined for what deserves none. Never throws. */
export async function answerPacket(
  message: Buffer,
  zones: Zones,
  transport: 'udp' | 'tcp',
): Promise<Buffer | undefined> {
  // Too short for an id to answer to, or an answer itself: answering those could go on for ever.
  if (message.length < headerBytes || ((message[2] ?? 0) & 0x80) !== 0) return undefined;
  let query: Packet;
  try {
    query = decode(message);
  } catch {
    return bareAnswer(message, rcode.formatError);
  }
  try {
    if ((message.readUInt16BE(2) & 0x7800) !== 0) return bareAnswer(message, rcode.notImplemented);
    const [question, ...others] = query.questions ?? [];
    if (!question || others.length > 0) return bareAnswer(message, rcode.formatError);
    const asked = (query.additionals ?? []).find((record): record is OptAnswer => record.type === 'OPT');
    const found = await answersOf(question.name, question.type, question.class ?? 'IN', zones);
    const flags =
      AUTHORITATIVE_ANSWER * (found.authoritative ? 1 : 0) + ((query.flags ?? 0) & RECURSION_DESIRED) + found.code;
    const opt = asked ? [optOf()] : [];
    const packet: Packet = { type: 'response', id: query.id, flags, questions: [question], additionals: opt };
    const whole = encode({ ...packet, answers: found.answers, authorities: found.authorities });
    const limit =
      transport === 'tcp' ? 65_535 : Math.min(largestUdp, Math.max(smallestUdp, asked?.udpPayloadSize ?? smallestUdp));
    return whole.length <= limit ? whole : encode({ ...packet, flags: flags | TRUNCATED_RESPONSE });
  } catch {
    return bareAnswer(message, rcode.serverFailure);
  }
}

interface Found {
  readonly code: Rcode;
  readonly authoritative: boolean;
  readonly answers: Answer[];
  readonly authorities: Answer[];
}

async function answersOf(name: string, type: string, recordClass: string, zones: Zones): Promise<Found> {
  const refused = { code: rcode.refused, authoritative: false, answers: [], authorities: [] };
  if (recordClass !== 'IN') return refused;
  const known = recordTypes.find((one) => one === type);
  const asked = known ?? 'A';
  const found = await zones.resolve(name, asked);
  if (found === undefined || type === 'AXFR' || type === 'IXFR') return refused;
  const answers = known ? present(found) : [];
  if (answers.length > 0) return { code: rcode.none, authoritative: true, answers, authorities: [] };
  const code = found.length > 0 || (await exists(name, asked, zones)) ? rcode.none : rcode.noSuchName;
  return { code, authoritative: true, answers: [], authorities: [await authorityOf(name, zones)] };
}

function present(answers: readonly DnsAnswer[]): Answer[] {
  return answers.map(packetAnswer).filter((answer) => answer !== undefined);
}

/** A name that has records of other types exists all the same. */
async function exists(name: string, asked: RecordType, zones: Zones): Promise<boolean> {
  for (const type of recordTypes) {
    if (type !== asked && ((await zones.resolve(name, type)) ?? []).length > 0) return true;
  }
  return false;
}

/** The SOA of the zone a name is in: it tells how long there being nothing may be remembered. */
async function authorityOf(name: string, zones: Zones): Promise<SoaAnswer> {
  const labels = name.split('.');
  for (let at = 0; at < labels.length; at++) {
    const zone = labels.slice(at).join('.');
    const soa = ((await zones.resolve(zone, 'SOA')) ?? [])
      .map(packetAnswer)
      .find((answer): answer is SoaAnswer => answer?.type === 'SOA' && sameName(answer.name, zone));
    if (soa) return { ...soa, ttl: Math.min(soa.ttl ?? negativeSeconds, soa.data.minimum ?? negativeSeconds) };
  }
  return {
    type: 'SOA',
    name: zones.suffix,
    ttl: negativeSeconds,
    data: {
      mname: `ns.${zones.suffix}`,
      rname: `hostmaster.${zones.suffix}`,
      serial: 1,
      refresh: 3600,
      retry: 300,
      expire: 2_419_200,
      minimum: negativeSeconds,
    },
  };
}

const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

function optOf(): OptAnswer {
  return {
    type: 'OPT',
    name: '.',
    udpPayloadSize: largestUdp,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    options: [],
  } as unknown as OptAnswer;
}

/** A header alone, of the same id, for packets of which no more can be said. */
function bareAnswer(message: Buffer, code: Rcode): Buffer {
  const answer = Buffer.alloc(headerBytes);
  message.copy(answer, 0, 0, 2);
  answer[2] = 0x80 | ((message[2] ?? 0) & 0x79);
  answer[3] = code;
  return answer;
}
