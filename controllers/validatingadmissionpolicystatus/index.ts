import { defineController } from '../../pkg/controller/index.ts';
import { atLeast, flag } from '../../pkg/flags/index.ts';
import { createPolicyStatusController } from './policy-status.ts';

export const policyStatus = defineController({
  name: 'validatingadmissionpolicy-status-controller',
  flags: {
    'concurrent-validating-admission-policy-status-syncs': flag('int32', {
      default: 5,
      check: atLeast(1),
      config: 'ValidatingAdmissionPolicyStatusController.ConcurrentPolicySyncs',
      help: 'ValidatingAdmissionPolicies that may sync at the same time',
    }),
  },
  create: (context, options) =>
    createPolicyStatusController(context, {
      workers: options['concurrent-validating-admission-policy-status-syncs'],
    }),
});
