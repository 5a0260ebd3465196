import { defineController } from '../../pkg/controller/index.ts';
import { createPodCertificateRequestCleaner } from './pod-certificate-request-cleaner.ts';

export const podCertificateRequestCleaner = defineController({
  name: 'podcertificaterequest-cleaner-controller',
  requiredGates: ['PodCertificateRequest'],
  create: createPodCertificateRequestCleaner,
});
