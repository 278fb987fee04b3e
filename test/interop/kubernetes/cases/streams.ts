// Logs, commands and ports of pods that nobody runs.
import { after, type Case, get, plain, post, type Step } from './case.ts';
import { pod, serviceAccount } from './objects.ts';

const container = (name: string) => ({ name, image: 'example.com/main:1' });
const account = post('serviceaccounts', serviceAccount('default'));
const single: readonly Step[] = [account, post('pods', pod('a'))];
const pair: readonly Step[] = [
  account,
  post(
    'pods',
    pod('a', { spec: { containers: [container('left'), container('right')], initContainers: [container('first')] } }),
  ),
];
const upgrade = { 'x-stream-protocol-version': 'v5.channel.k8s.io' };

export const streamCases: readonly Case[] = [
  after(
    'log of a pod on no node, as asked',
    single,
    get('pods/a/log?container=main'),
    get('pods/a/log?follow=true'),
    get('pods/a/log?previous=true'),
    get('pods/a/log?tailLines=5&timestamps=true&limitBytes=10&sinceSeconds=5'),
  ),
  after(
    'log asked for wrongly',
    single,
    get('pods/a/log?tailLines=x'),
    get('pods/a/log?tailLines=-1'),
    get('pods/a/log?limitBytes=0'),
    get('pods/a/log?sinceSeconds=0'),
    get('pods/a/log?sinceTime=zz'),
    get('pods/a/log?sinceSeconds=5&sinceTime=2024-01-01T00:00:00Z'),
    get('pods/a/log?follow=maybe'),
    get('pods/a/log?container=none'),
  ),
  after(
    'log of one of several containers',
    pair,
    get('pods/a/log'),
    get('pods/a/log?container=right'),
    get('pods/a/log?container=none'),
  ),
  after(
    'commands in a pod on no node',
    single,
    post('pods/a/exec?command=ls&stdout=true', undefined, upgrade),
    get('pods/a/exec?command=ls&stdout=true', upgrade),
    get('pods/a/exec?stdout=true', upgrade),
    get('pods/a/exec?command=ls', upgrade),
    get('pods/a/exec?command=ls&stdout=true&container=none', upgrade),
    get('pods/a/attach?stdout=true', upgrade),
    get('pods/a/attach', upgrade),
  ),
  after(
    'commands in one of several containers',
    pair,
    get('pods/a/exec?command=ls&stdout=true', upgrade),
    get('pods/a/attach?stdout=true', upgrade),
  ),
  after(
    'ports of a pod on no node',
    single,
    get('pods/a/portforward', upgrade),
    post('pods/a/portforward', undefined, upgrade),
    post('pods/a/portforward?ports=80', undefined, upgrade),
  ),
  plain(
    'streams of a pod that is not there',
    get('pods/a/log'),
    get('pods/a/exec?command=ls&stdout=true', upgrade),
    get('pods/a/attach?stdout=true', upgrade),
    get('pods/a/portforward', upgrade),
  ),
];
