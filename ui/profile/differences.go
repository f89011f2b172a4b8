package profile

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"coffer/api/network"
	"coffer/api/text"
)

// maxLines bounds the lines of differences: those that matter most must not scroll away.
const maxLines = 48

// differences are the lines of what an operator replaced in a network, under the names of network.json.
func differences(was, now network.Descriptor) (lines []string) {
	old, before := facts(was)
	names, after := facts(now)
	for _, name := range append(names, old...) {
		if before[name] == after[name] {
			continue
		}
		lines = append(lines, fmt.Sprintf("  %-18s  %s", name, text.Clean(after[name], 1000)))
		if v := before[name]; v != "" {
			lines = append(lines, fmt.Sprintf("  %18s  instead of %s", "", text.Clean(v, 1000)))
		}
		delete(before, name) // told
		delete(after, name)
	}
	if more := len(lines) - maxLines; more > 0 {
		lines = append(lines[:maxLines], fmt.Sprintf("  and %d more lines: read network.json", more))
	}
	return lines
}

// facts are everything in a network that its id does not cover, and its chains. What decides where money goes comes
// first, contracts that are not in use any more come last.
func facts(n network.Descriptor) (names []string, values map[string]string) {
	values = map[string]string{}
	if n.ID == "" {
		return nil, values
	}
	add := func(name string, v any) {
		if at, ok := v.(reflect.Value); ok && name == "From" {
			v = time.Unix(at.Int(), 0).UTC().Format(time.DateTime + " UTC")
		}
		if values[name] == "" { // the escrow is pinned, too
			names, values[name] = append(names, name), fmt.Sprint(v)
		}
	}
	fields := func(of any) {
		v := reflect.ValueOf(of)
		for i := range v.NumField() {
			add(v.Type().Field(i).Name, v.Field(i))
		}
	}
	newest := slices.Clone(n.Deployments)
	slices.Reverse(newest)
	if len(newest) > 0 {
		fields(newest[0])
		newest = newest[1:]
	}
	fields(n.Pins)
	for i, f := range n.Formulas {
		add(fmt.Sprint("Formula ", i+1), f)
	}
	add("Chains", strings.Join(n.Chains, " "))
	for _, c := range n.Added {
		add(c, n.Genesis[c])
	}
	for i, d := range newest {
		add(fmt.Sprint("Before ", i+1), d)
	}
	return names, values
}
