// The agent's way to the server, whichever it is.
import type { Message } from '../protocol/messages.ts';

export interface AgentLink {
  /** Connected and subscribed. */
  connected(): boolean;
  /** Of one message, as far as the other side has said. */
  maxMessageBytes(): number;
  /**
   * Settles when the other side, or its broker, has it. Rejects with {@link RefusedError} for what would be refused again, with
   * another error when it may be tried again.
   */
  send(message: Message): Promise<void>;
  stop(): Promise<void>;
}

/** What a link tells. None of them throws. */
export interface LinkEvents {
  /** Connected and subscribed, for the first time or again: what happens from now on is received. */
  readonly onConnected: () => void;
  /** A message is acknowledged when this returns. */
  readonly onMessage: (message: Message) => void;
  /** Something was received that is not a message; a bounded set of codes. */
  readonly onRefused: (code: string) => void;
}

export class RefusedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RefusedError';
  }
}
