// Environment variables as files to source.

type Variables = { readonly [name: string]: string };

/** For sh and all that read its language. */
export function shellVariables(variables: Variables): string {
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'`);
  return `${lines.join('\n')}\n`;
}

/** Windows does not tell `NO_PROXY` from `no_proxy`; setting both to the same value does no harm. */
export function powerShellVariables(variables: Variables): string {
  const lines = Object.entries(variables).map(([name, value]) => `$Env:${name} = '${value.replaceAll("'", "''")}'`);
  return `${lines.join('\r\n')}\r\n`;
}
