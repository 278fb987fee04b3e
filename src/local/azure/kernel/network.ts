// Names and addresses of the cloud, and where on this machine they lead.

export type RecordType = 'A' | 'AAAA' | 'CNAME' | 'TXT' | 'NS' | 'SOA' | 'MX' | 'SRV' | 'PTR' | 'CAA';

export interface DnsAnswer {
  readonly name: string;
  readonly type: RecordType;
  readonly ttlSeconds: number;
  /** As in a zone file. */
  readonly data: string;
}

/** Where a connection goes on this machine. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

export interface Network {
  /** A public address that nobody has; the same for the same owner. */
  allocatePublicAddress(owner: string): Promise<string>;
  /** Records of the cloud's zones, CNAMEs followed; `undefined` when no zone of ours covers the name, empty when it has none of the type. */
  resolve(name: string, type: RecordType): Promise<readonly DnsAnswer[] | undefined>;
  /** Says that connections to an address and port of the cloud reach a listener of this machine, until the returned function is called. */
  attach(address: string, port: number, target: Target): () => void;
  /** Where a host name (or address) and port lead: a data plane of the cloud, or what is attached to the address that the zones give. */
  target(host: string, port: number): Promise<Target | undefined>;
}
