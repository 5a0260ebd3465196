import { defineController } from '../../pkg/controller/index.ts';
import { createSelinuxWarning } from './selinux-warning.ts';

export const selinuxWarning = defineController({
  name: 'selinux-warning-controller',
  onByDefault: false,
  requiredGates: ['SELinuxChangePolicy'],
  create: createSelinuxWarning,
});
