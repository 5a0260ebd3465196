//go:build ignore

// Writes built-in.json: what the sandbox has to know about the built-in kinds, read off the API's own Go types, its
// published OpenAPI documents and its discovery document. Facts alone: names, types, keys, defaults; no prose.
//
//	cd test/cluster && go run -mod=mod ../../pkg/sandbox/schema/generate.go > ../../pkg/sandbox/schema/built-in.json
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sort"
	"strings"

	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes/scheme"
	registration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

type field struct {
	Type string `json:"t"`
	// How Go writes the zero value: "keep" always, "drop" never, absent: as it was given.
	Zero     string   `json:"z,omitempty"`
	Required bool     `json:"r,omitempty"`
	MergeKey string   `json:"k,omitempty"`
	Strategy string   `json:"s,omitempty"`
	ListType string   `json:"lt,omitempty"`
	ListKeys []string `json:"lk,omitempty"`
	Default  any      `json:"d,omitempty"`
	Enum     []string `json:"e,omitempty"`
}

type typeInfo struct {
	MapType string            `json:"mt,omitempty"`
	Fields  map[string]*field `json:"f"`
	// Of the protobuf encoding: a field by its number; "@type" for one whose fields are this type's own in JSON.
	Numbers map[string]string `json:"p,omitempty"`
}

type resource struct {
	Group        string              `json:"group"`
	Version      string              `json:"version"`
	Kind         string              `json:"kind"`
	Resource     string              `json:"resource"`
	Singular     string              `json:"singular"`
	Namespaced   bool                `json:"namespaced"`
	ShortNames   []string            `json:"shortNames,omitempty"`
	Categories   []string            `json:"categories,omitempty"`
	Verbs        []string            `json:"verbs"`
	Type         string              `json:"type"`
	Subresources map[string][]string `json:"subresources,omitempty"`
}

var types = map[string]*typeInfo{}

func main() {
	root := moduleDir("k8s.io/kubernetes")
	byKind := goTypes()
	resources := readResources(filepath.Join(root, "api/discovery/aggregated_v2.json"), byKind)
	enrich(filepath.Join(root, "api/openapi-spec/v3"))
	enumerate()
	write(resources)
}

func moduleDir(module string) string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	check(err)
	return strings.TrimSpace(string(out))
}

func goTypes() map[string]reflect.Type {
	check(extensions.AddToScheme(scheme.Scheme))
	check(registration.AddToScheme(scheme.Scheme))
	byKind := map[string]reflect.Type{}
	for gvk, goType := range scheme.Scheme.AllKnownTypes() {
		byKind[gvk.GroupVersion().String()+"/"+gvk.Kind] = goType
	}
	return byKind
}

func nameOf(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	return "io.k8s." + strings.Join(parts[1:], ".") + "." + t.Name()
}

var scalars = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                           "microtime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                            "string",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                            "any",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                            "quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                          "int-or-string",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                             "any",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":            "any",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaProps": "any",
}

func describe(t reflect.Type) string {
	if name, ok := scalars[t.PkgPath()+"."+t.Name()]; ok {
		return name
	}
	switch t.Kind() {
	case reflect.Pointer:
		return describe(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint8, reflect.Uint64, reflect.Int8, reflect.Int16:
		return "integer"
	case reflect.Float64, reflect.Float32:
		return "number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + describe(t.Elem())
	case reflect.Map:
		return "{}" + describe(t.Elem())
	case reflect.Struct:
		addStruct(t)
		return "#" + nameOf(t)
	case reflect.Interface:
		return "any"
	}
	panic(fmt.Sprint("unknown type ", t))
}

func addStruct(t reflect.Type) {
	if types[nameOf(t)] != nil {
		return
	}
	info := &typeInfo{Fields: map[string]*field{}, Numbers: map[string]string{}}
	types[nameOf(t)] = info
	addFields(t, info)
}

func addFields(t reflect.Type, info *typeInfo) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("json"), ",")
		has := func(option string) bool {
			for _, each := range tag[1:] {
				if each == option {
					return true
				}
			}
			return false
		}
		if tag[0] == "-" || !f.IsExported() {
			continue
		}
		if tag[0] == "" { // inlined
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			numbers := info.Numbers
			info.Numbers = map[string]string{}
			addFields(inner, info)
			info.Numbers = numbers
			if number := numberOf(f); number != "" {
				addStruct(inner)
				info.Numbers[number] = "@" + nameOf(inner)
			}
			continue
		}
		if number := numberOf(f); number != "" {
			info.Numbers[number] = tag[0]
		}
		described := &field{Type: describe(f.Type), MergeKey: f.Tag.Get("patchMergeKey"), Strategy: f.Tag.Get("patchStrategy")}
		kind := f.Type.Kind()
		isValueStruct := kind == reflect.Struct && !has("omitzero")
		switch {
		case isValueStruct:
			described.Zero = "keep"
		case kind == reflect.Pointer:
		case has("omitempty") || has("omitzero"):
			described.Zero = "drop"
		default:
			described.Zero = "keep"
		}
		info.Fields[tag[0]] = described
	}
}

func numberOf(f reflect.StructField) string {
	parts := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

func readResources(path string, byKind map[string]reflect.Type) []*resource {
	var document struct {
		Items []struct {
			Metadata struct{ Name string }
			Versions []struct {
				Version   string
				Resources []struct {
					Resource         string
					SingularResource string
					Scope            string
					ShortNames       []string
					Categories       []string
					Verbs            []string
					ResponseKind     struct{ Kind string }
					Subresources     []struct {
						Subresource string
						Verbs       []string
					}
				}
			}
		}
	}
	readJSON(path, &document)
	result := readCore(filepath.Join(filepath.Dir(path), "api__v1.json"), byKind)
	for _, item := range document.Items {
		for _, version := range item.Versions {
			if !isOffered(item.Metadata.Name, version.Version) {
				continue
			}
			for _, r := range version.Resources {
				groupVersion := version.Version
				if item.Metadata.Name != "" {
					groupVersion = item.Metadata.Name + "/" + version.Version
				}
				goType, ok := byKind[groupVersion+"/"+r.ResponseKind.Kind]
				if !ok {
					continue
				}
				entry := &resource{
					Group: item.Metadata.Name, Version: version.Version, Kind: r.ResponseKind.Kind, Resource: r.Resource,
					Singular: r.SingularResource, Namespaced: r.Scope == "Namespaced", ShortNames: r.ShortNames,
					Categories: r.Categories, Verbs: r.Verbs, Type: strings.TrimPrefix(describe(goType), "#"),
				}
				for _, sub := range r.Subresources {
					if entry.Subresources == nil {
						entry.Subresources = map[string][]string{}
					}
					entry.Subresources[sub.Subresource] = sub.Verbs
				}
				result = append(result, entry)
			}
		}
	}
	for _, extra := range []string{"autoscaling/v1/Scale", "policy/v1/Eviction", "authentication.k8s.io/v1/TokenRequest", "v1/Binding", "v1/DeleteOptions", "v1/Status"} {
		describe(byKind[extra])
	}
	return result
}

// The core group has a document of the older form only.
func readCore(path string, byKind map[string]reflect.Type) []*resource {
	var document struct {
		Resources []struct {
			Name, SingularName, Kind      string
			Namespaced                    bool
			ShortNames, Categories, Verbs []string
		}
	}
	readJSON(path, &document)
	byName := map[string]*resource{}
	var result []*resource
	for _, r := range document.Resources {
		name, sub, isSub := strings.Cut(r.Name, "/")
		goType := byKind["v1/"+r.Kind]
		switch {
		case isSub && byName[name] != nil:
			if byName[name].Subresources == nil {
				byName[name].Subresources = map[string][]string{}
			}
			byName[name].Subresources[sub] = r.Verbs
		case !isSub && goType != nil:
			byName[name] = &resource{
				Version: "v1", Kind: r.Kind, Resource: name, Singular: r.SingularName, Namespaced: r.Namespaced,
				ShortNames: r.ShortNames, Categories: r.Categories, Verbs: r.Verbs,
				Type: strings.TrimPrefix(describe(goType), "#"),
			}
			result = append(result, byName[name])
		}
	}
	return result
}

// Left out: what is not stable, what would need a second form of the same object (events, autoscalers), and what would
// be taken and then not acted upon, as the sandbox calls no webhooks, aggregates no servers and has no priority levels.
func isOffered(group, version string) bool {
	switch group {
	case "admissionregistration.k8s.io", "apiregistration.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io":
		return false
	case "autoscaling":
		return version == "v2"
	}
	return !strings.Contains(version, "alpha") && !strings.Contains(version, "beta")
}

type openapiProperty struct {
	Default     any
	MapType     string   `json:"x-kubernetes-map-type"`
	ListType    string   `json:"x-kubernetes-list-type"`
	ListMapKeys []string `json:"x-kubernetes-list-map-keys"`
}

// Adds what only the OpenAPI documents say.
func enrich(dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*_openapi.json"))
	check(err)
	for _, file := range files {
		var document struct {
			Components struct {
				Schemas map[string]struct {
					Required   []string
					MapType    string `json:"x-kubernetes-map-type"`
					Properties map[string]openapiProperty
				}
			}
		}
		readJSON(file, &document)
		for name, schema := range document.Components.Schemas {
			info := types[name]
			if info == nil {
				continue
			}
			info.MapType = schema.MapType
			for _, required := range schema.Required {
				if info.Fields[required] != nil {
					info.Fields[required].Required = true
				}
			}
			for property, found := range schema.Properties {
				target := info.Fields[property]
				if target == nil {
					continue
				}
				if object, isObject := found.Default.(map[string]any); (!isObject || len(object) > 0) && found.Default != "" {
					target.Default = found.Default
				}
				target.ListType, target.ListKeys = found.ListType, found.ListMapKeys
				if found.MapType != "" {
					target.ListType = found.MapType
				}
			}
		}
	}
}

// Adds the values of enumerations, which the published documents tell in prose alone.
func enumerate() {
	for name, definition := range openapi.GetOpenAPIDefinitions(func(string) spec.Ref { return spec.Ref{} }) {
		for property, found := range definition.Schema.Properties {
			if types[name] == nil || types[name].Fields[property] == nil {
				continue
			}
			for _, value := range found.Enum {
				types[name].Fields[property].Enum = append(types[name].Fields[property].Enum, value.(string))
			}
		}
	}
}

// One type a line: readable in a diff, small enough to load at every start.
func write(resources []*resource) {
	var names []string
	for name := range types {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Println(`{"resources":[`)
	for i, r := range resources {
		line(r, i == len(resources)-1)
	}
	fmt.Println(`],"types":{`)
	for i, name := range names {
		fmt.Printf("%q:", name)
		line(types[name], i == len(names)-1)
	}
	fmt.Println(`}}`)
}

func line(value any, last bool) {
	bytes, err := json.Marshal(value)
	check(err)
	end := ","
	if last {
		end = ""
	}
	fmt.Println(string(bytes) + end)
}

func readJSON(path string, into any) {
	bytes, err := os.ReadFile(path)
	check(err)
	check(json.Unmarshal(bytes, into))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
