package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// uncommented is the example with every setting in force.
func uncommented() []byte {
	return regexp.MustCompile(`(?m)^#([^ \n])`).ReplaceAll(Example(), []byte("$1"))
}

func TestTheExampleMeansTheSameAsNoFile(t *testing.T) {
	f, err := Parse("example.toml", Example())
	if err != nil {
		t.Fatalf("%v\n%s", err, Example())
	}
	if !reflect.DeepEqual(f, Default()) {
		t.Errorf("%+v", f)
	}
}

// Each key with a default has that default in the example, so the words "Default:" are true.
func TestTheSettingsOfTheExampleAreValidAndTheDefaultsAreThoseOfTheProgram(t *testing.T) {
	f, err := Parse("example.toml", uncommented())
	if err != nil {
		t.Fatalf("%v\n%s", err, uncommented())
	}
	want := sample()
	want.Profiles[DemoProfile] = demo()
	if !reflect.DeepEqual(f, want) {
		t.Errorf("got\n%+v\nwant\n%+v", f, want)
	}
	none := Default()
	if f.Default != none.Default || f.Profiles["team"].LockTime() != (Profile{}).LockTime() ||
		f.UI.DustMicro().Cmp(none.UI.DustMicro()) != 0 || f.UI.HideAmounts != none.UI.HideAmounts ||
		f.UI.ASCII != none.UI.ASCII || f.UI.MouseOn(false) != none.UI.MouseOn(false) ||
		f.UI.Copies() != none.UI.Copies() {
		t.Error("a default of the example is not the one that holds without a file")
	}
	for _, s := range Settings() {
		if s.Default == "" {
			continue
		}
		name := s.Key[strings.LastIndex(s.Key, ".")+1:]
		if !strings.Contains(string(Example()), "\n#"+name+" = "+s.Default+"\n") {
			t.Errorf("%s: the example does not show the default %s", s.Key, s.Default)
		}
	}
}

// The types and their descriptions cannot drift: a new field fails here until it has a description and a place in the
// example.
func TestEveryKeyOfTheTypesIsExplainedAndInTheExample(t *testing.T) {
	words := settingWords()
	for _, s := range Settings() {
		if s.What == "" {
			t.Errorf("%s is not explained", s.Key)
		}
		delete(words, s.Key)
		name := strings.TrimSuffix(s.Key, ".*")
		if name = name[strings.LastIndex(name, ".")+1:]; !regexp.MustCompile(`(?m)^#?(\[ui\.)?` +
			regexp.QuoteMeta(name) + `( = |\])`).Match(Example()) {
			t.Errorf("%s is not in the example", s.Key)
		}
	}
	if len(words) > 0 {
		t.Errorf("explained and not there: %v", slices.Sorted(maps.Keys(words)))
	}
	for line := range strings.SplitSeq(string(Example()), "\n") {
		if strings.HasPrefix(line, "# ") && len(line) > exampleWidth {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	raw, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON is a TOML document as a schema validator takes it.
func asJSON(t *testing.T, data []byte) any {
	t.Helper()
	var v map[string]any
	if err := toml.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheJSONSchemaTakesTheExampleAndRefusesWhatParseRefuses(t *testing.T) {
	s := compiled(t)
	for _, good := range [][]byte{Example(), uncommented(), []byte(full),
		[]byte("version = 1\n[ui.colors]\ndim = 75\n")} {
		if err := s.Validate(asJSON(t, good)); err != nil {
			t.Errorf("%v\n%s", err, good)
		}
	}
	for _, bad := range []string{
		"default = \"demo\"", "version = 2", "version = 1\nspeed = 3", "version = 1\n[profiles.x]\nkind = \"lab\"",
		"version = 1\n[profiles.x]\nkind = \"mainnet\"\nvault = \"file\"",
		"version = 1\n[profiles.Upper]\nkind = \"embedded\"\nvault = \"file\"", "version = 1\n[ui]\ntheme = \"pink\"",
		"version = 1\n[ui]\nascii = \"no\"", "version = 1\n[ui.colors]\nsky = \"#00ffff\"",
		"version = 1\n[profiles.x]\nkind = \"embedded\"\nvault = \"file\"\n[[profiles.x.accounts]]\ntype = \"kernel\"",
		"version = 1\n[ui.colors]\ndim = 256",
	} {
		if err := s.Validate(asJSON(t, []byte(bad))); err == nil {
			t.Errorf("the schema takes\n%s", bad)
		}
		if _, err := Parse("c.toml", []byte(bad)); err == nil {
			t.Errorf("Parse takes\n%s", bad)
		}
	}
}

func TestTheDocumentNamesEveryKeyAndVariable(t *testing.T) {
	raw, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Settings() {
		if name := strings.TrimSuffix(s.Key, ".*"); !strings.Contains(string(raw),
			name[strings.LastIndex(name, ".")+1:]) {
			t.Errorf("%s", s.Key)
		}
	}
	for _, v := range Variables() {
		if !strings.Contains(string(raw), "`"+v.Name+"`") {
			t.Errorf("%s", v.Name)
		}
	}
	blocks := regexp.MustCompile("(?ms)^```toml\n(.*?)^```$").FindAllStringSubmatch(string(raw), -1)
	if len(blocks) < 2 {
		t.Fatalf("%d examples", len(blocks))
	}
	if _, err := Parse("configuration.md", []byte(blocks[0][1])); err != nil {
		t.Error(err)
	}
}
