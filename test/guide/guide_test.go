// What docs/testing.md promises, with the code that it shows: startControllers is taken from there.
package guide

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func TestControllers(t *testing.T) {
	env := &envtest.Environment{}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Stop() })
	startControllers(t, env, "deployment,replicaset,garbagecollector,namespace")
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	create := func(object client.Object) {
		t.Helper()
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	eventually := func(what string, done func() bool) {
		t.Helper()
		for start := time.Now(); !done(); time.Sleep(20 * time.Millisecond) {
			if t.Context().Err() != nil {
				t.Fatalf("%s: not after %s", what, time.Since(start))
			}
		}
	}
	isGone := func(object client.Object) func() bool {
		return func() bool {
			return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(object), object))
		}
	}

	labels := map[string]string{"app": "web"}
	containers := []corev1.Container{{Name: "web", Image: "web"}}
	replicas := int32(3)
	create(&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: containers},
			},
		},
	})
	eventually("a Deployment gets its pods", func() bool {
		pods := &corev1.PodList{}
		err := c.List(t.Context(), pods, client.InNamespace("default"), client.MatchingLabels(labels))
		return err == nil && len(pods.Items) == int(replicas)
	})

	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner"}}
	create(owner)
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default",
		Name:      "owned",
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID},
		},
	}}
	create(owned)
	if err := c.Delete(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	eventually("a ConfigMap goes with its owner", isGone(owned))

	team := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}
	create(team)
	create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "content"}})
	start := time.Now()
	if err := c.Delete(t.Context(), team); err != nil {
		t.Fatal(err)
	}
	eventually("a namespace goes away", isGone(team))
	t.Logf("the namespace was gone after %s", time.Since(start))
}
