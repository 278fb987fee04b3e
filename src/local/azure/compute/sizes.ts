// VM sizes by name, made of their series.
import { foldCase } from '../../../arm/resource-id.ts';
import { type SizeSeries, sizeSeries } from './size-series.ts';

export interface VmSize {
  /** `Standard_D8s_v3`. */
  readonly name: string;
  /** `D8s_v3`. */
  readonly shortName: string;
  readonly series: SizeSeries;
  readonly vCpus: number;
  readonly memoryGiB: number;
  readonly localDiskMiB: number;
  readonly maxDataDisks: number;
  readonly maxInterfaces: number;
  readonly gpus: number;
}

function sizesOf(series: SizeSeries): readonly VmSize[] {
  return series.sizes.map((size) => {
    const [front, ending] = series.around;
    const vCpus = series.vCpus?.[size] ?? size;
    const shortName = `${front}${size}${ending}`;
    return {
      name: `Standard_${shortName}`,
      shortName,
      series,
      vCpus,
      memoryGiB: Math.round(vCpus * series.memoryGiBPerCpu * 10) / 10,
      localDiskMiB: Math.round(vCpus * (series.localDiskGiBPerCpu ?? 0) * 1024),
      maxDataDisks: Math.min(64, Math.max(4, vCpus * 2)),
      maxInterfaces: vCpus < 4 ? 2 : vCpus < 8 ? 2 : vCpus < 16 ? 4 : 8,
      gpus: series.gpus?.[size] ?? 0,
    };
  });
}

export const vmSizes: readonly VmSize[] = sizeSeries.flatMap(sizesOf).sort((a, b) => (a.name < b.name ? -1 : 1));

const byName = new Map(vmSizes.map((size) => [foldCase(size.name), size]));

/** Any case. */
export function findSize(name: string): VmSize | undefined {
  return byName.get(foldCase(name));
}

/** The families that quota is counted by, each once. */
export const families: readonly { readonly name: string; readonly label: string }[] = [
  ...new Map(
    sizeSeries.map(({ family, familyLabel }) => [foldCase(family), { name: family, label: familyLabel }]),
  ).values(),
];

export function capabilitiesOf(size: VmSize): readonly { readonly name: string; readonly value: string }[] {
  const { series, vCpus } = size;
  const hasLocalDisk = size.localDiskMiB > 0;
  const values: { readonly [name: string]: string | number | boolean } = {
    MaxResourceVolumeMB: size.localDiskMiB,
    OSVhdSizeMB: 1_047_552,
    vCPUs: vCpus,
    MemoryPreservingMaintenanceSupported: true,
    HyperVGenerations: series.hyperVGenerations ?? 'V1,V2',
    SupportedEphemeralOSDiskPlacements: hasLocalDisk ? 'ResourceDisk' : '',
    DiskControllerTypes: series.diskController ?? 'SCSI',
    CpuArchitectureType: series.architecture ?? 'x64',
    MemoryGB: size.memoryGiB,
    MaxDataDiskCount: size.maxDataDisks,
    LowPriorityCapable: true,
    PremiumIO: true,
    VMDeploymentTypes: 'IaaS',
    vCPUsAvailable: vCpus,
    vCPUsPerCore: series.architecture === 'Arm64' ? 1 : 2,
    CombinedTempDiskAndCachedIOPS: vCpus * 500,
    CachedDiskBytes: hasLocalDisk ? vCpus * 25 * 1_073_741_824 : 0,
    UncachedDiskIOPS: vCpus * 1600,
    UncachedDiskBytesPerSecond: vCpus * 24_000_000,
    EphemeralOSDiskSupported: hasLocalDisk,
    EncryptionAtHostSupported: true,
    CapacityReservationSupported: true,
    AcceleratedNetworkingEnabled: vCpus >= 2,
    RdmaEnabled: series.around[1].startsWith('rs'),
    MaxNetworkInterfaces: size.maxInterfaces,
    ...(size.gpus > 0 ? { GPUs: size.gpus } : {}),
    ...(series.diskController === undefined || series.diskController === 'SCSI' ? {} : { UltraSSDAvailable: true }),
  };
  return Object.entries(values)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => ({ name, value: typeof value === 'boolean' ? (value ? 'True' : 'False') : String(value) }));
}
