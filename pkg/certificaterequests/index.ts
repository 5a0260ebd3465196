export * from './conditions.ts';
export * from './content.ts';
export * from './kubelet.ts';
export * from './request.ts';
export * from './sign.ts';
export * from './retries.ts';
