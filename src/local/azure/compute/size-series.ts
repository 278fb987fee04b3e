// The series of VM sizes that there are, as data: what the sizes of a series have in common, and how large they come.

export interface SizeSeries {
  /** As the quota is named: `standardDSv3Family`. */
  readonly family: string;
  readonly familyLabel: string;
  /** Around the number: `['D', 's_v3']`. */
  readonly around: readonly [string, string];
  /** The numbers in the names; vCPUs too unless `vCpus` says otherwise. */
  readonly sizes: readonly number[];
  readonly memoryGiBPerCpu: number;
  /** vCPUs by the number in the name, where they differ. */
  readonly vCpus?: { readonly [size: number]: number };
  readonly architecture?: 'x64' | 'Arm64';
  readonly hyperVGenerations?: 'V1' | 'V2' | 'V1,V2';
  /** Gibibytes of local disk for each vCPU; none when left out. */
  readonly localDiskGiBPerCpu?: number;
  readonly gpus?: { readonly [size: number]: number };
  /** Zones in which it is, where there are zones; all when left out. */
  readonly zones?: readonly string[];
  readonly diskController?: 'SCSI' | 'NVMe' | 'SCSI, NVMe';
}

const common = [2, 4, 8, 16, 32, 48, 64] as const;
const commonTo96 = [...common, 96] as const;

function d(letters: string, version: number, sizes: readonly number[], more: Partial<SizeSeries> = {}): SizeSeries {
  return series('D', letters, version, sizes, 4, more);
}

function e(letters: string, version: number, sizes: readonly number[], more: Partial<SizeSeries> = {}): SizeSeries {
  return series('E', letters, version, sizes, 8, more);
}

function series(
  letter: string,
  letters: string,
  version: number,
  sizes: readonly number[],
  memoryGiBPerCpu: number,
  more: Partial<SizeSeries>,
): SizeSeries {
  const name = `${letter}${letters.toUpperCase()}v${version}`;
  return {
    family: `standard${name}Family`,
    familyLabel: `Standard ${name} Family vCPUs`,
    around: [letter, `${letters}_v${version}`],
    sizes,
    memoryGiBPerCpu,
    ...more,
  };
}

const v6 = { hyperVGenerations: 'V2', diskController: 'NVMe' } as const;
const arm = { ...v6, architecture: 'Arm64' } as const;
const local = { localDiskGiBPerCpu: 37.5 } as const;

export const sizeSeries: readonly SizeSeries[] = [
  d('s', 3, common, { localDiskGiBPerCpu: 8 }),
  d('s', 4, common),
  d('s', 5, commonTo96),
  d('ds', 5, commonTo96, local),
  d('as', 4, commonTo96, { localDiskGiBPerCpu: 8 }),
  d('as', 5, commonTo96),
  d('ads', 5, commonTo96, local),
  d('s', 6, [...commonTo96, 128, 192], v6),
  d('ds', 6, [...commonTo96, 128, 192], { ...v6, ...local }),
  d('ls', 6, [...commonTo96, 128], { ...v6, memoryGiBPerCpu: 2 }),
  d('lds', 6, [...commonTo96, 128], { ...v6, ...local, memoryGiBPerCpu: 2 }),
  d('ps', 6, commonTo96, arm),
  d('pds', 6, commonTo96, { ...arm, ...local }),
  d('pls', 6, commonTo96, { ...arm, memoryGiBPerCpu: 2 }),
  d('plds', 6, commonTo96, { ...arm, ...local, memoryGiBPerCpu: 2 }),
  d('ps', 5, common, { architecture: 'Arm64', hyperVGenerations: 'V2' }),
  e('s', 3, [2, 4, 8, 16, 20, 32, 48, 64], { localDiskGiBPerCpu: 16 }),
  {
    ...e('is', 3, [64], { localDiskGiBPerCpu: 16 }),
    family: 'standardESv3Family',
    familyLabel: 'Standard ESv3 Family vCPUs',
  },
  e('s', 4, [2, 4, 8, 16, 20, 32, 48, 64]),
  e('s', 5, [2, 4, 8, 16, 20, 32, 48, 64, 96]),
  e('ds', 5, [2, 4, 8, 16, 20, 32, 48, 64, 96], local),
  e('as', 4, [2, 4, 8, 16, 20, 32, 48, 64, 96], { localDiskGiBPerCpu: 16 }),
  e('as', 5, [2, 4, 8, 16, 20, 32, 48, 64, 96]),
  e('s', 6, [2, 4, 8, 16, 20, 32, 48, 64, 96, 128], v6),
  e('ps', 6, commonTo96, arm),
  e('pds', 6, commonTo96, { ...arm, ...local }),
  e('is', 4, [80], { memoryGiBPerCpu: 6.3 }),
  e('ids', 4, [80], { memoryGiBPerCpu: 6.3, ...local }),
  e('is', 5, [104], { memoryGiBPerCpu: 6.46 }),
  e('ids', 5, [104], { memoryGiBPerCpu: 6.46, ...local }),
  e('is', 6, [192], { ...v6, memoryGiBPerCpu: 9.5 }),
  {
    family: 'standardFSv2Family',
    familyLabel: 'Standard FSv2 Family vCPUs',
    around: ['F', 's_v2'],
    sizes: [2, 4, 8, 16, 32, 48, 64, 72],
    memoryGiBPerCpu: 2,
    localDiskGiBPerCpu: 8,
  },
  {
    family: 'standardMSFamily',
    familyLabel: 'Standard MS Family vCPUs',
    around: ['M', 'ms'],
    sizes: [64, 128],
    memoryGiBPerCpu: 30,
    localDiskGiBPerCpu: 32,
    zones: ['1', '2'],
  },
  l('standardLsv2Family', 'Standard LSv2 Family vCPUs', 's', [4, 8, 16, 32]),
  l('standardLsv2Family', 'Standard LSv2 Family vCPUs', 's_v2', [8, 16, 32, 48, 64, 80]),
  l('standardLsv3Family', 'Standard LSv3 Family vCPUs', 's_v3', [8, 16, 32, 48, 64, 80]),
  { ...l('standardLsv4Family', 'Standard LSv4 Family vCPUs', 's_v4', [2, 4, 8, 16, 32, 48, 64, 80, 96]), ...v6 },
  {
    family: 'Standard NCASv3_T4 Family',
    familyLabel: 'Standard NCASv3_T4 Family vCPUs',
    around: ['NC', 'as_T4_v3'],
    sizes: [4, 8, 16, 64],
    memoryGiBPerCpu: 7,
    gpus: { 4: 1, 8: 1, 16: 1, 64: 4 },
    localDiskGiBPerCpu: 44,
    zones: ['1', '2'],
  },
  ...['s_v3', 'rs_v3'].map((ending) => ({
    family: 'Standard NCSv3 Family',
    familyLabel: 'Standard NCSv3 Family vCPUs',
    around: ['NC', ending] as const,
    sizes: ending === 's_v3' ? [6, 12, 24] : [24],
    memoryGiBPerCpu: 18.7,
    gpus: { 6: 1, 12: 2, 24: 4 },
    localDiskGiBPerCpu: 122,
    zones: ['1', '2'],
  })),
  {
    family: 'StandardNCADSA100v4Family',
    familyLabel: 'Standard NCADS_A100_v4 Family vCPUs',
    around: ['NC', 'ads_A100_v4'],
    sizes: [24, 48, 96],
    memoryGiBPerCpu: 9.17,
    gpus: { 24: 1, 48: 2, 96: 4 },
    localDiskGiBPerCpu: 2.6,
    hyperVGenerations: 'V2',
    zones: ['1'],
  },
  {
    family: 'StandardNCadsH100v5Family',
    familyLabel: 'Standard NCadsH100v5 Family vCPUs',
    around: ['NC', 'ads_H100_v5'],
    sizes: [40],
    memoryGiBPerCpu: 8,
    gpus: { 40: 1 },
    hyperVGenerations: 'V2',
    zones: ['1'],
  },
  {
    family: 'StandardNCadsH100v5Family',
    familyLabel: 'Standard NCadsH100v5 Family vCPUs',
    around: ['NC', 'adis_H100_v5'],
    sizes: [80],
    memoryGiBPerCpu: 8,
    gpus: { 80: 2 },
    hyperVGenerations: 'V2',
    zones: ['1'],
  },
  {
    family: 'standardNDISRH200V5Family',
    familyLabel: 'Standard NDISRH200V5 Family vCPUs',
    around: ['ND', 'isr_H200_v5'],
    sizes: [96],
    memoryGiBPerCpu: 19.27,
    gpus: { 96: 8 },
    hyperVGenerations: 'V2',
    zones: ['1'],
  },
  {
    family: 'standardBSFamily',
    familyLabel: 'Standard BS Family vCPUs',
    around: ['B', 'ms'],
    sizes: [2, 4, 8],
    memoryGiBPerCpu: 4,
    localDiskGiBPerCpu: 8,
  },
  {
    family: 'standardDSv2Family',
    familyLabel: 'Standard DSv2 Family vCPUs',
    around: ['DS', '_v2'],
    sizes: [1, 2, 3, 4, 5],
    memoryGiBPerCpu: 3.5,
    vCpus: { 1: 1, 2: 2, 3: 4, 4: 8, 5: 16 },
    localDiskGiBPerCpu: 7,
  },
];

function l(family: string, familyLabel: string, ending: string, sizes: readonly number[]): SizeSeries {
  return { family, familyLabel, around: ['L', ending], sizes, memoryGiBPerCpu: 8, localDiskGiBPerCpu: 10 };
}
