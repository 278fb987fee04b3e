// What a case of kubectl commands is, and the short forms that cases are written in.
//
// In arguments, input and files `$NS` stands for the case's own namespace, which is also the default one of its commands.
import type { JsonMap } from '../cases/case.ts';

/** One command. Its exit code and what it prints are compared. */
export interface Command {
  /** Arguments of kubectl, separated by spaces; single quotes hold together what has spaces in it. */
  readonly run: string;
  readonly input?: string;
  /** What KUBE_EDITOR does to the file it is given: the program and its first arguments. */
  readonly editor?: string;
  /** Commands that are run meanwhile, once the first line is there; the command is ended when it has printed so many lines. */
  readonly meanwhile?: readonly string[];
  readonly lines?: number;
  /** Whether it is run again until it succeeds: some things take a server a while to publish. */
  readonly patient?: boolean;
  /** What is made of the output before it is compared. */
  readonly form?: Form;
}

/**
 * `outline` keeps names and types of fields, as descriptions are prose that is not repeated here; `sorted` puts lines in order where the
 * server's own is by chance.
 */
export type Form = 'outline' | 'sorted';

export interface KubectlCase {
  /** Names the case, and its namespace, among all. */
  readonly name: string;
  /** Files in the directory that commands run in. Objects are written as JSON. */
  readonly files: Readonly<Record<string, string | JsonMap | readonly JsonMap[]>>;
  readonly commands: readonly Command[];
}

type Written = string | Command;

const command = (written: Written): Command => (typeof written === 'string' ? { run: written } : written);

export const withFiles = (name: string, files: KubectlCase['files'], ...commands: readonly Written[]): KubectlCase => ({
  name,
  files,
  commands: commands.map(command),
});

export const plain = (name: string, ...commands: readonly Written[]): KubectlCase => withFiles(name, {}, ...commands);

export const fed = (run: string, input: string): Command => ({ run, input });
export const outline = (run: string): Command => ({ run, form: 'outline' });
export const patient = (command: Command): Command => ({ ...command, patient: true });
export const sorted = (run: string): Command => ({ run, form: 'sorted' });
export const edited = (run: string, editor: string): Command => ({ run, editor });
export const watched = (run: string, lines: number, ...meanwhile: readonly string[]): Command => ({
  run,
  lines,
  meanwhile,
});
