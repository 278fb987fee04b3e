// Admission by policies in CEL: what they refuse and how.
import type { Case } from './case.ts';

export const admissionCases: readonly Case[] = [];
