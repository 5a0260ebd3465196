import {
  compileSelector,
  type Container,
  type LabelSelector,
  type PodSpec,
  type PodTemplateSpec,
} from '../../api/index.ts';
import type { FieldError } from '../failure.ts';
import { validatePort } from './ports.ts';
import { validateLabelSelector } from './label-selectors.ts';
import { validateLabels } from './metadata.ts';
import { labelProblem } from './names.ts';
import { invalidValue, notNegative, required, unsupported } from './rules.ts';

export function validatePodSpec(spec: PodSpec, path: string): FieldError[] {
  const errors = validateContainers(spec, path);
  const { restartPolicy = '', dnsPolicy = '', volumes = [] } = spec;
  const policies = ['Always', 'OnFailure', 'Never'];
  if (!policies.includes(restartPolicy)) errors.push(unsupported(`${path}.restartPolicy`, restartPolicy, policies));
  const dns = ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'];
  if (!dns.includes(dnsPolicy)) errors.push(unsupported(`${path}.dnsPolicy`, dnsPolicy, dns));
  errors.push(...notNegative(`${path}.terminationGracePeriodSeconds`, spec.terminationGracePeriodSeconds));
  const names = new Set<string>();
  for (const [index, { name }] of volumes.entries()) {
    const field = `${path}.volumes[${index}].name`;
    const problem = labelProblem(name);
    if (problem !== undefined) errors.push(name === '' ? required(field) : invalidValue(field, name, problem));
    else if (names.has(name)) errors.push({ type: 'Duplicate', field, value: name, detail: '' });
    names.add(name);
  }
  for (const [list, items] of Object.entries(containerLists(spec))) {
    for (const [index, container] of items.entries()) {
      errors.push(...validateMounts(container, `${path}.${list}[${index}].volumeMounts`, names));
    }
  }
  return errors;
}

function containerLists({ initContainers = [], containers }: PodSpec): Record<string, readonly Container[]> {
  return { initContainers, containers };
}

function validateMounts({ volumeMounts = [] }: Container, path: string, volumes: ReadonlySet<string>): FieldError[] {
  const seen = new Set<string>();
  return volumeMounts.flatMap(({ name, mountPath }, index) => {
    const errors: FieldError[] = [];
    if (!volumes.has(name)) errors.push({ type: 'NotFound', field: `${path}[${index}].name`, value: name, detail: '' });
    if (seen.has(mountPath)) errors.push(invalidValue(`${path}[${index}].mountPath`, mountPath, 'must be unique'));
    seen.add(mountPath);
    return errors;
  });
}

function validateContainers(spec: PodSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { containers } = spec;
  if (containers.length === 0) return [required(`${path}.containers`)];
  const seen = new Set<string>();
  for (const [list, items] of Object.entries(containerLists(spec))) {
    for (const [index, { name, image = '', ports = [], imagePullPolicy }] of items.entries()) {
      const field = `${path}.${list}[${index}]`;
      const problem = labelProblem(name);
      if (name === '') errors.push(required(`${field}.name`));
      else if (problem !== undefined) errors.push(invalidValue(`${field}.name`, name, problem));
      else if (seen.has(name)) errors.push({ type: 'Duplicate', field: `${field}.name`, value: name, detail: '' });
      seen.add(name);
      if (image === '') errors.push(required(`${field}.image`));
      const pull = ['Always', 'IfNotPresent', 'Never'];
      if (!pull.includes(imagePullPolicy ?? '')) {
        errors.push(unsupported(`${field}.imagePullPolicy`, imagePullPolicy, pull));
      }
      for (const [portIndex, port] of ports.entries()) {
        const place = `${field}.ports[${portIndex}].containerPort`;
        errors.push(...(port.containerPort === 0 ? [required(place)] : validatePort(port.containerPort, place)));
      }
    }
  }
  return errors;
}

/** The kind in messages about the template. A Deployment shares the messages of a ReplicaSet. */
type TemplateOwner = 'ReplicaSet' | 'DaemonSet' | 'StatefulSet' | 'ReplicationController';

const path = 'spec.template';

/** Validates a template whose pods a controller keeps running. */
export function validateTemplate(
  template: PodTemplateSpec,
  selector: LabelSelector | undefined,
  owner: TemplateOwner = 'ReplicaSet',
): FieldError[] {
  const errors = validateSelectedTemplate(template, selector, owner);
  if (template.spec === undefined) return [...errors, required(`${path}.spec.containers`)];
  const { restartPolicy, activeDeadlineSeconds } = template.spec;
  if (restartPolicy !== undefined && restartPolicy !== 'Always') {
    errors.push(unsupported(`${path}.spec.restartPolicy`, restartPolicy, ['Always']));
  }
  if (activeDeadlineSeconds !== undefined) {
    const detail = `activeDeadlineSeconds in ${owner} is not Supported`;
    errors.push({ type: 'Forbidden', field: `${path}.spec.activeDeadlineSeconds`, detail });
  }
  return [...errors, ...validatePodSpec(template.spec, `${path}.spec`)];
}

function validateSelectedTemplate(
  template: PodTemplateSpec,
  selector: LabelSelector | undefined,
  owner: TemplateOwner,
): FieldError[] {
  if (selector === undefined) return [required('spec.selector')];
  const isEmpty = Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;
  if (isEmpty) {
    const kind = owner === 'ReplicaSet' ? 'deployment' : owner.toLowerCase();
    return [invalidValue('spec.selector', selector, `empty selector is invalid for ${kind}`)];
  }
  const problems = validateLabelSelector(selector, 'spec.selector');
  if (problems.length > 0) return problems;
  const labels = template.metadata?.labels;
  if (compileSelector(selector)(labels)) return validateLabels(labels, `${path}.labels`);
  const detail = '`selector` does not match template `labels`';
  return [invalidValue(`${path}.metadata.labels`, labels ?? null, detail)];
}
