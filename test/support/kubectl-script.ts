/** The sandbox has the fields of built-in kinds, but not all of their descriptions. */
const withoutProse = `grep -E '^[A-Z]+:|\t<|enum:'`;

/**
 * A morning with kubectl, as lines for a shell. Each is shown with its output. Together they leave the namespace
 * `default` as it was.
 */
export const kubectlScript: readonly string[] = [
  // Discovery
  'kubectl api-resources --api-group=apps',
  'kubectl api-resources --api-group=batch -o wide',
  'kubectl api-resources --api-group="" --no-headers | grep -v componentstatuses',
  `kubectl explain deployment | ${withoutProse}`,
  `kubectl explain deployment.spec.replicas | ${withoutProse}`,
  `kubectl explain pods.spec.containers.ports | ${withoutProse}`,
  `kubectl explain cronjob.spec --recursive | ${withoutProse} | grep -v fieldsV1`,
  'kubectl explain pod.nonsense',
  'kubectl get nodes',
  'kubectl get namespaces',

  // A Deployment, and ways to show it
  'kubectl apply -f web.yaml',
  'kubectl rollout status deployment/web --timeout=5m',
  'kubectl get deployments',
  'kubectl get deployments,services -o wide',
  'kubectl get pods',
  'kubectl get pods -o wide --show-labels',
  'kubectl get pods -o name',
  'kubectl get pods --no-headers --sort-by=.metadata.name -L app',
  `kubectl get pods -o jsonpath='{.items[*].status.phase}'`,
  `kubectl get pods -o custom-columns='IMAGE:.spec.containers[0].image,READY:.status.containerStatuses[0].ready'`,
  `kubectl get pods --field-selector=status.phase=Running -l 'app in (web)' -o name`,
  'kubectl get all',
  'kubectl get deployment web -o yaml',
  'kubectl get pods -o yaml',
  'kubectl get replicasets -o yaml',
  'kubectl get service web -o yaml',
  'kubectl get endpointslices -l kubernetes.io/service-name=web -o yaml',
  'kubectl get endpoints web',
  'kubectl describe deployment web',
  'kubectl describe pods',
  'kubectl describe replicasets',
  'kubectl describe service web',

  // Changing it
  'kubectl diff -f web-2.yaml | grep -v /tmp',
  'kubectl apply -f web.yaml',
  'kubectl apply --dry-run=server -f web-2.yaml',
  'kubectl apply -f web-2.yaml',
  'kubectl rollout status deployment/web --timeout=5m',
  'kubectl rollout history deployment/web',
  'kubectl rollout history deployment/web --revision=2',
  'kubectl rollout undo deployment/web',
  'kubectl rollout status deployment/web --timeout=5m',
  'kubectl rollout restart deployment/web',
  'kubectl rollout status deployment/web --timeout=5m',
  'kubectl rollout pause deployment/web',
  'kubectl rollout pause deployment/web',
  'kubectl rollout resume deployment/web',
  'kubectl set image deployment/web web=example.com/web:3',
  'kubectl rollout status deployment/web --timeout=5m',
  'kubectl scale deployment web --replicas=3',
  'kubectl scale deployment web --replicas=9 --current-replicas=1',
  'kubectl wait --for=condition=Available deployment/web --timeout=5m',
  `kubectl wait --for=jsonpath='{.status.readyReplicas}'=3 deployment/web --timeout=5m`,
  'kubectl get deployment web --subresource=scale -o yaml',
  'kubectl autoscale deployment web --min=1 --max=4',
  'kubectl get horizontalpodautoscalers',
  'kubectl delete horizontalpodautoscaler web',

  // A StatefulSet
  'kubectl apply -f db.yaml',
  'kubectl rollout status statefulset/db --timeout=5m | tail -1',
  'kubectl get statefulsets -o wide',
  'kubectl get pods -l app=db --show-labels',
  'kubectl set image statefulset/db db=example.com/db:2',
  'kubectl rollout status statefulset/db --timeout=5m | tail -1',
  'kubectl rollout history statefulset/db',
  'kubectl rollout history statefulset/db --revision=2',
  'kubectl rollout undo statefulset/db',
  'kubectl rollout status statefulset/db --timeout=5m | tail -1',
  'kubectl rollout history statefulset/db',
  'kubectl rollout restart statefulset/db',
  'kubectl rollout status statefulset/db --timeout=5m | tail -1',
  'kubectl get controllerrevisions --no-headers | wc -l',
  'kubectl scale statefulset db --replicas=1',
  `kubectl wait --for=jsonpath='{.status.replicas}'=1 statefulset/db --timeout=5m`,
  `kubectl wait --for=jsonpath='{.status.availableReplicas}'=1 statefulset/db --timeout=5m`,
  'kubectl get statefulset db -o yaml',
  'kubectl get statefulset db --subresource=scale -o yaml',
  "kubectl describe statefulset db | sed '/^Events:/,$d'", // events of the same second are in any order
  'kubectl delete statefulset db --cascade=foreground',

  // A DaemonSet. Only its pods are drained, so that the output does not depend on the nodes of other pods.
  'kubectl apply -f agent.yaml',
  'kubectl rollout status daemonset/agent --timeout=5m | tail -1',
  'kubectl get daemonsets',
  'kubectl get ds agent -o wide',
  'kubectl get ds agent -o yaml',
  "kubectl describe ds agent | sed '/^Events:/,$d'",
  'kubectl get pods -l app=agent --sort-by=.spec.nodeName -o wide',
  'kubectl set image daemonset/agent agent=example.com/agent:2',
  'kubectl rollout status daemonset/agent --timeout=5m | tail -1',
  'kubectl rollout history daemonset/agent',
  'kubectl rollout history daemonset/agent --revision=2',
  'kubectl rollout undo daemonset/agent',
  'kubectl rollout status daemonset/agent --timeout=5m | tail -1',
  'kubectl rollout undo daemonset/agent --to-revision=99',
  'kubectl rollout history daemonset/agent',
  'kubectl rollout restart daemonset/agent',
  'kubectl rollout status daemonset/agent --timeout=5m | tail -1',
  'kubectl get controllerrevisions -l app=agent --sort-by=.revision',
  'kubectl scale daemonset agent --replicas=1',
  'kubectl drain node-1 --pod-selector=app=agent',
  'kubectl drain node-1 --pod-selector=app=agent --ignore-daemonsets',
  'kubectl get node node-1',
  'kubectl get daemonsets',
  'kubectl uncordon node-1',
  'kubectl delete daemonset agent --cascade=foreground',

  // ConfigMaps and other small objects
  'kubectl label configmap settings x=y',
  'kubectl label configmap settings x=z',
  'kubectl label configmap settings x-',
  'kubectl label configmap settings x=y tier=front',
  'kubectl annotate configmap settings note=hello',
  'kubectl get configmap settings --show-labels',
  'kubectl edit configmap settings',
  `kubectl get configmap settings -o jsonpath='{.data.a}'`,
  'kubectl describe configmap settings',
  `kubectl patch configmap settings --type=json -p '[{"op":"add","path":"/data/b","value":"3"}]'`,
  `kubectl patch configmap settings --type=json -p '[{"op":"test","path":"/data/b","value":"4"}]'`,
  `kubectl patch configmap settings --type=merge -p '{"data":{"b":null}}'`,
  `kubectl patch service web -p '{"spec":{"ports":[{"port":80,"name":"http"}]}}'`,
  'kubectl get configmap settings -o yaml',
  'kubectl apply --server-side -f settings.yaml',
  'kubectl apply --server-side -f shared.yaml',
  'kubectl apply --server-side --field-manager=other -f shared-2.yaml',
  'kubectl apply --server-side --field-manager=other --force-conflicts -f shared-2.yaml',
  'kubectl label configmap shared owner=me',
  'kubectl get configmap shared -o yaml --show-managed-fields',
  'kubectl replace -f shared.yaml',
  'kubectl delete configmap shared',
  'kubectl create secret generic hidden --from-literal=a=b',
  'kubectl get secret hidden -o yaml',
  'kubectl describe secret hidden',
  'kubectl create serviceaccount robot',
  'kubectl get serviceaccounts',
  'kubectl create role reader --verb=get --resource=pods',
  'kubectl describe role reader',
  'kubectl rollout status deployment/web --timeout=5m',
  'kubectl create pdb budget --selector=app=web --min-available=1',
  `kubectl wait --for=jsonpath='{.status.expectedPods}'=3 pdb/budget --timeout=5m`,
  'kubectl get pdb',
  'kubectl get pdb budget -o yaml',
  'kubectl describe pdb budget',

  'kubectl create ingress gate --class=fast --rule="a.example.com/*=web:80"',
  'kubectl get ingresses',
  'kubectl create quota limits --hard=configmaps=1000',
  'kubectl get priorityclasses',
  'kubectl apply -f policy.yaml',
  'kubectl get networkpolicies',
  'kubectl delete ingress/gate networkpolicy/closed quota/limits',

  // Jobs
  'kubectl create job one --image=example.com/one',
  'kubectl wait --for=condition=complete job/one --timeout=5m',
  'kubectl get jobs',
  'kubectl get job one -o yaml',
  'kubectl describe job one',
  'kubectl create cronjob yearly --image=example.com/one --schedule="0 0 1 1 *"',
  'kubectl get cronjobs',
  'kubectl get cronjob yearly -o yaml',
  'kubectl describe cronjob yearly',
  'kubectl create job two --from=cronjob/yearly',
  'kubectl wait --for=condition=complete job/two --timeout=5m',

  // Custom resources
  'kubectl apply -f crontabs.yaml',
  'kubectl wait --for=condition=Established crd/crontabs.stable.example.com --timeout=5m',
  'kubectl apply -f crontab.yaml',
  'kubectl get crontabs',
  'kubectl get ct mine -o yaml',
  'kubectl scale crontab mine --replicas=2',
  'kubectl explain crontab.spec',
  `kubectl patch ct mine --type=merge -p '{"spec":{"replicas":"many"}}'`,
  `kubectl patch ct mine -p '{"spec":{"replicas":1}}'`,
  'kubectl delete crd crontabs.stable.example.com',

  // Namespaces
  'kubectl create namespace extra',
  'kubectl get namespace extra -o yaml',
  'kubectl describe namespace extra',
  'kubectl delete namespace extra',
  'kubectl get namespace extra',

  // Errors
  'kubectl create -f web.yaml',
  'kubectl apply -f unknown-field.yaml',
  'kubectl apply -f other-selector.yaml',
  'kubectl apply -f bad-values.yaml',
  'kubectl get pod nobody',
  'kubectl get nothing',
  'kubectl get pods -l "a in"',
  'kubectl delete configmap absent',
  'kubectl delete configmap absent --ignore-not-found',
  'kubectl create configmap Upper-Case',
  'kubectl rollout undo deployment/web --to-revision=99',

  // Nodes: one is drained as soon as the budget allows. There are enough pods for each node to have one.
  'kubectl scale deployment web --replicas=9',
  'kubectl rollout status deployment/web --timeout=5m',
  `kubectl patch pdb budget -p '{"spec":{"minAvailable":9}}'`,
  `kubectl wait --for=jsonpath='{.status.currentHealthy}'=9 pdb/budget --timeout=5m`,
  `kubectl wait --for=jsonpath='{.status.desiredHealthy}'=9 pdb/budget --timeout=5m`,
  `kubectl drain node-0 --force --timeout=1s 2>&1 | grep -o '^error when evicting.*' | sed 's|pods/"[^"]*"|pod|' | sort -u`,
  // One drain: it tries again after each refusal, and ends once the budget allows.
  `kubectl drain node-0 --force 2>&1 | while read -r line; do case $line in *'will retry'*) kubectl patch pdb budget -p '{"spec":{"minAvailable":"50%"}}' > /dev/null; echo refused;; *drained) echo $line;; esac; done | sort -u`,
  `kubectl wait --for=jsonpath='{.status.currentHealthy}'=9 pdb/budget --timeout=5m`,
  'kubectl get pdb',
  'kubectl delete pdb budget',
  'kubectl wait --for=condition=Available deployment/web --timeout=5m',
  'kubectl uncordon node-0',
  'kubectl cordon node-0',
  'kubectl get node node-0',
  'kubectl taint node node-0 key=value:NoSchedule',
  'kubectl uncordon node-0',
  'kubectl taint node node-0 key-',
  'kubectl describe node node-0',

  // Cleaning up
  'kubectl delete service web',
  'kubectl delete deployment web --cascade=foreground',
  'kubectl get replicasets,pods -l app=web',
  'kubectl delete job/one job/two cronjob/yearly --cascade=foreground',
  'kubectl get pods',
  'kubectl delete configmap settings absent',
  'kubectl delete secret,serviceaccount,role --field-selector=metadata.name!=default --all',
];

const web = (image: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: ${image}
        ports: [{containerPort: 80}]
        env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
        readinessProbe: {httpGet: {port: 80}}
        resources: {requests: {cpu: "0.1", memory: 1024Mi}, limits: {cpu: 1}}
        volumeMounts: [{name: settings, mountPath: /settings}]
      volumes: [{name: settings, configMap: {name: settings}}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}], type: NodePort}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1"}
`;

const settings = (name: string, a: string): string => `
apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}}
data: {a: "${a}", c: d}
`;

const policy = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: closed}
spec: {podSelector: {matchLabels: {app: web}}, policyTypes: [Ingress]}
`;

const crontabs = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: crontabs, singular: crontab, kind: CronTab, shortNames: [ct]}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: Schedule, type: string, jsonPath: .spec.schedule}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            description: When, and how often at once.
            required: [schedule]
            properties:
              schedule: {type: string, description: As cron has it.}
              replicas: {type: integer, minimum: 0, default: 1}
          status:
            type: object
            properties: {replicas: {type: integer}}
`;

const crontab = `
apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: mine}
spec: {schedule: "* * * * *"}
`;

const db = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: 'example.com/db:1'}]
`;

const agent = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: 'example.com/agent:1'}]
`;

/** The files that the script names; `editor` is what `kubectl edit` starts. */
export const kubectlFiles: Readonly<Record<string, string>> = {
  'web.yaml': web('example.com/web:1'),
  'web-2.yaml': web('example.com/web:2'),
  'unknown-field.yaml': web('example.com/web:2').replace('replicas: 2', 'replicaz: 2'),
  'other-selector.yaml': web('example.com/web:2').replace('matchLabels: {app: web}', 'matchLabels: {app: x}'),
  'bad-values.yaml': web('').replace('containerPort: 80', 'containerPort: 80000').replace('port: 80}]', 'port: 0}]'),
  'db.yaml': db,
  'agent.yaml': agent,
  'settings.yaml': settings('settings', '2'),
  'shared.yaml': settings('shared', '2'),
  'shared-2.yaml': settings('shared', '3'),
  'policy.yaml': policy,
  'crontabs.yaml': crontabs,
  'crontab.yaml': crontab,
  editor: `#!/bin/sh\nsed -i 's/^  a: .*/  a: "2"/' "$1"\n`,
};
