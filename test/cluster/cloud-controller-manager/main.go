// The cloud controllers of Kubernetes on a cloud that exists only in memory: load balancers get addresses of
// 203.0.113.0/24, and the annotation hollow-node/machine of a Node switches its machine off or removes it. Tests compare
// what they do with what ours do on a cloud of the same kind.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/controllers/node"
	"k8s.io/cloud-provider/controllers/nodelifecycle"
	"k8s.io/cloud-provider/controllers/route"
	"k8s.io/cloud-provider/controllers/service"
	"k8s.io/component-base/featuregate"
	controllersmetrics "k8s.io/component-base/metrics/prometheus/controllers"
	"k8s.io/controller-manager/pkg/features"
)

const period = 200 * time.Millisecond

func main() {
	kubeconfig := flag.String("kubeconfig", "", "")
	clusterCIDR := flag.String("cluster-cidr", "", "")
	flag.Parse()
	if err := run(context.Background(), *kubeconfig, *clusterCIDR); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, clusterCIDR string) error {
	if err := features.SetupCurrentKubernetesSpecificFeatureGates(utilfeature.DefaultMutableFeatureGate); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 1000, 1000
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	_, cidr, err := net.ParseCIDR(clusterCIDR)
	if err != nil {
		return err
	}
	shared := informers.NewSharedInformerFactory(client, 0)
	nodes, services := shared.Core().V1().Nodes(), shared.Core().V1().Services()
	c := &cloud{balancers: map[string]string{}, routes: map[string]*cloudprovider.Route{}}

	balancing, err := service.New(c, client, services, nodes, "kubernetes", featuregate.NewFeatureGate())
	if err != nil {
		return err
	}
	routing, err := route.New(c, client, nodes, "kubernetes", []*net.IPNet{cidr})
	if err != nil {
		return err
	}
	describing, err := node.NewCloudNodeController(nodes, client, c, period, 1, 1)
	if err != nil {
		return err
	}
	monitoring, err := nodelifecycle.NewCloudNodeLifecycleController(nodes, client, c, period)
	if err != nil {
		return err
	}
	metrics := controllersmetrics.NewControllerManagerMetrics("cloud-controller-manager")
	shared.Start(ctx.Done())
	go balancing.Run(ctx, 1, metrics)
	go routing.Run(ctx, period, metrics)
	go describing.RunWithContext(ctx, metrics)
	go monitoring.Run(ctx, metrics)
	fmt.Fprintln(os.Stderr, "running")
	<-ctx.Done()
	return nil
}

type cloud struct {
	lock      sync.Mutex
	balancers map[string]string
	routes    map[string]*cloudprovider.Route
	last      int
}

func (c *cloud) Initialize(cloudprovider.ControllerClientBuilder, <-chan struct{}) {}
func (c *cloud) LoadBalancer() (cloudprovider.LoadBalancer, bool)                  { return c, true }
func (c *cloud) Instances() (cloudprovider.Instances, bool)                        { return nil, false }
func (c *cloud) InstancesV2() (cloudprovider.InstancesV2, bool)                    { return c, true }
func (c *cloud) Zones() (cloudprovider.Zones, bool)                                { return nil, false }
func (c *cloud) Clusters() (cloudprovider.Clusters, bool)                          { return nil, false }
func (c *cloud) Routes() (cloudprovider.Routes, bool)                              { return c, true }
func (c *cloud) ProviderName() string                                              { return "hollow" }
func (c *cloud) HasClusterID() bool                                                { return true }

func statusOf(ip string) *v1.LoadBalancerStatus {
	return &v1.LoadBalancerStatus{Ingress: []v1.LoadBalancerIngress{{IP: ip}}}
}

func (c *cloud) GetLoadBalancerName(_ context.Context, _ string, s *v1.Service) string {
	return s.Namespace + "/" + s.Name
}

func (c *cloud) GetLoadBalancer(ctx context.Context, cluster string, s *v1.Service) (*v1.LoadBalancerStatus, bool, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	ip, exists := c.balancers[c.GetLoadBalancerName(ctx, cluster, s)]
	if !exists {
		return nil, false, nil
	}
	return statusOf(ip), true, nil
}

func (c *cloud) EnsureLoadBalancer(ctx context.Context, cluster string, s *v1.Service, _ []*v1.Node) (*v1.LoadBalancerStatus, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	name := c.GetLoadBalancerName(ctx, cluster, s)
	if _, exists := c.balancers[name]; !exists {
		c.last++
		c.balancers[name] = fmt.Sprintf("203.0.113.%d", c.last)
	}
	return statusOf(c.balancers[name]), nil
}

func (c *cloud) UpdateLoadBalancer(context.Context, string, *v1.Service, []*v1.Node) error {
	return nil
}

func (c *cloud) EnsureLoadBalancerDeleted(ctx context.Context, cluster string, s *v1.Service) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.balancers, c.GetLoadBalancerName(ctx, cluster, s))
	return nil
}

func (c *cloud) ListRoutes(context.Context, string) ([]*cloudprovider.Route, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	list := []*cloudprovider.Route{}
	for _, each := range c.routes {
		list = append(list, each)
	}
	return list, nil
}

func (c *cloud) CreateRoute(_ context.Context, _ string, _ string, r *cloudprovider.Route) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	r.Name = string(r.TargetNode) + "-" + r.DestinationCIDR
	c.routes[r.Name] = r
	return nil
}

func (c *cloud) DeleteRoute(_ context.Context, _ string, r *cloudprovider.Route) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.routes, r.Name)
	return nil
}

func power(n *v1.Node) string { return n.Annotations["hollow-node/machine"] }

func (c *cloud) InstanceExists(_ context.Context, n *v1.Node) (bool, error) {
	return power(n) != "gone", nil
}

func (c *cloud) InstanceShutdown(_ context.Context, n *v1.Node) (bool, error) {
	return power(n) == "off", nil
}

func (c *cloud) InstanceMetadata(_ context.Context, n *v1.Node) (*cloudprovider.InstanceMetadata, error) {
	return &cloudprovider.InstanceMetadata{
		ProviderID:   "hollow://" + n.Name,
		InstanceType: "hollow.large",
		Zone:         n.Labels["topology.kubernetes.io/zone"],
		Region:       "hollow",
	}, nil
}
