// What one message may be. A limit holds where a message enters (a source's publish is refused, so the source learns of it)
// and where one is built; nothing is dropped in silence further on.

/** All manifests of one bundle as JSON. Agents in use drop a larger bundle without a word, so servers refuse it. */
export const maxManifestBytes = 500 * 1024;

/** One message on gRPC, attributes and data. */
export const maxEventBytes = 4 * 1024 * 1024;

/** One message from the server to a source: a status with the bundle that it is of. */
export const maxDeliveredBytes = 8 * 1024 * 1024;

/** A text in an MQTT property. */
export const maxPropertyBytes = 65_535;

/** Attributes of one event; those that Maestro knows are about fifteen. */
export const maxAttributes = 64;

/** All attributes of one event together, names and values; most of it is the `metadata` extension. */
export const maxAttributesBytes = 512 * 1024;

/** Nesting of JSON. A CustomResourceDefinition inside a ManifestWork inside a bundle stays well below. */
export const maxJsonDepth = 200;

/** Hashes in one request for a resync of status; more go into further requests. */
export const maxStatusHashes = 1000;

/** Entries of a request for a resync of specs: all that one agent has. */
export const maxResourceVersions = 200_000;

/** A request for a resync of status, as JSON: what brokers in use take as one message. */
export const maxStatusResyncBytes = 512 * 1024;
