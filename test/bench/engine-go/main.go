// The client-go side of the engine benchmark: an informer of pods, or a work queue, told by lines on stdin what to do
// and answering with lines of JSON. Its counterpart is ../engine-ours.ts.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	_ "k8s.io/component-base/metrics/prometheus/workqueue"
)

const stampAnnotation = "bench/written-at"

func main() {
	var err error
	switch {
	case len(os.Args) == 4 && os.Args[1] == "informer":
		err = runInformer(os.Args[2], os.Args[3])
	case len(os.Args) == 3 && os.Args[1] == "queue":
		var keys int
		if keys, err = strconv.Atoi(os.Args[2]); err == nil {
			runQueue(keys)
		}
	default:
		err = fmt.Errorf("usage: informer <kubeconfig> json|protobuf, or queue <keys>")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answer(value any) {
	line, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

func runInformer(kubeconfig, encoding string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	if encoding == "protobuf" {
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
		config.ContentType = "application/vnd.kubernetes.protobuf"
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(dropManagedFields))
	pods := factory.Core().V1().Pods().Informer()
	if err := pods.AddIndexers(cache.Indexers{"node": byNode, "controller": byController}); err != nil {
		return err
	}
	seen := &counter{}
	registration, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) {},
		UpdateFunc: func(_, after any) { seen.add(after.(*corev1.Pod)) },
		DeleteFunc: func(any) {},
	})
	if err != nil {
		return err
	}
	ctx := context.Background()
	answer(map[string]any{"ready": true})
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		switch command := strings.Fields(commands.Text()); command[0] {
		case "start":
			factory.Start(ctx.Done())
			if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
				return fmt.Errorf("the cache did not sync")
			}
			answer(map[string]any{"objects": len(pods.GetStore().ListKeys())})
		case "heap":
			runtime.GC()
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			answer(map[string]any{"heapBytes": stats.HeapAlloc})
		case "expect":
			count, err := strconv.Atoi(command[1])
			if err != nil {
				return err
			}
			done := seen.expect(count)
			answer(map[string]any{"expecting": count})
			<-done
			answer(seen.result())
		}
	}
	return commands.Err()
}

func dropManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

func byNode(object any) ([]string, error) {
	return []string{object.(*corev1.Pod).Spec.NodeName}, nil
}

func byController(object any) ([]string, error) {
	owner := metav1.GetControllerOf(object.(*corev1.Pod))
	if owner == nil {
		return nil, nil
	}
	return []string{string(owner.UID)}, nil
}

// counter keeps how long events took from their writing to the handler, until as many as expected have come.
type counter struct {
	lock      sync.Mutex
	latencies []float64
	expected  int
	firstMs   float64
	lastMs    float64
	done      chan struct{}
}

func (c *counter) expect(count int) <-chan struct{} {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.latencies = make([]float64, 0, count)
	c.expected = count
	c.done = make(chan struct{})
	return c.done
}

func (c *counter) add(pod *corev1.Pod) {
	nowMs := monotonicMs()
	writtenMs, err := strconv.ParseFloat(pod.Annotations[stampAnnotation], 64)
	c.lock.Lock()
	defer c.lock.Unlock()
	if err != nil || len(c.latencies) >= c.expected {
		return
	}
	if len(c.latencies) == 0 {
		c.firstMs = nowMs
	}
	c.latencies = append(c.latencies, nowMs-writtenMs)
	c.lastMs = nowMs
	if len(c.latencies) == c.expected {
		close(c.done)
	}
}

func (c *counter) result() map[string]any {
	c.lock.Lock()
	defer c.lock.Unlock()
	slices.Sort(c.latencies)
	at := func(part float64) float64 { return c.latencies[int(part*float64(len(c.latencies)-1))] }
	return map[string]any{"seconds": (c.lastMs - c.firstMs) / 1000, "p50Ms": at(0.5), "p99Ms": at(0.99), "maxMs": at(1)}
}

// monotonicMs is the clock that all processes of a machine share.
func monotonicMs() float64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	return float64(now.Sec)*1000 + float64(now.Nsec)/1e6
}

func cpuSeconds() float64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Sec+usage.Stime.Sec) + float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
}

type queue = workqueue.TypedRateLimitingInterface[string]

func runQueue(count int) {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%d/name-%d", i%100, i)
	}
	scenarios := []struct {
		name string
		run  func([]string)
	}{
		{"add all, then take and done", addAllThenTake},
		{"add to five workers", addToWorkers},
		{"add a key that waits already", addDuplicates},
		{"addRateLimited, wait, take and done", failOnce},
	}
	for _, scenario := range scenarios {
		scenario.run(keys) // once to warm up
		cpu, start := cpuSeconds(), time.Now()
		scenario.run(keys)
		seconds := time.Since(start).Seconds()
		answer(map[string]any{"scenario": scenario.name, "seconds": seconds, "cpuSeconds": cpuSeconds() - cpu})
	}
}

func newQueue() queue {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second)
	config := workqueue.TypedRateLimitingQueueConfig[string]{Name: "bench"}
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, config)
}

func takeAll(q queue) {
	for {
		key, down := q.Get()
		if down {
			return
		}
		q.Done(key)
	}
}

func addAllThenTake(keys []string) {
	q := newQueue()
	for _, key := range keys {
		q.Add(key)
	}
	q.ShutDown()
	takeAll(q)
}

func addToWorkers(keys []string) {
	q := newQueue()
	var workers sync.WaitGroup
	for range 5 {
		workers.Go(func() { takeAll(q) })
	}
	for _, key := range keys {
		q.Add(key)
	}
	q.ShutDown()
	workers.Wait()
}

func addDuplicates(keys []string) {
	q := newQueue()
	for range keys {
		q.Add("namespace/name")
	}
	q.ShutDown()
	takeAll(q)
}

func failOnce(keys []string) {
	q := newQueue()
	for _, key := range keys {
		q.AddRateLimited(key)
	}
	for range keys {
		key, _ := q.Get()
		q.Forget(key)
		q.Done(key)
	}
	q.ShutDown()
}
