// The settings of servers that can be changed here: a choice of PostgreSQL's.

export interface ServerSetting {
  readonly defaultValue: string;
  readonly dataType: 'Boolean' | 'Integer' | 'Enumeration' | 'Set' | 'String';
  readonly description: string;
  readonly allowed: RegExp;
  /** Takes effect without a restart. */
  readonly dynamic: boolean;
}

const onOff = (defaultValue: 'on' | 'off', description: string): ServerSetting => ({
  defaultValue,
  dataType: 'Boolean',
  description,
  allowed: /^(?:on|off)$/i,
  dynamic: true,
});
const whole = (defaultValue: string, description: string, dynamic = true): ServerSetting => ({
  defaultValue,
  dataType: 'Integer',
  description,
  allowed: /^-?\d{1,15}$/,
  dynamic,
});
const list = (description: string, dynamic: boolean): ServerSetting => ({
  defaultValue: '',
  dataType: 'Set',
  description,
  allowed: /^[\w-]*(?:,[\w-]+)*$/,
  dynamic,
});

export const serverSettings: { readonly [name: string]: ServerSetting } = {
  'azure.extensions': list('Extensions that may be created.', true),
  shared_preload_libraries: list('Libraries loaded at the start.', false),
  require_secure_transport: onOff('on', 'Whether connections must use TLS.'),
  log_connections: onOff('on', 'Logs every connection.'),
  log_disconnections: onOff('on', 'Logs the end of every session.'),
  log_checkpoints: onOff('on', 'Logs every checkpoint.'),
  'pgbouncer.enabled': {
    ...onOff('off', 'A pooler in front of the server.'),
    defaultValue: 'false',
    allowed: /^(?:true|false)$/i,
  },
  max_connections: whole('859', 'The most connections at once.', false),
  log_min_duration_statement: whole('-1', 'Logs statements that take at least this many milliseconds.'),
  statement_timeout: whole('0', 'The longest a statement may take, in milliseconds.'),
  idle_in_transaction_session_timeout: whole('0', 'The longest a transaction may be idle, in milliseconds.'),
  work_mem: whole('4096', 'Memory for sorts and hashes, in kilobytes.'),
  wal_level: {
    defaultValue: 'replica',
    dataType: 'Enumeration',
    description: 'How much is written to the log.',
    allowed: /^(?:replica|logical)$/,
    dynamic: false,
  },
  timezone: {
    defaultValue: 'UTC',
    dataType: 'String',
    description: 'The time zone.',
    allowed: /^[\w/+-]{1,64}$/,
    dynamic: true,
  },
};
