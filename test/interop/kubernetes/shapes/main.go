// Prints src/local/kubernetes/schema/shapes/shapes.json: how the types of k8s.io/api are decoded and encoded, read from the types
// themselves. In a module that requires k8s.io/client-go, k8s.io/apiextensions-apiserver and k8s.io/kube-aggregator of the version
// wanted:
//
//	go run . > shapes.json
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	definitions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	services "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1."

var groups = map[string]bool{
	"": true, "admissionregistration.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true,
	"apps": true, "authentication.k8s.io": true, "authorization.k8s.io": true, "batch": true, "certificates.k8s.io": true,
	"coordination.k8s.io": true, "discovery.k8s.io": true, "events.k8s.io": true, "networking.k8s.io": true, "policy": true,
	"rbac.authorization.k8s.io": true, "scheduling.k8s.io": true, "storage.k8s.io": true,
}

// Kinds that nobody sends.
var internal = map[string]bool{
	"PodStatusResult": true, "RangeAllocation": true, "SerializedReference": true, "List": true,
	"ConversionRequest": true, "ConversionResponse": true, "ConversionReview": true,
}

var shapes = map[string]string{}
var readsItself = reflect.TypeFor[json.Unmarshaler]()

// name gives the name under which OpenAPI knows a type.
func name(t reflect.Type) string {
	path := strings.Split(t.PkgPath(), "/")
	host := strings.Split(path[0], ".")
	for i, j := 0, len(host)-1; i < j; i, j = i+1, j-1 {
		host[i], host[j] = host[j], host[i]
	}
	return strings.Join(append(host, path[1:]...), ".") + "." + t.Name()
}

func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + kind(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + kind(t.Elem())
	case reflect.Map:
		return "map[" + kind(t.Key()) + "]" + kind(t.Elem())
	case reflect.Struct:
		short := strings.Replace(name(t), meta, "~", 1)
		if reflect.PointerTo(t).Implements(readsItself) {
			return "!" + short
		}
		visit(t)
		return short
	}
	if t.PkgPath() != "" {
		return t.Kind().String() + "=" + t.String()
	}
	return t.Kind().String()
}

func members(t reflect.Type) []string {
	var found []string
	for i := range t.NumField() {
		field := t.Field(i)
		parts := strings.Split(field.Tag.Get("json"), ",")
		if parts[0] == "-" {
			continue
		}
		if parts[0] == "" {
			if field.Anonymous {
				found = append(found, members(field.Type)...)
			}
			continue
		}
		flags := ""
		for _, option := range parts[1:] {
			switch option {
			case "omitempty":
				flags += "e"
			case "omitzero":
				flags += "z"
			}
		}
		text := parts[0] + ":" + kind(field.Type)
		if flags != "" {
			text += ":" + flags
		}
		found = append(found, text)
	}
	return found
}

func visit(t reflect.Type) {
	if _, known := shapes[name(t)]; known {
		return
	}
	shapes[name(t)] = ""
	shapes[name(t)] = strings.Join(members(t), " ")
}

func main() {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, definitions.AddToScheme, services.AddToScheme} {
		if err := add(known); err != nil {
			panic(err)
		}
	}
	for gvk, t := range known.AllKnownTypes() {
		served := groups[gvk.Group] || (gvk.Group == "autoscaling" && gvk.Kind == "Scale")
		if served && gvk.Version == "v1" && !internal[t.Name()] {
			visit(t)
		}
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(shapes); err != nil {
		panic(err)
	}
}
