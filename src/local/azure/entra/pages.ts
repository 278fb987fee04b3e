// The pages that people see: plain HTML that works without scripts, styles from within, nothing from elsewhere.
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

export interface Page {
  readonly title: string;
  /** HTML; every value in it has been through {@link escapeHtml}. */
  readonly main: string;
  readonly status?: number;
  /** Origins that a form of the page may lead to beside this one: browsers hold redirects after a form to them as well. */
  readonly formTargets?: readonly string[];
  readonly script?: string;
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: Canvas; color: CanvasText; }
main { width: min(26rem, calc(100vw - 3rem)); padding: 1.5rem; border: 1px solid GrayText; border-radius: .5rem; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; }
label { display: block; margin-top: 1rem; font-weight: 600; }
input { box-sizing: border-box; width: 100%; padding: .6rem; font: inherit; border: 1px solid GrayText; border-radius: .25rem; }
button { margin-top: 1.25rem; padding: .6rem 1.4rem; font: inherit; border: 1px solid; border-radius: .25rem; cursor: pointer; }
button.first { background: #0b5cad; border-color: #0b5cad; color: #fff; }
:focus-visible { outline: 3px solid #d97706; outline-offset: 2px; }
.error { border-left: 4px solid #b91c1c; padding-left: .75rem; }
code { overflow-wrap: anywhere; }
`;
const styleHash = sha256(style);

function sha256(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  const targets = ["'self'", ...(page.formTargets ?? [])].join(' ');
  const script = page.script === undefined ? '' : `<script>${page.script}</script>`;
  const scripts = page.script === undefined ? '' : ` script-src ${sha256(page.script)};`;
  return (
    reply
      .code(page.status ?? 200)
      .header(
        'content-security-policy',
        `default-src 'none'; style-src ${styleHash};${scripts} form-action ${targets}; frame-ancestors 'none'; base-uri 'none'`,
      )
      .header('x-frame-options', 'DENY')
      .header('x-content-type-options', 'nosniff')
      // Forms of the page name it as their origin, which is checked; others learn nothing.
      .header('referrer-policy', 'same-origin')
      .header('cache-control', 'no-store')
      .header('cross-origin-opener-policy', 'same-origin')
      .type('text/html; charset=utf-8')
      .send(
        `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
          `<title>${escapeHtml(page.title)}</title><style>${style}</style></head>` +
          `<body><main><h1>${escapeHtml(page.title)}</h1>${page.main}</main>${script}</body></html>`,
      )
  );
}

export interface SignInFields {
  readonly action: string;
  /** What is sealed for the next request. */
  readonly flow: string;
  readonly application: string;
  readonly name?: string;
  readonly problem?: string;
  /** Offers to refuse. */
  readonly decline?: boolean;
}

export function signInForm(fields: SignInFields): string {
  const problem =
    fields.problem === undefined ? '' : `<p class="error" id="problem" role="alert">${escapeHtml(fields.problem)}</p>`;
  const described = fields.problem === undefined ? '' : ' aria-describedby="problem" aria-invalid="true"';
  const name = escapeHtml(fields.name ?? '');
  const focusName = name === '' ? ' autofocus' : '';
  const focusPassword = name === '' ? '' : ' autofocus';
  const decline = fields.decline
    ? ' <button type="submit" name="decision" value="decline" formnovalidate>This was not me</button>'
    : '';
  return (
    `<p>to continue to <strong>${escapeHtml(fields.application)}</strong></p>${problem}` +
    `<form method="post" action="${escapeHtml(fields.action)}">` +
    `<input type="hidden" name="flow" value="${escapeHtml(fields.flow)}">` +
    `<label for="name">User name</label><input id="name" name="username" type="text" inputmode="email" required maxlength="256"` +
    ` autocomplete="username" autocapitalize="none" spellcheck="false" value="${name}"${focusName}${described}>` +
    `<label for="password">Password</label><input id="password" name="password" type="password" required maxlength="256"` +
    ` autocomplete="current-password"${focusPassword}${described}>` +
    `<button class="first" type="submit" name="decision" value="sign-in">Sign in</button>${decline}</form>`
  );
}

export function message(text: string): string {
  return `<p>${escapeHtml(text)}</p>`;
}
