import type { Cached, Kind, ValidatingAdmissionPolicy } from '../../pkg/api/index.ts';
import { checkExpression, NotUnderstoodError, type Variables } from './check-expression.ts';
import { dyn, listOf, mapOf, namespaceType, requestType, type Type } from './types.ts';

/** A kind that a policy matches. Undefined: its objects have no type that expressions can use. */
export interface CheckedKind {
  readonly kind: Kind;
  readonly type: Type | undefined;
}

export interface PolicyTypes {
  readonly kinds: readonly CheckedKind[];
  /** Undefined if the policy has parameters of a type that is not known. */
  readonly params: Type | undefined;
}

export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

type Spec = NonNullable<Cached<ValidatingAdmissionPolicy>['spec']>;

/** The warnings about the expressions of a policy, in the order of its fields. */
export function checkPolicy(spec: Spec, types: PolicyTypes): ExpressionWarning[] {
  const environments = types.kinds.map(({ kind, type }) => ({ kind, variables: variablesFor(spec, type, types) }));
  return (spec.validations ?? []).flatMap(({ expression, messageExpression = '' }, index) => {
    const path = `spec.validations[${index}]`;
    const fields = [
      { fieldRef: `${path}.expression`, text: expression },
      ...(messageExpression === '' ? [] : [{ fieldRef: `${path}.messageExpression`, text: messageExpression }]),
    ];
    return fields.flatMap(({ fieldRef, text }) => {
      const problems = environments.flatMap(({ kind, variables }) => {
        const checked = checkExpression(text, variables);
        const problem = checked.isUnderstood ? checked.problem : undefined;
        return problem === undefined ? [] : [`${kind.group}/${kind.version}, Kind=${kind.kind}: ${problem}\n`];
      });
      return problems.length === 0 ? [] : [{ fieldRef, warning: problems.join('\n') }];
    });
  });
}

function variablesFor(spec: Spec, object: Type | undefined, { params }: PolicyTypes): Variables {
  const variables = new Map<string, Type>([
    ['object', object ?? dyn],
    ['oldObject', object ?? dyn],
    ['request', requestType],
    ['namespaceObject', namespaceType],
  ]);
  if (spec.paramKind !== undefined && spec.paramKind !== null) variables.set('params', params ?? dyn);
  const own = new Map<string, Type | 'unknown'>();
  const fieldOf = (name: string): Type | undefined => {
    const type = own.get(name);
    if (type === 'unknown') throw new NotUnderstoodError(`the type of the variable ${name} is not known`);
    return type;
  };
  const composed: Type = { kind: 'object', fieldOf };
  variables.set('variables', composed);
  for (const { name, expression } of spec.variables ?? []) {
    const checked = checkExpression(expression, variables);
    if (!checked.isUnderstood) own.set(name, 'unknown');
    else own.set(name, checked.problem === undefined ? asVariable(checked.type) : dyn);
  }
  return variables;
}

/** Objects lose their fields when they become variables. */
function asVariable(type: Type): Type {
  if (type.kind === 'list') return listOf(asVariable(type.item));
  if (type.kind === 'map') return mapOf(asVariable(type.value));
  return type.kind === 'simple' ? type : dyn;
}
