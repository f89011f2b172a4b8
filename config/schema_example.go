package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"coffer/api"
	"coffer/api/network"
)

// Example is a configuration file with every key, its meaning and its default. All but the version is commented out,
// so it means the same as no file. A line that begins with # and no blank is a setting: it holds without the #.
func Example() []byte {
	e := example{said: map[string]bool{}}
	e.prose("Configuration of coffer. A line that begins with # and no blank behind it is a setting with its " +
		"default, or an example where there is none: take the # away " +
		"to set it, and from the header in brackets above it. Only the version is required. Unknown " +
		"keys are errors. Put no secret here.")
	e.table(reflect.ValueOf(sample()), nil, "")
	return []byte(e.b.String())
}

// sample is a valid file in which every key is set, to its default where there is one.
func sample() File {
	const id = "0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	on := true
	return File{
		Version: SchemaVersion, Default: DemoProfile,
		Profiles: map[string]Profile{
			"team": {
				Name: "team", Kind: network.Lab, NetworkID: id, NetworkFile: "/home/me/lab/network.json",
				BaseURL: "https://wallet.example:8443/api", CAFile: "/home/me/lab/ca.pem",
				Nodes: []string{"base=https://node.example", "op=https://node.example/op"},
				Vault: VaultFile, LockAfter: "5m", PolicyFile: "/home/me/lab/policy.toml",
				SignerCommand:  []string{"/usr/local/bin/signer"},
				DefaultAccount: "daily",
				Accounts: []Account{
					{Name: "daily", Type: api.AccountKernelV31,
						SignerAddress: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"},
					{Name: "savings", Type: api.AccountKernelV31,
						SignerAddress: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"},
					{Type: api.AccountSolana, AccountAddress: "GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ"},
				},
			},
			"treasury": {
				Name: "treasury", Kind: network.Real, NetworkID: id, BaseURL: "https://wallet.example/api",
				Vault: VaultKeyring, LockAfter: "5m",
				Accounts: []Account{{
					Type: api.AccountRoleBased, AccountAddress: "0xB3729F7e1Ab0B4a50E7De5599Ecc321B8775d30d",
					SessionAddress:      "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
					AdminAddress:        "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
					FirstSessionAddress: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
				}},
			},
			"nodes": {
				Name: "nodes", Kind: network.Test, NetworkID: id, Networks: "/home/me/nodes/networks.toml",
				Vault: VaultFile, LockAfter: "5m",
				Accounts: []Account{{Type: api.AccountKernelV31,
					SignerAddress: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"}},
			},
			"trial": {
				Name: "trial", Kind: network.Embedded, Vault: VaultFile, QuoteLifetime: "120s",
				RPC: "127.0.0.1:8545",
				Accounts: []Account{{Type: api.AccountKernelV33,
					SignerAddress:  "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
					DeploymentType: api.DeploymentEIP7702}},
			},
		},
		UI: UI{
			Theme: ThemeAuto, Mouse: &on, Dust: DefaultDust, Clipboard: &on, Notify: NotifyAuto,
			Keys:   map[string]string{"balances.sort": "o", "shell.palette": "ctrl+k"},
			Colors: map[string]Color{"accent": "#5fafff"},
		},
	}
}

// example writes the file. said are the keys it has explained.
type example struct {
	b    strings.Builder
	said map[string]bool
}

// exampleWidth is where prose breaks, in characters.
const exampleWidth = 100

// prose writes a comment.
func (e *example) prose(s string) {
	line := "#"
	for word := range strings.FieldsSeq(s) {
		if len(line)+1+len(word) > exampleWidth {
			e.b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	e.b.WriteString(line + "\n")
}

// table writes the keys of a struct, then the tables below it. key is its name in Settings, header the one in the file.
func (e *example) table(v reflect.Value, key []string, header string) {
	var below []field
	for f := range fieldsOf(v.Type()) {
		fv := v.Field(f.index)
		if fv.Kind() == reflect.Pointer {
			fv = fv.Elem()
		}
		own := append(slices.Clone(key), f.name)
		switch {
		case fv.Kind() == reflect.Struct, fv.Kind() == reflect.Map, fv.Kind() == reflect.Slice &&
			fv.Type().Elem().Kind() == reflect.Struct:
			below = append(below, f)
		case !fv.IsZero() || fv.Kind() == reflect.Bool:
			e.explain(strings.Join(own, "."))
			e.line(f.name+" = "+literal(fv), len(own) == 1 && f.name == "version")
		}
	}
	for _, f := range below {
		e.below(v.Field(f.index), append(slices.Clone(key), f.name), strings.TrimPrefix(header+"."+f.name, "."))
	}
}

// below writes a table, named tables, or a list of tables.
func (e *example) below(v reflect.Value, key []string, header string) {
	switch v.Kind() {
	case reflect.Struct:
		e.header("[" + header + "]")
		e.table(v, key, header)
	case reflect.Slice:
		for i := range v.Len() {
			e.header("[[" + header + "]]")
			e.table(v.Index(i), key, header)
		}
	case reflect.Map:
		key = append(key, "*")
		if v.Type().Elem().Kind() != reflect.Struct {
			e.header("[" + header + "]")
			e.explain(strings.Join(key, "."))
		}
		for _, name := range slices.Sorted(maps.Keys(asMap(v))) {
			if one := v.MapIndex(reflect.ValueOf(name)); one.Kind() == reflect.Struct {
				e.header("[" + header + "." + name + "]")
				e.table(one, key, header+"."+name)
			} else {
				e.line(quotedKey(name)+" = "+literal(one), false)
			}
		}
	}
}

func asMap(v reflect.Value) map[string]bool {
	out := map[string]bool{}
	for _, k := range v.MapKeys() {
		out[k.String()] = true
	}
	return out
}

func (e *example) header(s string) { e.b.WriteString("\n#" + s + "\n") }

func (e *example) line(s string, holds bool) {
	if !holds {
		s = "#" + s
	}
	e.b.WriteString(s + "\n")
}

// explain describes a key, the first time only.
func (e *example) explain(key string) {
	if e.said[key] {
		return
	}
	e.said[key] = true
	s := settingWords()[key]
	e.b.WriteString("\n")
	e.prose(s.What)
	var more []string
	if s.Required {
		more = append(more, "Required.")
	}
	if len(s.Values) > 1 {
		more = append(more, "One of "+orList(s.Values)+".")
	}
	if s.Default != "" {
		more = append(more, "Default: "+s.Default)
	}
	if len(more) > 0 {
		e.prose(strings.Join(more, " "))
	}
}

// quotedKey quotes a name whose dot would otherwise make a table.
func quotedKey(name string) string {
	if strings.Contains(name, ".") {
		return fmt.Sprintf("%q", name)
	}
	return name
}

// literal is a value as TOML.
func literal(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Bool, reflect.Int:
		return fmt.Sprint(v.Interface())
	case reflect.Slice:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, literal(v.Index(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprintf("%q", v.String())
}
