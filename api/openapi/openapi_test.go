package openapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"coffer/api/openapi"
)

var update = flag.Bool("update", false, "write the golden description instead of comparing it")

func describe(t *testing.T) []byte {
	t.Helper()
	raw, err := openapi.Describe("/api", openapi.Endpoints())
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestTheDescriptionIsGolden(t *testing.T) {
	raw, path := describe(t), filepath.Join("testdata", "openapi.json")
	if *update {
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(raw, want) {
		t.Errorf("%v: the description has changed; look at the difference, then run this test with -update", err)
	}
	if again := describe(t); !bytes.Equal(raw, again) {
		t.Error("the same endpoints gave other bytes")
	}
}

func TestEveryRowOfTheTableBelongsToAMember(t *testing.T) {
	if rows := openapi.Unused(openapi.Endpoints()); len(rows) > 0 {
		t.Errorf("nothing has %s", strings.Join(rows, ", "))
	}
}

func TestTheDescriptionCarriesTheVersionAndTheKey(t *testing.T) {
	var d struct {
		OpenAPI string `json:"openapi"`
		Info    struct {
			Version string `json:"version"`
		} `json:"info"`
		Security   []map[string][]string `json:"security"`
		Components struct {
			SecuritySchemes map[string]struct{ Type, In, Name string } `json:"securitySchemes"`
		} `json:"components"`
	}
	if err := json.Unmarshal(describe(t), &d); err != nil {
		t.Fatal(err)
	}
	s := d.Components.SecuritySchemes["apiKey"]
	if d.OpenAPI != "3.1.0" || d.Info.Version != "1.6.2" || len(d.Security) != 1 || s.Type != "apiKey" ||
		s.In != "header" || s.Name != "x-api-key" {
		t.Errorf("%+v", d)
	}
}

// Every reference leads somewhere, every schema is one of JSON Schema 2020-12, and every example satisfies the schema
// that shows it.
func TestEverySchemaIsValidAndKeepsItsExamples(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(describe(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	var walk func(at string, x any)
	walk = func(at string, x any) {
		switch x := x.(type) {
		case map[string]any:
			if examples, ok := x["examples"].([]any); ok {
				s, err := c.Compile("openapi.json#" + at)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range examples {
					if n++; s.Validate(e) != nil {
						t.Errorf("%s: the example %v breaks its own schema: %v", at, e, s.Validate(e))
					}
				}
			}
			if ref, ok := x["$ref"].(string); ok && strings.HasPrefix(ref, "#/components/schemas/") {
				if _, err := c.Compile("openapi.json" + ref); err != nil {
					t.Errorf("%s: %v", at, err)
				}
			}
			for name, v := range x {
				walk(at+"/"+strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1"), v)
			}
		case []any:
			for i, v := range x {
				walk(at+"/"+strconv.Itoa(i), v)
			}
		}
	}
	walk("", doc)
	if n < 50 {
		t.Errorf("only %d examples", n)
	}
}

func TestEveryEndpointListsItsErrorsAndPermission(t *testing.T) {
	ids := map[string]bool{}
	for _, e := range openapi.Endpoints() {
		if ids[e.ID] {
			t.Errorf("%s: the id appears twice", e.ID)
		}
		ids[e.ID] = true
		if e.Open != (e.Permission == "") {
			t.Errorf("%s: an endpoint is open or demands a permission", e.ID)
		}
		for _, status := range e.Errors {
			if len(openapi.ErrorNames(status)) == 0 {
				t.Errorf("%s: no error has status %d", e.ID, status)
			}
		}
	}
}
